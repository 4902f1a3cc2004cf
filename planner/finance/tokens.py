"""What a model call costs at an API price: cached, written, batch, long-context, dated and timed rates."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from planner.domain.errors import InputError
from planner.domain.figures import Basis
from planner.domain.prices import ApiPrice, ConditionalRates, TierRates, TokenRates
from planner.domain.units import TOKENS_PER_MTOK
from planner.finance.costs import Amount
from planner.finance.ranges import Range3

Kind = Literal["input", "cached_input", "cache_write", "cache_write_1h", "output"]
KINDS: tuple[Kind, ...] = ("input", "cached_input", "cache_write", "cache_write_1h", "output")
KIND_NAMES: Mapping[Kind, str] = MappingProxyType(
    {
        "input": "Input tokens",
        "cached_input": "Cached input tokens",
        "cache_write": "Cache writes",
        "cache_write_1h": "Cache writes (1 h)",
        "output": "Output tokens",
    }
)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, or of many together.

    `input_tokens` holds all of the prompt: cached and written are parts.
    """

    input_tokens: float
    output_tokens: float
    """Visible and reasoning tokens together: both are billed as output."""
    cached_tokens: float = 0.0
    """Read from the provider's cache."""
    cache_write_tokens: float = 0.0
    """Written to it for about five minutes, at the write rate in place of the input rate."""
    cache_write_1h_tokens: float = 0.0

    def __post_init__(self) -> None:
        if min(self.input_tokens, self.output_tokens, self.cached_tokens, self.written_tokens) < 0:
            raise InputError("Tokens of a call cannot be negative.")
        if self.cached_tokens + self.written_tokens > self.input_tokens * (1 + 1e-9):
            raise InputError(
                f"{self.cached_tokens:g} cached and {self.written_tokens:g} written tokens are more than the"
                f" {self.input_tokens:g} input tokens.",
                "Input tokens include the cached ones here; `Usage.reported` takes them counted apart.",
            )

    @classmethod
    def reported(
        cls,
        *,
        input_tokens: float,
        output_tokens: float,
        cached_tokens: float = 0.0,
        cache_write_tokens: float = 0.0,
        input_includes_cached: bool,
    ) -> Usage:
        """Return usage as a provider reported it, whose input tokens include the cached ones or not."""
        apart = 0.0 if input_includes_cached else cached_tokens + cache_write_tokens
        return cls(input_tokens + apart, output_tokens, cached_tokens, cache_write_tokens)

    @property
    def written_tokens(self) -> float:
        """Return all tokens written to the cache."""
        return self.cache_write_tokens + self.cache_write_1h_tokens

    @property
    def fresh_tokens(self) -> float:
        """Return the prompt tokens that were neither read from the cache nor written to it."""
        return max(0.0, self.input_tokens - self.cached_tokens - self.written_tokens)

    def by_kind(self) -> dict[Kind, float]:
        """Return tokens by the rate they are billed at; the kinds add up to input and output tokens."""
        return {
            "input": self.fresh_tokens,
            "cached_input": self.cached_tokens,
            "cache_write": self.cache_write_tokens,
            "cache_write_1h": self.cache_write_1h_tokens,
            "output": self.output_tokens,
        }


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates that hold for a call, and what stood in for what; `reason` says why there is no price."""

    usd_per_mtok: Mapping[Kind, float]
    notes: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Bill:
    """What usage costs: US dollars by kind; no total, but a reason, where a rate is unknown."""

    parts: Mapping[Kind, float]
    notes: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def usd(self) -> float | None:
        """Return the sum, or None where it isn't priced."""
        return None if self.reason else sum(self.parts.values())


def rates_at(
    price: ApiPrice,
    when: datetime.date,
    *,
    input_tokens: float = 0.0,
    hour_utc: float | None = None,
    batch: bool = False,
) -> Rates:
    """Return the rates of a call on a day, at an hour (UTC) if known, with a prompt of a length.

    Dated and timed rates: the last that matches replaces the list's rates as a whole. A context tier holds
    for the whole request whose prompt is longer than its threshold; a kind it doesn't name keeps its rate.
    Batch has its own rates. A kind without a rate: cached and written tokens are billed as plain input, which
    is said in a note; without a rate for input or output nothing is priced. A rate of 0 for those is taken as
    unknown, not as free.
    """
    base, notes = _in_force(price, when, hour_utc)
    if batch:
        if base.batch is None:
            return Rates({}, notes, f"{price.key} lists no batch rates")
        rates: TokenRates = base.batch
    else:
        rates = _tiered(base, base.tiers, input_tokens)
    return _completed(price.key, rates, notes)


def call_usd(
    price: ApiPrice,
    usage: Usage,
    *,
    when: datetime.date,
    hour_utc: float | None = None,
    batch: bool = False,
) -> Bill:
    """Return what one call costs; the context tier follows from its own input tokens."""
    rates = rates_at(price, when, input_tokens=usage.input_tokens, hour_utc=hour_utc, batch=batch)
    if rates.reason:
        return Bill({}, rates.notes, rates.reason)
    return _bill(rates, usage)


def effective_input_usd_per_mtok(price: ApiPrice, usage: Usage, *, when: datetime.date) -> float | None:
    """Return what a million prompt tokens really cost, None where unpriced.

    Formula: (reads × cached rate + misses × input rate + writes × write rate) / prompt tokens.
    """
    bill = call_usd(price, usage, when=when)
    if bill.reason or usage.input_tokens == 0:
        return None
    paid = sum(usd for kind, usd in bill.parts.items() if kind != "output")
    return paid / usage.input_tokens * TOKENS_PER_MTOK


@dataclass(frozen=True, slots=True)
class MonthlyTokens:
    """A month's token money as amounts by kind, with what changes over the horizon; or why there is none."""

    amounts: tuple[Amount, ...]
    notes: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of one length in a month, such as those of one turn of an agent."""

    per_month: float
    usage: Usage


def monthly_variable(
    price: ApiPrice,
    calls: tuple[Calls, ...],
    *,
    start: datetime.date,
    horizon_months: int,
    batch: bool = False,
    hour_utc: float | None = None,
) -> MonthlyTokens:
    """Return a month's money by token kind, with factors for the months after a dated change of rates.

    Month 1 is priced at `start`, each later one at its first day. Each group of calls is billed at its own
    length, so that long ones pay their context tier.
    """
    table: list[dict[Kind, float]] = []
    notes: dict[str, None] = {}
    for when in _month_starts(start, horizon_months):
        month, reason = _month_bill(price, calls, when, hour_utc=hour_utc, batch=batch, notes=notes)
        if reason:
            return MonthlyTokens((), tuple(notes), reason)
        table.append(month)
    amounts = (_amount(price, kind, [month.get(kind, 0.0) for month in table]) for kind in KINDS)
    changed = [amount for amount in amounts if amount is not None]
    if any(amount.month_multiplier for amount in changed):
        notes["prices change by date within the horizon"] = None
    return MonthlyTokens(tuple(changed), tuple(notes))


def _month_bill(
    price: ApiPrice,
    calls: tuple[Calls, ...],
    when: datetime.date,
    *,
    hour_utc: float | None,
    batch: bool,
    notes: dict[str, None],
) -> tuple[dict[Kind, float], str | None]:
    total: dict[Kind, float] = {}
    for group in calls:
        bill = call_usd(price, group.usage, when=when, hour_utc=hour_utc, batch=batch)
        notes.update(dict.fromkeys(bill.notes))
        if bill.reason:
            return {}, bill.reason
        for kind, usd in bill.parts.items():
            total[kind] = total.get(kind, 0.0) + usd * group.per_month
    return total, None


def _amount(price: ApiPrice, kind: Kind, by_month: list[float]) -> Amount | None:
    # The first month with money is the base, so that a kind that costs nothing at first still has factors.
    base = next((usd for usd in by_month if usd > 0), None)
    if base is None:
        return None
    factors = tuple(usd / base for usd in by_month)
    return Amount(
        name=KIND_NAMES[kind],
        usd=Range3.of(base),
        basis=Basis.ASSUMED if price.weak else Basis.LISTED,
        source=price.source,
        as_of=price.as_of,
        month_multiplier=factors if any(factor != 1.0 for factor in factors) else None,
    )


def _month_starts(start: datetime.date, horizon_months: int) -> list[datetime.date]:
    first = start.year * 12 + start.month - 1
    later = (divmod(first + offset, 12) for offset in range(1, horizon_months))
    return [start, *(datetime.date(year, month + 1, 1) for year, month in later)]


def _bill(rates: Rates, usage: Usage) -> Bill:
    tokens = usage.by_kind()
    parts = {k: tokens[k] * rates.usd_per_mtok[k] / TOKENS_PER_MTOK for k in KINDS if k in rates.usd_per_mtok}
    missing = [kind for kind in KINDS if tokens[kind] > 0 and kind not in rates.usd_per_mtok]
    if missing:
        return Bill({}, rates.notes, f"no rate for {', '.join(KIND_NAMES[kind].lower() for kind in missing)}")
    relevant = tuple(note for note in rates.notes if _concerns(note, tokens))
    return Bill({kind: usd for kind, usd in parts.items() if tokens[kind] > 0}, relevant)


_STAND_IN_NOTES: dict[str, Kind] = {
    "no cached rate is listed: cached tokens are billed as input": "cached_input",
    "no cache-write rate is listed: written tokens are billed as input": "cache_write",
    "no 1 h cache-write rate is listed: written tokens are billed as input": "cache_write_1h",
}


def _concerns(note: str, tokens: dict[Kind, float]) -> bool:
    kind = _STAND_IN_NOTES.get(note)
    return kind is None or tokens[kind] > 0


def _completed(key: str, rates: TokenRates, notes: tuple[str, ...]) -> Rates:
    if not rates.input_usd_per_mtok or not rates.output_usd_per_mtok:
        kind = "output" if rates.input_usd_per_mtok else "input"
        return Rates({}, notes, f"{key} has no {kind} price (a price of 0 counts as unknown)")
    known: dict[Kind, float] = {"input": rates.input_usd_per_mtok, "output": rates.output_usd_per_mtok}
    told = list(notes)
    optional: dict[Kind, float | None] = {
        "cached_input": rates.cached_input_usd_per_mtok,
        "cache_write": rates.cache_write_usd_per_mtok,
        "cache_write_1h": rates.cache_write_1h_usd_per_mtok,
    }
    # Who charges for short writes charges for long ones too: then the long rate is unknown, not plain input.
    unknown = rates.cache_write_usd_per_mtok is not None and rates.cache_write_1h_usd_per_mtok is None
    for note, kind in _STAND_IN_NOTES.items():
        rate = optional[kind]
        if rate is not None:
            known[kind] = rate
        elif not (unknown and kind == "cache_write_1h"):
            known[kind] = rates.input_usd_per_mtok
            told.append(note)
    return Rates(MappingProxyType(known), tuple(told))


def _tiered(base: TokenRates, tiers: tuple[TierRates, ...], input_tokens: float) -> TokenRates:
    reached = [tier for tier in tiers if input_tokens > tier.above_input_tokens]
    if not reached:
        return base
    tier = max(reached, key=lambda rates: rates.above_input_tokens)
    own = {name: getattr(tier, name) for name in TokenRates.model_fields}
    return TokenRates(**{name: getattr(base, name) if own[name] is None else own[name] for name in own})


def _in_force(
    price: ApiPrice, when: datetime.date, hour_utc: float | None
) -> tuple[ApiPrice | ConditionalRates, tuple[str, ...]]:
    found: ApiPrice | ConditionalRates = price
    skipped = False
    for rates in price.conditional:
        if not _dated(rates, when):
            continue
        timed = rates.start_time_utc is not None or rates.end_time_utc is not None
        if timed and hour_utc is None:
            skipped = True
        elif not timed or (hour_utc is not None and _timed(rates, hour_utc)):
            found = rates
    note = "rates by time of day exist and are left out: the hours of the work in UTC aren't known"
    return found, (note,) if skipped else ()


def _dated(rates: ConditionalRates, when: datetime.date) -> bool:
    """Say whether a day lies between the first and the last day of a rate, both included."""
    day = when.isoformat()
    return (rates.start_date or day) <= day <= (rates.end_date or day)


def _timed(rates: ConditionalRates, hour_utc: float) -> bool:
    start, end = _hour(rates.start_time_utc, 0.0), _hour(rates.end_time_utc, 24.0)
    if start <= end:
        return start <= hour_utc < end
    return hour_utc >= start or hour_utc < end


def _hour(text: str | None, default: float) -> float:
    if text is None:
        return default
    try:
        parts = [float(part) for part in text.removesuffix("Z").split(":")]
    except ValueError:
        raise InputError(f"{text!r} is not a time of day.", "Write it as HH:MM, in UTC.") from None
    return float(sum(part / 60.0**place for place, part in enumerate(parts)))
