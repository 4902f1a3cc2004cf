"""Words of the Probes screen: facts, a job's state, a record in full, and checks of what was typed."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from textual.content import Content

from planner.domain.figures import Figure, Speed
from planner.domain.library import Library
from planner.domain.probe import ProbeRecord
from planner.report.format import MARKS, short
from planner.tui import fmt, safe
from planner.tui.jobs import Job

EMPTY = (
    "Nothing was measured here yet. Press d to measure a model file on this machine, or p to measure an endpoint.\n"
    "A measurement replaces estimates: the plan then shows ● measured and ◐ calibrated speeds."
)


def machine(library: Library, support: Any, width: int) -> Content:
    """Return what is known about this machine and whether models can run on it."""
    local = library.hardware.get("local")
    name = safe.line(local.name, max(width - 24, 20)) if local else "this machine"
    facts = []
    if local is not None:
        facts.append(f"{short(local.memory_gb)} GiB memory" if local.memory_gb else "memory not known")
        bandwidth = local.memory_bandwidth_gb_s
        facts.append(f"{short(bandwidth)} GB/s measured" if bandwidth else "bandwidth not measured yet")
        facts.append(safe.line(local.notes, 40))
    ready = "✓ device support ready" if support.available else f"✗ no device support: {safe.line(support.advice, 120)}"
    return Content.assemble(
        (name, "bold $primary"), "\n", (" · ".join(fact for fact in facts if fact), "$muted"), "\n",
        (ready, "$yes" if support.available else "$no"),
    )  # fmt: skip


def job(state: Job) -> Content:
    """Return one line about a job: what, how far, how long still."""
    if not state.running:
        style = "$yes" if state.outcome.startswith("✓") else "$no"
        return Content.assemble((f"{state.outcome} ", f"bold {style}"), safe.line(state.title))
    parts = [safe.line(state.title), safe.line(state.stage)]
    if state.fraction is not None:
        parts.append(f"{state.fraction:.0%}")
    if state.remaining_s is not None:
        parts.append(f"about {_duration(state.remaining_s)} left")
    return safe.content("▶ " + " · ".join(part for part in parts if part), "bold $primary")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def short_speed(speed: Figure) -> str:
    """Return a speed with the mark of its basis."""
    return f"{fmt.plain(speed)} {MARKS[speed.basis]}"


def record(item: ProbeRecord) -> str:
    """Return a record in full: identity, environment, every figure with its axes, errors."""
    head = [
        f"{item.kind} probe, {item.status} (ended by {item.ended_by})",
        f"from {item.started_at} to {item.finished_at}, planner {item.tool_version}",
        f"on       {item.hardware}",
        f"model    {item.model.id} {item.model.quant or ''} ({item.model.weights} weights)",
        f"file     {item.model.file or '—'}",
        f"hash     {item.model.hash or '—'}",
        f"engine   {item.engine.name} {item.engine.build or ''}",
        f"samples  {len(item.samples)} kept",
    ]
    figures = [_figure(figure) for figure in item.figures] or ["none"]
    blocks = [("", head), ("Figures", figures), ("Errors", list(item.errors)), ("Settings", _values(item.settings)),
              ("Environment", _values(item.environment))]  # fmt: skip
    return "\n\n".join("\n".join([title, *lines] if title else lines) for title, lines in blocks if lines)


def _figure(figure: Figure) -> str:
    if not isinstance(figure, Speed):
        return f"  {fmt.full(figure)}"
    axes = figure.axes
    where = [f"context {axes.context_tokens}", f"{axes.concurrency} at once"]
    if axes.prompt_tokens is not None:
        where.insert(0, f"prompt {axes.prompt_tokens}")
    return f"  {figure.kind:<20}{fmt.full(figure)}   {', '.join(where)}"


def _values(table: dict[str, Any]) -> list[str]:
    out = []
    for key, value in table.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        out.append(f"  {key:<18}{safe.line(text, 500)}")
    return out


def check_file(text: str) -> str:
    """Return a complaint about a model file, or nothing."""
    path = Path(text).expanduser()
    try:
        if not text or not path.is_file():
            return f"There is no file {text!r}." if text else "A model file is needed."
    except (OSError, ValueError):
        return "This is not a file name."
    return "" if path.suffix.lower() == ".gguf" else "The file should be a GGUF model (*.gguf)."


def check_number(text: str) -> str:
    """Return a complaint about a positive number, or nothing."""
    try:
        return "" if not text or float(text) > 0 else "A number above 0 is needed."
    except ValueError:
        return "A number is needed."


def check_steps(text: str) -> str:
    """Return a complaint about a list of counts such as `1,4`, or nothing."""
    steps = [part.strip() for part in text.split(",")] if text else []
    return "" if all(step.isdigit() and int(step) > 0 for step in steps) else "Counts such as 1,4 are needed."


def check_url(text: str) -> str:
    """Return a complaint about a base URL, or nothing."""
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    return "" if good else "A URL such as http://localhost:8000/v1 is needed."


def check_needed(text: str) -> str:
    """Return a complaint about an empty line, or nothing."""
    return "" if text else "This line must be filled in."


def is_own(url: str) -> bool:
    """Say whether an address is this machine or a private network, where nobody charges for tokens."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".local"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_private
