"""The answer: options, break-even points, verdict. One frozen value that every view formats and none recomputes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from planner.domain.base import Frozen
from planner.domain.figures import Basis, Figure, Speed
from planner.domain.prices import FxRate
from planner.domain.workload import Workload

Path = Literal["api", "managed", "rented", "owned", "mixed"]
Feasible = Literal["yes", "no", "unverified"]
PATHS: tuple[Path, ...] = ("api", "managed", "rented", "owned", "mixed")


class OptionBasis(Frozen):
    """The weakest basis on each of the three scales behind an option."""

    speed: Basis
    money: Basis
    demand: Basis


class MemoryFigures(Frozen):
    """Memory of one slot on its machine, GiB over all devices together."""

    weights: Figure
    kv: Figure
    overhead: Figure
    available: Figure


class Slot(Frozen):
    """How one part of the mix is served."""

    mix: str
    share: float
    model: str
    same_weights: bool
    served_by: Path
    provider: str | None = None
    hardware: str | None = None
    count: int | None = None
    """Devices of one machine."""
    machines: int | None = None
    """Machines for today's peak hour."""
    engine: str | None = None
    quant: str | None = None
    kv_quant: str | None = None
    decode_tok_s_per_request: Speed
    prefill_tok_s: Speed
    ttft_s: Figure
    task_s: Figure
    """Wall time of a whole task: all turns and tools."""
    max_concurrency: Figure
    utilisation: Figure
    memory_gib: MemoryFigures | None = None


class UsdPerMtok(Frozen):
    """Cost of a million tokens; for machines split between input and output by the time each takes."""

    blended: Figure
    input: Figure
    output: Figure


class BatchResult(Frozen):
    """What a batch job takes on an option."""

    name: str
    tokens_per_hour: Figure
    finish_hours: Figure
    meets_deadline: bool | None
    """None where no speed is known."""
    usd: Figure
    """Per run."""


class CashRow(Frozen):
    """One named line of the cash flow; costs are positive US dollars, income (resale) negative."""

    name: str
    values: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None


class CashFlow(Frozen):
    """Named rows by month, month 0 = up front; the total is their sum."""

    months: tuple[int, ...]
    rows: tuple[CashRow, ...]
    total: tuple[float, ...]


class Option(Frozen):
    """One way to do the whole workload."""

    id: str
    path: Path
    name: str
    feasible: Feasible
    reasons: tuple[str, ...] = ()
    """Why it is not feasible or not verified; warnings of a feasible one."""
    priced: bool = True
    basis: OptionBasis
    slots: tuple[Slot, ...]
    usd_upfront: Figure
    usd_per_month: Figure
    """First full month: what is paid that month plus nothing of what was paid up front."""
    usd_per_month_all_in: Figure
    """Levelised: up-front money spread over the horizon, resale taken off."""
    usd_per_mtok: UsdPerMtok
    usd_per_task: Figure
    usd_per_accepted_task: Figure
    batch: tuple[BatchResult, ...] = ()
    cash_flow: CashFlow | None = None
    usd_npv: Figure
    irr: Figure
    """Of choosing this option over the cheapest API or managed option: yearly."""
    payback_months: Figure
    usd_levelised_per_mtok: Figure
    p_wins: Figure
    kwh_per_mtok: Figure
    gco2e_per_mtok: Figure


class Crossing(Frozen):
    """A volume at which the cheaper option changes."""

    value: float
    low: float | None = None
    high: float | None = None
    winner_above: str
    """Id of the option that is cheaper above this volume, until the next crossing."""


class BreakEvenPoint(Frozen):
    """One axis of a break-even."""

    status: Literal["reached", "not_reached", "never"]
    reason: str
    searched: tuple[float, float] | None = None
    value: Figure | None = None
    low: float | None = None
    high: float | None = None
    crossings: tuple[Crossing, ...] | None = None
    p10: float | None = None
    p50: float | None = None
    p90: float | None = None


class BreakEven(Frozen):
    """When one option overtakes another."""

    from_: str = Field(alias="from", serialization_alias="from")
    to: str
    month: BreakEvenPoint
    month_discounted: BreakEvenPoint
    tokens_per_month: BreakEvenPoint
    utilisation: BreakEvenPoint
    users: BreakEvenPoint
    hours_per_day: BreakEvenPoint
    api_price: BreakEvenPoint


class Curve(Frozen):
    """A line of a chart: the same numbers as the break-even, sampled."""

    option: str
    x: tuple[float, ...]
    y: tuple[float, ...]


class TokensPerMonth(Frozen):
    """Tokens of a month; `input` holds all prompt tokens, of which `cached_input` may be read from a cache."""

    input: Figure
    cached_input: Figure
    output: Figure


class DemandSummary(Frozen):
    """The work of the first month."""

    requests_per_month: Figure
    model_calls_per_month: Figure
    tokens_per_month: TokensPerMonth
    peak_requests_per_second: Figure
    """Model calls a second in the busiest hour."""


class Verdict(Frozen):
    """The answer in one sentence."""

    text: str
    recommended_option: str | None
    path: Path | None
    flips_at: Figure
    """Tokens a month at which the answer changes."""


class Advice(Frozen):
    """One thing to do or to know, with the reason."""

    id: str
    text: str


class Explanation(Frozen):
    """How a figure came about."""

    key: str
    formula: str
    inputs: tuple[tuple[str, str], ...]
    """(name, value with unit and source) pairs."""
    result: str
    source: str
    change_with: tuple[str, ...] = ()
    """`--set` keys that move this figure."""


class Plan(Frozen):
    """The whole answer to a workload."""

    schema_: Literal["planner.plan/1"] = Field(default="planner.plan/1", alias="schema")
    as_of: str
    currency: str
    fx: FxRate | None = None
    workload: Workload
    demand: DemandSummary
    options: tuple[Option, ...]
    """Best first: feasible by cost, then unverified by cost, then the rest with the reason."""
    break_even: tuple[BreakEven, ...]
    curves_by_month: tuple[Curve, ...] = ()
    """Cumulative US dollars by month for the best option of each path."""
    curves_by_volume: tuple[Curve, ...] = ()
    """US dollars a month by tokens a month for the best option of each path."""
    advice: tuple[Advice, ...]
    verdict: Verdict
    warnings: tuple[str, ...]
    explanations: tuple[Explanation, ...] = ()
    considered: int = 0
    """Combinations evaluated, of which `options` holds the useful ones."""

    def option(self, option_id: str) -> Option | None:
        """Return an option by id."""
        return next((option for option in self.options if option.id == option_id), None)

    def best(self, path: Path) -> Option | None:
        """Return the cheapest priced option of a path that is not ruled out; one with the named weights goes first."""
        fits = [o for o in self.options if o.path == path and o.feasible != "no" and o.priced]
        same = [option for option in fits if all(slot.same_weights for slot in option.slots)]
        return next(iter(same or fits), None)
