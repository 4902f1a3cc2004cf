"""Probes: this machine, the probe that runs now, and the history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Button, DataTable, ProgressBar, Static

from planner.domain.errors import PlannerError
from planner.domain.figures import Figure, Speed
from planner.domain.plan import Plan
from planner.domain.probe import ProbeRecord
from planner.tui import probe_texts, safe
from planner.tui.actions import bindings_for
from planner.tui.screens.base import PlanScreen
from planner.tui.screens.dialogs import Ask, Blank, Confirm, TextDialog
from planner.tui.widgets.table import ROW_LIMIT, Column, KeyTable, Row

COLUMNS: tuple[Column, ...] = (
    Column("when", "When", 16),
    Column("kind", "Kind", 8, 2),
    Column("hardware", "On", 16, 3),
    Column("model", "Model", 0),
    Column("engine", "Engine", 16, 4),
    Column("decode", "decode tok/s", 12, 0, "right"),
    Column("prefill", "prefill tok/s", 13, 1, "right"),
    Column("status", "Status", 11),
)


class ProbesScreen(PlanScreen):
    """Runs one probe at a time in a child process; the history is what the store holds."""

    PLACE = "probes"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("probes")]
    HELP = (
        "d measures a GGUF model file on this machine, p an OpenAI-compatible endpoint (it asks before it spends"
        " money), x cancels, Enter opens a record with all its figures. Each finished probe improves the plan."
    )

    def __init__(self) -> None:
        super().__init__()
        self.records: tuple[ProbeRecord, ...] = ()
        self._read_for: Any = None

    def body(self) -> Iterator[Widget]:
        """Yield facts, buttons, the running job and the history."""
        yield Static("", id="machine")
        with Horizontal(id="probe-buttons"):
            yield Button("Measure this machine (d)", id="do-device", compact=True, variant="primary")
            yield Button("Measure an endpoint (p)", id="do-endpoint", compact=True)
            yield Button("Build device support (b)", id="do-build", compact=True)
            yield Button("Cancel (x)", id="do-cancel", compact=True, variant="warning")
        with Vertical(id="job"):
            yield Static("", id="job-state")
            yield ProgressBar(total=1.0, show_eta=False, id="job-bar")
            with VerticalScroll(id="job-log-scroll", can_focus=False):
                yield Static("", id="job-log")
        yield KeyTable(COLUMNS, id="history")
        yield Static("", id="history-empty")
        with VerticalScroll(id="probe-detail", can_focus=False):
            yield Static("", id="probe-detail-text")

    def on_mount(self) -> None:
        """Start in the history."""
        self.query_one(KeyTable).focus()

    def show(self, plan: Plan) -> None:
        """Read the history again: a new plan may follow a new probe."""

    def refresh_state(self) -> None:
        """Show the running job, the facts and the history."""
        app = self.planner
        self._show_job()
        if app.library is not None and app.library is not self._read_for:
            self._read_for = app.library
            self.records = tuple(app.library.probes)
            support = app.store.device_support()
            self.query_one("#machine", Static).update(probe_texts.machine(app.library, support, self.app.size.width))
            self.query_one("#do-build").display = not support.available
            self._show_history()

    def _show_history(self) -> None:
        table = self.query_one(KeyTable)
        table.fill([Row(record.id, _cells(record)) for record in self.records[:ROW_LIMIT]])
        table.display = self.query_one("#probe-detail").display = bool(self.records)
        empty = self.query_one("#history-empty", Static)
        empty.display = not self.records
        empty.update(safe.content(probe_texts.EMPTY, "$muted"))

    def _show_job(self) -> None:
        job = self.planner.jobs.job
        self.query_one("#job").display = job is not None
        self.query_one("#do-cancel").display = job is not None and job.running
        if job is None:
            return
        self.query_one("#job-state", Static).update(probe_texts.job(job))
        bar = self.query_one("#job-bar", ProgressBar)
        bar.display = job.running
        bar.update(total=1.0 if job.fraction is not None else None, progress=job.fraction or 0)
        scroll = self.query_one("#job-log-scroll", VerticalScroll)
        self.query_one("#job-log", Static).update(safe.content("\n".join(job.log), "$muted"))
        scroll.scroll_end(animate=False)

    # ── actions ──────────────────────────────────────────────────────────────────────────────────────────────

    @on(Button.Pressed, "#do-device")
    def action_probe_device(self) -> None:
        """Ask for a model file and measure it; without device support, offer to build it first."""
        if not self.planner.store.device_support().available:
            self._offer_build(then_probe=True)
            return
        blanks = [
            Blank("model", "Model file (GGUF)", "", "/path/to/model.gguf", probe_texts.check_file),
            Blank("model_id", "Known as (optional)", "", "id in the profiles, if the file does not say",
                  choices=tuple(sorted(self.planner.library.models)) if self.planner.library else ()),
            Blank("max_seconds", "Seconds at most", "40", "40", probe_texts.check_number),
        ]  # fmt: skip
        self.app.push_screen(Ask("Measure a model on this machine", blanks, "Start"), self._device)

    def _device(self, values: dict[str, str] | None) -> None:
        if values is None:
            return
        args = ["device", "--model", str(Path(values["model"]).expanduser())]
        if values["model_id"]:
            args += ["--model-id", values["model_id"]]
        if values["max_seconds"]:
            args += ["--max-seconds", values["max_seconds"]]
        self._start("probe", f"device probe of {Path(values['model']).name}", args)

    @on(Button.Pressed, "#do-endpoint")
    def action_probe_endpoint(self) -> None:
        """Ask for an address and a model, and measure them."""
        blanks = [
            Blank("url", "Base URL", "", "http://localhost:8000/v1", probe_texts.check_url),
            Blank("model", "Model name", "", "as the server calls it", probe_texts.check_needed),
            Blank("concurrency", "Requests at once", "1,4", "1,4", probe_texts.check_steps),
            Blank("max_usd", "Spend at most (USD)", "0.10", "0.10", probe_texts.check_number),
        ]
        text = "The key is read from OPENAI_API_KEY. The probe sends prompts that no cache knows."
        self.app.push_screen(Ask("Measure an endpoint", blanks, "Start", text), self._endpoint)

    def _endpoint(self, values: dict[str, str] | None) -> None:
        if values is None:
            return
        args = ["endpoint", values["url"], "--model", values["model"], "--concurrency", values["concurrency"] or "1"]
        title = f"endpoint probe of {values['model']}"
        if probe_texts.is_own(values["url"]):
            self._start("probe", title, [*args, "--yes"])
            return
        args += ["--max-usd", values["max_usd"] or "0.10", "--yes"]
        question = (
            f"{values['url']} may charge for the tokens of this probe. It stops before it has spent more than"
            f" {values['max_usd'] or '0.10'} US dollars, as far as prices are known."
        )
        self.app.push_screen(
            Confirm("This may cost money", question, "Measure"), partial(self._confirmed, title=title, args=args)
        )

    def _confirmed(self, agreed: bool | None, title: str, args: Sequence[str]) -> None:
        if agreed:
            self._start("probe", title, args)

    @on(Button.Pressed, "#do-build")
    def action_build(self) -> None:
        """Build the device support."""
        if self.planner.store.device_support().available:
            self.planner.tell("Device support is already there.")
        else:
            self._offer_build(then_probe=False)

    def _offer_build(self, then_probe: bool) -> None:
        support = self.planner.store.device_support()
        if not support.can_build:
            self.app.push_screen(TextDialog("Device support is missing", support.advice, "-error"))
            return
        text = f"Measuring models needs llama-cpp-python. {support.advice} You can go on working meanwhile."
        if then_probe:
            text += " Start the probe again when it is done."
        self.app.push_screen(Confirm("Build the device support?", text, "Build"), self._build)

    def _build(self, agreed: bool | None) -> None:
        if agreed:
            self._begin("build", "building llama-cpp-python", self.planner.store.build_device_support)

    def _start(self, kind: str, title: str, args: Sequence[str]) -> None:
        store = self.planner.store
        self._begin(kind, title, lambda: store.run_probe(list(args)))

    def _begin(self, kind: str, title: str, begin: Any) -> None:
        try:
            self.planner.jobs.start(kind, title, begin)
        except PlannerError as error:
            self.planner.report(error)
        self._show_job()

    @on(Button.Pressed, "#do-cancel")
    def action_cancel(self) -> None:
        """Stop what runs."""
        if self.planner.jobs.running:
            self.planner.jobs.cancel()
        else:
            self.planner.tell("Nothing is running.")

    @on(DataTable.RowHighlighted, "#history")
    def _show_record(self) -> None:
        key = self.query_one(KeyTable).selected
        record = next((item for item in self.records if item.id == key), None)
        text = probe_texts.record(record) if record else ""
        self.query_one("#probe-detail-text", Static).update(safe.content(text))

    @on(DataTable.RowSelected, "#history")
    def _open_record(self, event: DataTable.RowSelected) -> None:
        record = next((item for item in self.records if item.id == event.row_key.value), None)
        if record is not None:
            self.app.push_screen(TextDialog(f"Probe {record.id}", probe_texts.record(record)))


_MARKS = {"complete": "✓", "partial": "~", "failed": "✗", "cancelled": "✗"}


def _cells(record: ProbeRecord) -> tuple[Text, ...]:
    texts = (
        record.finished_at[:16].replace("T", " "),
        record.kind,
        record.hardware,
        record.model.id,
        f"{record.engine.name} {record.engine.build or ''}",
        _best(record.figures, "decode_per_request"),
        _best(record.figures, "prefill"),
        f"{_MARKS[record.status]} {record.status}",
    )
    return tuple(safe.cell(text, "", column.align) for text, column in zip(texts, COLUMNS, strict=True))


def _best(figures: Sequence[Figure], kind: str) -> str:
    """Return the known speed of a kind at the shallowest context: the first one that people compare."""
    found = [f for f in figures if isinstance(f, Speed) and f.kind == kind and f.known]
    found.sort(key=lambda speed: (speed.axes.concurrency, speed.axes.context_tokens, speed.axes.prompt_tokens or 0))
    return probe_texts.short_speed(found[0]) if found else "—"
