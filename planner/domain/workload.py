"""The described work: who asks, how much, how long, with which targets and whose money."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from planner.domain.base import Frozen
from planner.domain.figures import Basis
from planner.domain.hardware import Hardware, Machine
from planner.domain.model import ModelSpec
from planner.domain.prices import ApiPrice, CloudOffer, FxRate, Tariff

UseCase = Literal["chat", "interactive_coding", "agentic_coding", "unattended", "rag", "batch", "voice"]

DEFAULT_TARGETS: dict[str, tuple[float | None, float | None]] = {
    "chat": (20.0, 3.0),
    "interactive_coding": (30.0, 2.0),
    "agentic_coding": (60.0, 3.0),
    "unattended": (None, None),
    "rag": (10.0, 10.0),
    "batch": (None, None),
    "voice": (20.0, 0.3),
}
"""Use case -> (decode tok/s per request, TTFT in s). The speeds are the lower ends of the bands the users asked for
(chat: a person waits, so 20); the TTFTs are defaults of this program except voice, where 300 ms was given."""


class Demand(Frozen):
    """How often people ask. A request is one thing a person asks for; an agent answers it in several model calls."""

    basis: Literal[Basis.STATED, Basis.MEASURED] = Basis.STATED
    users: float = Field(default=1, ge=0, le=1e7)
    hours_per_day: float = Field(default=8, gt=0, le=24)
    days_per_month: float = Field(default=21, gt=0, le=31)
    requests_per_user_hour: float = Field(default=0, ge=0, le=1e6)
    peak_factor: float = Field(default=2, ge=1, le=100)
    """Arrivals in the busiest hour divided by those of the average active hour."""
    monthly_growth: float = Field(default=0, ge=-0.5, le=1)
    """0.03 = three percent more every month."""


class Request(Frozen):
    """The lengths of one model call (of the first one, for an agent)."""

    input_tokens: int = Field(default=1000, ge=1, le=100_000_000)
    output_tokens: int = Field(default=300, ge=1, le=10_000_000)
    """Visible output tokens."""
    reasoning_tokens: int = Field(default=0, ge=0, le=10_000_000)
    """Generated before the answer and billed as output."""
    shared_prefix_tokens: int = Field(default=0, ge=0, le=100_000_000)
    """The part of the input that repeats between requests (system prompt, tool definitions)."""
    cache_hit_rate: float = Field(default=0.9, ge=0, le=1)
    """Share of requests that find the shared prefix in the cache."""

    @model_validator(mode="after")
    def _prefix_is_part_of_input(self) -> Self:
        if self.shared_prefix_tokens > self.input_tokens:
            raise ValueError("shared_prefix_tokens is part of input_tokens and cannot be larger")
        return self

    @property
    def generated_tokens(self) -> int:
        """Return visible and reasoning tokens together."""
        return self.output_tokens + self.reasoning_tokens


class Agent(Frozen):
    """A loop of model calls with tools in between; one turn without tools is plain chat."""

    turns: int = Field(default=1, ge=1, le=1000)
    tools_per_turn: int = Field(default=0, ge=0, le=100)
    seconds_per_tool: float = Field(default=0.3, ge=0, le=86400)
    parallel_tools: bool = False
    tool_result_tokens: int = Field(default=0, ge=0, le=10_000_000)
    """Tokens that the results of one turn's tools add to the context."""


class MixPart(Frozen):
    """A share of the requests and the model that answers them."""

    name: str
    share: float = Field(gt=0, le=1)
    model: str
    """Id of the open-weight model to run."""
    quants: tuple[str, ...] = ()
    """Quantisations to consider; empty = what the engines usually run within `constraints.precision`."""
    stand_ins: tuple[str, ...] = ()
    """API models (`provider/model`) with other weights that could do this work; a different answer quality."""
    request: Request | None = None
    """Lengths of this part where they differ."""


class Batch(Frozen):
    """Work that waits for no person: documents until a deadline."""

    name: str
    documents: int = Field(ge=1, le=10**10)
    """Per run."""
    input_tokens: int = Field(ge=1, le=100_000_000)
    output_tokens: int = Field(ge=1, le=10_000_000)
    shared_prefix_tokens: int = Field(default=0, ge=0)
    deadline_hours: float = Field(gt=0, le=8760)
    runs_per_month: float = Field(default=21, gt=0, le=10_000)
    mix: str | None = None
    """Name of the mix part whose model does it; empty = the first part."""


class Targets(Frozen):
    """What a person waiting needs; an empty value takes the use case's default."""

    ttft_s: float | None = Field(default=None, gt=0)
    decode_tok_s_per_request: float | None = Field(default=None, gt=0)


class Constraints(Frozen):
    """What rules options out."""

    data_may_leave: bool = True
    """False = no third party sees the data: neither API nor managed cloud nor rented machines."""
    rented_allowed: bool = True
    precision: Literal["q4", "q6", "q8", "full"] = "q4"
    """Lowest weight precision that gives correct answers for this work."""
    longest_context_tokens: int | None = Field(default=None, ge=1)
    infrastructure_people: bool = True
    """False adds a warning and the full cost of people's hours to anything self-run."""
    budget_usd: float | None = Field(default=None, ge=0)
    """Most money that may be spent up front."""
    max_devices: int = Field(default=8, ge=1, le=1024)
    """Most devices in one machine."""
    engines: tuple[str, ...] = ()
    """Engines to consider; empty = all that have measurements behind them."""
    hardware: tuple[str, ...] = ()
    """Devices to consider; empty = all with a price."""
    providers: tuple[str, ...] = ()
    """API and cloud providers to consider; empty = all."""


class Money(Frozen):
    """Horizon, rates and the finance person's own numbers; an empty value takes a shipped default range."""

    currency: str = Field(default="USD", pattern="^[A-Z]{3}$")
    fx: FxRate | None = None
    horizon_months: int = Field(default=36, ge=1, le=240)
    discount_rate_per_year: float = Field(default=0.08, ge=0, le=1)
    country: str = "us"
    tariff_kind: Literal["business", "household"] = "business"
    tariff_usd_per_kwh: float | None = Field(default=None, ge=0)
    pue: float | None = Field(default=None, ge=1, le=5)
    residual_fraction: float | None = Field(default=None, ge=0, le=3)
    """Of the hardware price, at the end of the horizon."""
    life_months: int = Field(default=60, ge=1, le=240)
    """Hardware is replaced after this."""
    host_price_usd: float | None = Field(default=None, ge=0)
    maintenance_fraction_per_year: float | None = Field(default=None, ge=0, le=1)
    people_hours_per_month: float | None = Field(default=None, ge=0)
    people_usd_per_hour: float | None = Field(default=None, ge=0)
    install_usd: float | None = Field(default=None, ge=0)
    api_price_change_per_year: float = Field(default=0, gt=-1, le=10)
    """-0.3 = API prices fall by thirty percent a year."""
    cost_scope: Literal["full", "marginal"] = "full"
    """`marginal` = the hardware is already bought: its price is sunk for every option alike."""
    rented_billing: Literal["active_hours", "always_on"] = "active_hours"


class InlineProfiles(Frozen):
    """Profiles written into the workload file itself; they win over shipped and user profiles."""

    hardware: tuple[Hardware, ...] = ()
    machines: tuple[Machine, ...] = ()
    models: tuple[ModelSpec, ...] = ()
    prices: tuple[ApiPrice, ...] = ()
    clouds: tuple[CloudOffer, ...] = ()
    tariffs: tuple[Tariff, ...] = ()


class Workload(Frozen):
    """Everything a plan is made for."""

    schema_: Literal["planner.workload/1"] = Field(default="planner.workload/1", alias="schema")
    name: str = Field(min_length=1, max_length=300)
    title: str = ""
    question: str = ""
    """The question this workload asks, in a sentence."""
    use_case: UseCase = "chat"
    demand: Demand = Demand()
    request: Request = Request()
    agent: Agent = Agent()
    mix: tuple[MixPart, ...] = Field(min_length=1)
    batch: tuple[Batch, ...] = ()
    targets: Targets = Targets()
    constraints: Constraints = Constraints()
    money: Money = Money()
    profiles: InlineProfiles = InlineProfiles()
    source: str = ""
    as_of: str = ""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        total = sum(part.share for part in self.mix)
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the shares of `mix` must add up to 1, not {total:g}")
        names = [part.name for part in self.mix]
        if len(set(names)) != len(names):
            raise ValueError("two parts of `mix` have the same name")
        for job in self.batch:
            if job.mix is not None and job.mix not in names:
                raise ValueError(f"batch {job.name!r} names the unknown mix part {job.mix!r}; known: {names}")
        if self.demand.users * self.demand.requests_per_user_hour == 0 and not self.batch:
            raise ValueError("there is no work: set users and requests_per_user_hour, or a batch")
        return self

    def request_of(self, part: MixPart) -> Request:
        """Return the lengths that hold for a part of the mix."""
        return part.request or self.request

    @property
    def target_decode_tok_s(self) -> float | None:
        """Return the decode speed per request that people need, if anybody waits."""
        default = DEFAULT_TARGETS[self.use_case][0]
        return self.targets.decode_tok_s_per_request or default

    @property
    def target_ttft_s(self) -> float | None:
        """Return the time to first token that people accept, if anybody waits."""
        default = DEFAULT_TARGETS[self.use_case][1]
        return self.targets.ttft_s or default
