"""The columns of an option and of a slot, declared once for text, CSV, Markdown and the screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from planner.domain.figures import Figure
from planner.domain.plan import BatchResult, Option, Slot
from planner.report.format import Currency, Footnotes, big, number, percent, short
from planner.report.safe import clean

Row = TypeVar("Row")
Value = Figure | str | float | int | bool | None
Kind = Literal["text", "money", "number", "time", "tokens", "percent", "bool"]

PATH_NAMES: dict[str, str] = {
    "api": "API",
    "managed": "managed",
    "rented": "rented",
    "owned": "owned",
    "mixed": "mixed",
}
FITS: dict[str, str] = {"yes": "yes", "no": "no", "unverified": "unverified"}


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column: what it shows, how wide it wants to be, and how soon it may be left out."""

    id: str
    title: str
    get: Callable[[Row], Value]
    width: int
    priority: int = 1
    """1 is always shown; higher numbers are left out first when room is short."""
    kind: Kind = "text"
    unit: str = ""
    help: str = ""

    @property
    def align(self) -> str:
        """Return `>` for numbers and `<` for words."""
        return "<" if self.kind in {"text", "bool"} else ">"

    def show(self, row: Row, currency: Currency, notes: Footnotes) -> str:
        """Return the cell as text for people; unknowns get a dash and a footnote."""
        return show(self.get(row), self.kind, currency, notes)

    def sort_key(self, row: Row) -> tuple[int, float, str]:
        """Return a key that sorts numbers by size, words by letter and unknowns last."""
        value = self.get(row)
        value = value.value if isinstance(value, Figure) else value
        if value is None:
            return (1, 0.0, "")
        return (0, 0.0, value.casefold()) if isinstance(value, str) else (0, float(value), "")


def show(value: Value, kind: Kind, currency: Currency, notes: Footnotes) -> str:
    """Return one value as text for people."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Figure):
        return _figure(value, kind, currency, notes)
    if kind == "money":
        return currency.money(value)
    return percent(value) if kind == "percent" else number(value)


def _figure(figure: Figure, kind: Kind, currency: Currency, notes: Footnotes) -> str:
    if kind == "money":
        return notes.money(figure, currency)
    if figure.value is None:
        return notes.figure(figure)
    texts: dict[str, Callable[[float], str]] = {"tokens": big, "percent": percent, "time": short}
    return notes.figure(figure, texts.get(kind, number)(figure.value))


def slot_place(slot: Slot, with_engine: bool = True) -> str:
    """Return what serves a slot: the provider, or machines × devices with engine and quantisation."""
    if slot.hardware is None:
        return slot.provider or slot.served_by
    devices = f"{slot.count or 1}× {slot.hardware}"
    if (slot.machines or 1) > 1:
        devices = f"{slot.machines}× ({devices})"
    engine = slot.engine if with_engine else None
    return " ".join(part for part in (devices, engine, slot.quant) if part)


OPTION_COLUMNS: tuple[Column[Option], ...] = (
    Column("path", "Path", lambda o: PATH_NAMES[o.path], 7),
    Column("name", "Option", lambda o: o.name, 34),
    Column("feasible", "Feasible", lambda o: FITS[o.feasible], 10),
    Column("usd_per_month_all_in", "All-in a month", lambda o: o.usd_per_month_all_in, 14, kind="money",
           unit="USD/month", help="Up-front money spread over the horizon, resale taken off."),
    Column("usd_per_month", "Running a month", lambda o: o.usd_per_month, 15, 3, "money", "USD/month",
           "What the first full month costs, without what was paid up front."),
    Column("usd_upfront", "Up front", lambda o: o.usd_upfront, 12, kind="money", unit="USD"),
    Column("usd_per_mtok", "per Mtok", lambda o: o.usd_per_mtok.blended, 10, 2, "money", "USD/Mtok",
           "Per million tokens, input and output as they occur in this workload."),
    Column("usd_per_mtok_input", "per Mtok in", lambda o: o.usd_per_mtok.input, 11, 5, "money",
           "USD/Mtok"),
    Column("usd_per_mtok_output", "per Mtok out", lambda o: o.usd_per_mtok.output, 12, 5, "money",
           "USD/Mtok"),
    Column("usd_per_task", "per task", lambda o: o.usd_per_task, 10, 3, "money", "USD/task"),
    Column("usd_per_accepted_task", "per good task", lambda o: o.usd_per_accepted_task, 13, 6, "money",
           "USD/task"),
    Column("usd_npv", "NPV", lambda o: o.usd_npv, 12, 4, "money", "USD",
           "Present value of all costs over the horizon."),
    Column("irr", "IRR", lambda o: o.irr, 9, 5, "percent", "1/year"),
    Column("payback_months", "Payback", lambda o: o.payback_months, 10, 4, "number", "months"),
    Column("usd_levelised_per_mtok", "Levelised", lambda o: o.usd_levelised_per_mtok, 11, 5, "money",
           "USD/Mtok"),
    Column("p_wins", "P(best)", lambda o: o.p_wins, 9, 5, "percent"),
    Column("kwh_per_mtok", "kWh/Mtok", lambda o: o.kwh_per_mtok, 10, 6, "number", "kWh/Mtok"),
    Column("gco2e_per_mtok", "gCO2e/Mtok", lambda o: o.gco2e_per_mtok, 11, 6, "number", "gCO2e/Mtok"),
)  # fmt: skip
"""Every figure of an option, most wanted first."""

SLOT_COLUMNS: tuple[Column[Slot], ...] = (
    Column("mix", "Part", lambda s: s.mix, 12, 4),
    Column("share", "Share", lambda s: s.share, 6, 3, "percent"),
    Column("model", "Model", lambda s: s.model, 14),
    Column("same_weights", "Same weights", lambda s: s.same_weights, 12, 5, "bool"),
    Column("served_by", "Served by", lambda s: PATH_NAMES[s.served_by], 9, 5),
    Column("place", "On", slot_place, 26),
    Column("decode_tok_s_per_request", "tok/s per request", lambda s: s.decode_tok_s_per_request, 18,
           kind="number", unit="tok/s", help="1/TPOT of one request at the peak hour's concurrency."),
    Column("prefill_tok_s", "Prefill tok/s", lambda s: s.prefill_tok_s, 13, 4, "number", "tok/s"),
    Column("ttft_s", "TTFT s", lambda s: s.ttft_s, 8, 1, "time", "s",
           "Request sent to first output token."),
    Column("task_s", "Task s", lambda s: s.task_s, 8, 2, "time", "s", "All turns and tools of one task."),
    Column("max_concurrency", "At once", lambda s: s.max_concurrency, 9, 5, "number", "requests"),
    Column("utilisation", "Busy", lambda s: s.utilisation, 8, 3, "percent"),
)  # fmt: skip
"""Every figure of one part of the mix on one option."""

BATCH_COLUMNS: tuple[Column[BatchResult], ...] = (
    Column("name", "Job", lambda b: b.name, 18),
    Column("tokens_per_hour", "Tokens/hour", lambda b: b.tokens_per_hour, 13, 1, "tokens", "tokens/h"),
    Column("finish_hours", "Hours", lambda b: b.finish_hours, 9, 1, "time", "h"),
    Column("meets_deadline", "In time", lambda b: b.meets_deadline, 8, 1, "bool"),
    Column("usd", "Cost a run", lambda b: b.usd, 11, 1, "money", "USD"),
)


def pick(columns: Sequence[Column[Row]], *ids: str) -> tuple[Column[Row], ...]:
    """Return the columns with these ids, in this order; raises KeyError for an unknown id."""
    by_id = {column.id: column for column in columns}
    return tuple(by_id[name] for name in ids)


def fitting(columns: Sequence[Column[Row]], room: int, gap: int = 1) -> tuple[Column[Row], ...]:
    """Return the columns that fit into `room`, leaving out the highest priority numbers first."""
    kept = list(columns)
    while len(kept) > 1 and sum(c.width + gap for c in kept) - gap > room:
        worst = max(c.priority for c in kept)
        if worst == 1:
            break
        kept.remove(next(c for c in reversed(kept) if c.priority == worst))
    return tuple(kept)
