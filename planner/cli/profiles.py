"""`planner profiles …`: what is known, from where, and how old it is."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from planner.cli.output import data, say, width
from planner.domain.errors import ExitCode, InputError, nearest

if TYPE_CHECKING:
    from planner.store.profiles import Profile
    from planner.workspace import Workspace

EXAMPLES = """\
planner profiles list hardware
planner profiles list prices --json
planner profiles show rtx-4090
planner profiles show deepinfra/openai/gpt-oss-120b"""
FACTS: dict[str, tuple[str, ...]] = {
    "hardware": ("name", "kind", "memory_gb", "memory_bandwidth_gb_s"),
    "machines": ("hardware", "count", "complete_price_usd"),
    "models": ("params_total_b", "params_active_b", "layers", "native_quant", "max_context"),
    "engines": ("name", "quant_families", "cpu", "continuous_batching"),
    "prices": ("channel", "input_usd_per_mtok", "cached_input_usd_per_mtok", "output_usd_per_mtok", "origin"),
    "clouds": ("hardware", "count", "usd_per_hour", "term"),
    "power": ("country", "business_usd_per_kwh", "household_usd_per_kwh", "grid_gco2e_per_kwh"),
    "assumptions": ("low", "value", "high", "unit"),
    "rate_limits": ("rpm", "tpm_input", "tpm_output", "tpm_combined"),
    "provisioned": ("unit", "minimum_units", "usd_per_unit_hour"),
    "retirements": ("retirement_date", "replacement"),
    "speeds": ("output_tok_per_s", "ttft_s", "metric"),
}
"""Columns of the list, by kind; id and date come by themselves."""
TITLES: dict[str, str] = {
    "memory_gb": "GB",
    "memory_bandwidth_gb_s": "GB/s",
    "complete_price_usd": "complete USD",
    "params_total_b": "B params",
    "params_active_b": "active",
    "native_quant": "native",
    "quant_families": "quantisations",
    "continuous_batching": "batching",
    "input_usd_per_mtok": "input",
    "cached_input_usd_per_mtok": "cached",
    "output_usd_per_mtok": "output",
    "usd_per_hour": "USD/h",
    "business_usd_per_kwh": "business",
    "household_usd_per_kwh": "household",
    "grid_gco2e_per_kwh": "gCO2e/kWh",
}
"""What a column is called, where the name of the field would be too long; units of prices stand in `profiles show`."""


def add_parser(commands: Any) -> None:
    """Add the command with its own commands."""
    parser = commands.add_parser(
        "profiles", help="devices, models, prices and assumptions, with source and date", examples=EXAMPLES,
        description="Everything a plan rests on: shipped profiles with your own laid over them.",
    )  # fmt: skip
    actions = parser.add_subparsers(title="commands", dest="action", metavar="COMMAND", required=True)
    kinds = ", ".join([*FACTS, "workloads"])
    listing = actions.add_parser(
        "list", help="all profiles of a kind", description=f"Kinds: {kinds}.",
        examples="planner profiles list models\nplanner profiles list clouds --json",
    )  # fmt: skip
    listing.add_argument("kind", metavar="KIND", help=kinds)
    listing.add_argument("--json", action="store_true", help="the whole profiles as JSON")
    listing.set_defaults(run=_list)
    show = actions.add_parser(
        "show", help="one profile in full", description="Shows a profile by id, name or alias, with its file.",
        examples="planner profiles show rtx-4090\nplanner profiles show gemma-3-27b --json",
    )  # fmt: skip
    show.add_argument("id", metavar="ID", help="id, name or alias")
    show.add_argument("--json", action="store_true", help="as JSON")
    show.set_defaults(run=_show)


def _list(arguments: argparse.Namespace) -> int:
    from planner.report import json
    from planner.store.kinds import find_kind
    from planner.workspace import Workspace

    workspace = Workspace()
    if arguments.kind.casefold() in {"workload", "workloads"}:
        return _workloads(workspace, arguments.json)
    kind = find_kind(arguments.kind).name
    found = [profile for profile in known(workspace) if profile.kind == kind]
    if arguments.json:
        data(json.dumps([_document(profile) for profile in found]))
    else:
        data(_table({profile.id: profile.value for profile in found}, FACTS[kind]))
        say(f"{len(found)} {kind}; `planner profiles show ID` shows one in full")
    return ExitCode.OK


def known(workspace: Workspace) -> list[Profile]:
    """Return all profiles, and this machine."""
    from planner.store.profiles import Profile

    found = list(workspace.profiles())
    here = workspace.library().hardware.get("local")
    if here is not None and not any(item.kind == "hardware" and item.id == "local" for item in found):
        found.append(Profile("hardware", "local", here, "this machine"))
    return found


def _document(profile: Profile) -> dict[str, Any]:
    from planner.report import json

    label = {"profile": profile.kind, "key": profile.id, "from": profile.origin, "file": profile.path or None}
    return {**label, "overridden": list(profile.overridden), **json.document(profile.value)}


def _workloads(workspace: Workspace, as_json: bool) -> int:
    from planner.report import json
    from planner.report.layout import grid_lines
    from planner.report.safe import clean

    names = workspace.workload_names()
    found = [(name, workspace.load_workload(name)) for name in names]
    if as_json:
        data(json.dumps([{"id": name, "title": item.title, "question": item.question} for name, item in found]))
    else:
        rows = [[name, clean(item.question or item.title)] for name, item in found]
        data("\n".join(grid_lines(["Name", "Question"], rows, "<<", width())) + "\n")
    return ExitCode.OK


def _table(found: Mapping[str, BaseModel], facts: Sequence[str]) -> str:
    from planner.report.layout import INDENT, grid_lines, indented
    from planner.report.safe import width as columns_of

    head = [*(TITLES.get(name, name.replace("_", " ")) for name in facts), "as of"]
    rows = [[*(_cell(getattr(item, name)) for name in (*facts, "as_of"))] for item in found.values()]
    aligns = "".join(_align(found, name) for name in facts) + "<"
    if max(map(columns_of, found), default=0) <= width() // 2:
        table = [[key, *row] for key, row in zip(found, rows, strict=True)]
        return "\n".join(grid_lines(["id", *head], table, "=" + aligns, width())) + "\n"
    # Ids are typed again and never cut: long ones get a line of their own.
    titles, rule, *lines = indented(grid_lines(head, rows, aligns, width() - len(INDENT)))
    blocks = (f"{key}\n{line}" for key, line in zip(found, lines, strict=True))
    return "\n".join(["id", titles, rule, *blocks]) + "\n"


def _align(found: Mapping[str, BaseModel], name: str) -> str:
    values = [value for value in (getattr(item, name) for item in found.values()) if value is not None]
    return ">" if values and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values) else "<"


def _cell(value: Any) -> str:
    from planner.report.format import number
    from planner.report.safe import clean

    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value, 6)
    return clean(", ".join(map(str, value)) if isinstance(value, tuple) else value, 40)


def _show(arguments: argparse.Namespace) -> int:
    from planner.report import json
    from planner.workspace import Workspace

    workspace = Workspace()
    everything = known(workspace)
    ids = _ids(workspace, arguments.id)
    found = [profile for profile in everything if profile.id in ids.get(profile.kind, {arguments.id})]
    if not found:
        hint = nearest(arguments.id, (profile.id for profile in everything))
        raise InputError(
            f"No profile is called {arguments.id!r}.", hint or "`planner profiles list KIND` shows all of a kind."
        )
    if arguments.json:
        documents = [_document(profile) for profile in found]
        data(json.dumps(documents[0] if len(documents) == 1 else documents))
    else:
        data("\n".join(_full(profile) for profile in found))
    return ExitCode.OK


def _ids(workspace: Workspace, name: str) -> dict[str, set[str]]:
    """Return by kind the ids that a name may mean, itself included."""
    from planner.domain.quant import fold

    out = {}
    for kind, table in (("hardware", "hardware"), ("models", "model"), ("engines", "engine")):
        alias = workspace.library().aliases.get(table, {}).get(fold(name))
        out[kind] = {name, alias} if alias else {name}
    return out


def _full(profile: Profile) -> str:
    from planner.report.layout import wrap
    from planner.report.safe import clean

    lines = [f"{profile.kind}: {clean(profile.id)} ({profile.origin})"]
    for name, value in profile.value.model_dump(mode="json", by_alias=True).items():
        if value in (None, "", [], {}):
            continue
        mark = "*" if name in profile.overridden else " "
        for label, text in _flat(name, value):
            lines += wrap(text, width(), f" {mark}{label:<28} ")
    lines += [f"  {'file':<28} {clean(profile.path)}"] if profile.path else []
    lines += ["  * your own value"] if profile.overridden else []
    return "\n".join(lines) + "\n"


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        for index, part in enumerate(value):
            facts = ", ".join(f"{key} {inner}" for key, inner in part.items() if inner not in (None, "", [], {}))
            yield (name if index == 0 else ""), facts
    elif isinstance(value, dict):
        yield name, ", ".join(f"{key} {inner}" for key, inner in value.items() if inner not in (None, "", []))
    else:
        yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)
