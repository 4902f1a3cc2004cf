"""Prices of tokens, GPU hours and electricity, each with its conditions and date."""

from __future__ import annotations

from typing import Literal

from planner.domain.base import Frozen


class TokenRates(Frozen):
    """US dollars per million tokens of each kind; a missing rate is unknown, never free."""

    input_usd_per_mtok: float | None = None
    cached_input_usd_per_mtok: float | None = None
    cache_write_usd_per_mtok: float | None = None
    cache_write_1h_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None


class TierRates(TokenRates):
    """Rates of a whole request whose input is longer than the threshold (a cliff, not a slope)."""

    above_input_tokens: int


class ConditionalRates(TokenRates):
    """Rates that hold under a condition: from a date, or within hours of the day (UTC)."""

    start_date: str | None = None
    end_date: str | None = None
    start_time_utc: str | None = None
    end_time_utc: str | None = None
    tiers: tuple[TierRates, ...] = ()
    batch: TokenRates | None = None


class ApiPrice(TokenRates):
    """What one provider asks for one model."""

    provider: str
    channel: Literal["api", "managed"]
    """`managed` = a cloud's own service (Bedrock, Vertex, Azure)."""
    model: str
    name: str = ""
    region: str | None = None
    tiers: tuple[TierRates, ...] = ()
    batch: TokenRates | None = None
    """The vendor's own batch rates; not always half."""
    batch_window_hours: float | None = None
    conditional: tuple[ConditionalRates, ...] = ()
    """Dated or timed rates; the last matching one wins over the rates above."""
    max_context: int | None = None
    retirement_date: str | None = None
    notes: str = ""
    weak: bool = False
    origin: Literal["genai-prices", "overlay", "user", "workload"] = "overlay"
    source: str
    as_of: str

    @property
    def key(self) -> str:
        """Return `provider/model`, with the region where there is one."""
        return f"{self.provider}/{self.model}" + (f"@{self.region}" if self.region else "")


class RateLimit(Frozen):
    """Requests and tokens a minute that a provider grants a tier."""

    provider: str
    model: str
    tier: str
    rpm: float | None = None
    tpm_input: float | None = None
    tpm_output: float | None = None
    tpm_combined: float | None = None
    batch_queue_limit: float | None = None
    batch_queue_unit: str = ""
    batch_window_hours: float | None = None
    notes: str = ""
    source: str
    as_of: str


class ProvisionedUnit(Frozen):
    """A unit of provisioned throughput of a managed service."""

    vendor: str
    model: str
    unit: str
    tokens_per_minute_per_unit_input: float | None = None
    tokens_per_minute_per_unit_output: float | None = None
    burndown_output_to_input: float | None = None
    minimum_units: float | None = None
    increment: float | None = None
    usd_per_unit_hour: float | None = None
    term: str = ""
    notes: str = ""
    source: str
    as_of: str


class Retirement(Frozen):
    """The announced end of a hosted model."""

    provider: str
    channel: str
    model: str
    matched_id: str = ""
    retirement_date: str
    status: str = ""
    replacement: str = ""
    notes: str = ""
    source: str
    as_of: str


class PublishedSpeed(Frozen):
    """A hosted model's speed as somebody published it."""

    provider: str
    model: str
    output_tok_per_s: float | None = None
    ttft_s: float | None = None
    prompt_tokens: float | None = None
    metric: str = ""
    notes: str = ""
    source: str
    as_of: str


class CloudOffer(Frozen):
    """An instance rented by the hour."""

    provider: str
    instance: str
    gpu: str
    """As the source writes it."""
    hardware: str | None = None
    """The device id it resolves to, if any."""
    count: int
    vcpus: float | None = None
    ram_gb: float | None = None
    usd_per_hour: float
    """Of the whole instance."""
    usd_per_gpu_hour: float | None = None
    price_type: str
    term: Literal["on-demand", "spot", "committed", "other"]
    region: str | None = None
    notes: str = ""
    weak: bool = False
    source: str
    as_of: str

    @property
    def key(self) -> str:
        """Return a stable id for this offer."""
        return "/".join(part for part in (self.provider, self.instance, self.price_type, self.region) if part)


class Tariff(Frozen):
    """Electricity price and grid carbon of one country."""

    id: str
    """ISO 3166-1 alpha-2, lower case."""
    country: str
    business_usd_per_kwh: float | None = None
    business_definition: str = ""
    business_period: str = ""
    household_usd_per_kwh: float | None = None
    """Only from official statistics; otherwise the user types it."""
    household_period: str = ""
    household_source: str = ""
    grid_gco2e_per_kwh: float | None = None
    grid_data_year: str = ""
    grid_source: str = ""
    notes: str = ""
    source: str
    as_of: str


class Assumption(Frozen):
    """A shipped default for what surrounds the thing bought: a range, visible and editable."""

    id: str
    """Such as `host_price_usd` or `people_hours_per_month`."""
    low: float
    value: float
    high: float
    unit: str
    title: str
    notes: str = ""
    source: str
    as_of: str


class FxRate(Frozen):
    """US dollars to another currency: entered by the user or fetched by an update."""

    currency: str
    rate: float
    """Units of the currency for one US dollar."""
    as_of: str
    source: str
