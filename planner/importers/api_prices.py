"""API prices out of genai-prices: the only importer of that package."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time
from importlib import metadata
from typing import Any

from planner.domain.prices import ApiPrice, ConditionalRates, TierRates, TokenRates

PACKAGE = "genai-prices"
PUBLISHED = {"0.2.3": "2026-11-10"}
"""Version -> day of its release; any other is dated by the newest check that its comments mention."""
MANAGED = frozenset({"aws", "azure"})
NO_API = frozenset({"cursor", "github-copilot"})
"""Subscriptions of an editor: their per-token prices can't be bought as an API."""
_BATCH = {"processing": "batch"}
_CHECKED = re.compile(r"(?:verified|checked|confirmed|as of|read)\D{0,40}(20\d\d-\d\d-\d\d)")
_RATES = {
    "input_mtok": "input_usd_per_mtok",
    "cache_read_mtok": "cached_input_usd_per_mtok",
    "cache_write_mtok": "cache_write_usd_per_mtok",
    "cache_write_1h_mtok": "cache_write_1h_usd_per_mtok",
    "output_mtok": "output_usd_per_mtok",
}


def installed_version() -> str:
    """Return the version of genai-prices without importing it."""
    return metadata.version(PACKAGE)


def api_prices() -> tuple[ApiPrice, ...]:
    """Return all text models of the bundled snapshot with their conditions, sorted by provider and model.

    Rates are those of the snapshot's day; later dated changes and hours of the day become `conditional`.
    Models without an input and an output rate above zero (free, audio, image, embeddings) are left out.
    """
    from genai_prices.data import providers  # noqa: PLC0415 - 0.7 s, once per version

    version = installed_version()
    as_of = PUBLISHED.get(version) or _newest_check(providers)
    prices = [price for provider in providers for price in _of_provider(provider, version, date.fromisoformat(as_of))]
    return tuple(sorted(prices, key=lambda price: price.key))


def _of_provider(provider: Any, version: str, as_of: date) -> Iterator[ApiPrice]:
    if provider.id in NO_API:
        return
    page = next(iter(provider.pricing_urls or ()), "")
    source = f"{PACKAGE} {version}" + (f"; {page}" if page else "")
    for model in provider.models:
        found = _of_model(model, provider.id, source, as_of)
        if found is not None:
            yield found


def _of_model(model: Any, provider: str, source: str, as_of: date) -> ApiPrice | None:
    base = _rates_on(model, as_of)
    if base is None or not (base.get("input_usd_per_mtok") and base.get("output_usd_per_mtok")):
        return None
    partner = provider == "google" and (model.id.startswith("claude") or model.id.endswith("-maas"))
    region = model.id.split(".")[0] if provider == "aws" and model.id.startswith(("global.", "regional.")) else None
    return ApiPrice(
        provider=provider,
        channel="managed" if provider in MANAGED or partner else "api",
        model=model.id,
        name=model.name or "",
        region=region,
        conditional=tuple(_conditions(model, as_of)),
        max_context=model.context_window,
        notes="Deprecated by the provider." if model.deprecated else "",
        origin="genai-prices",
        source=source,
        as_of=as_of.isoformat(),
        **base,
    )


def _conditions(model: Any, as_of: date) -> Iterator[ConditionalRates]:
    """Yield rates from later dates in order, then rates of hours of the day, which win over them."""
    standard = model.prices if isinstance(model.prices, list) else []
    dates = {part.constraint.start_date for part in standard if hasattr(part.constraint, "start_date")}
    variants = [part for part in model.price_variants or () if part.when == _BATCH]
    dates |= {part.constraint.start_date for part in variants if hasattr(part.constraint, "start_date")}
    for start in sorted(day for day in dates if day > as_of):
        rates = _rates_on(model, start)
        if rates is not None:
            yield ConditionalRates(start_date=start.isoformat(), **rates)
    for part in standard:
        if hasattr(part.constraint, "start_time"):
            yield ConditionalRates(
                start_time_utc=_hour(part.constraint.start_time),
                end_time_utc=_hour(part.constraint.end_time),
                **_rates(part.prices),
            )


def _rates_on(model: Any, day: date) -> dict[str, Any] | None:
    """Return the standard and batch rates of a day, hours of the day apart."""
    prices = model.prices
    if isinstance(prices, list):
        if not prices:
            return None
        active = [part for part in prices if _from(part) is not None and _from(part) <= day]
        prices = (active or prices)[-1 if active else 0].prices
    rates = _rates(prices)
    batch = _batch_on(model, prices, day)
    return {**rates, "batch": batch} if batch else rates


def _from(part: Any) -> Any:
    """Return the day from which a price holds, None for one of certain hours."""
    if part.constraint is None:
        return date.min
    return getattr(part.constraint, "start_date", None)


def _batch_on(model: Any, standard: Any, day: date) -> TokenRates | None:
    noon = datetime.combine(day, time(12), tzinfo=UTC)
    own: dict[str, Any] = {}
    for variant in model.price_variants or ():
        if variant.when == _BATCH and (variant.constraint is None or variant.constraint.active(noon)):
            for key, value in vars(variant.prices).items():
                if value is not None:
                    own.setdefault(key, value)
    if not own:
        return None
    rates = _rates_of({**vars(standard), **own})
    return TokenRates(**{key: value for key, value in rates.items() if key != "tiers"})


def _rates(prices: Any) -> dict[str, Any]:
    return _rates_of(vars(prices))


def _rates_of(values: dict[str, Any]) -> dict[str, Any]:
    """Return our fields: base rates and one `TierRates` per threshold, whole requests at the higher rates."""
    found = {ours: values[theirs] for theirs, ours in _RATES.items() if values.get(theirs) is not None}
    rates: dict[str, Any] = {ours: _usd(getattr(value, "base", value)) for ours, value in found.items()}
    starts = sorted({tier.start for value in found.values() for tier in getattr(value, "tiers", ())})
    if starts:
        rates["tiers"] = tuple(_tier(found, start) for start in starts)
    return rates


def _tier(found: dict[str, Any], start: int) -> TierRates:
    rates = {}
    for ours, value in found.items():
        reached = [tier.price for tier in getattr(value, "tiers", ()) if tier.start <= start]
        rates[ours] = _usd(reached[-1] if reached else getattr(value, "base", value))
    return TierRates(above_input_tokens=start, **rates)


def _usd(value: Any) -> float | None:
    """Return a rate, or None for zero: nothing is known to be free for good."""
    return float(value) if value > 0 else None


def _hour(value: time) -> str:
    if value.tzinfo is not None:
        value = datetime.combine(date(1970, 1, 2), value).astimezone(UTC).timetz()
    return value.strftime("%H:%M")


def _newest_check(providers: Iterable[Any]) -> str:
    texts = (model.price_comments or "" for provider in providers for model in provider.models)
    days = [day for text in texts for day in _CHECKED.findall(text)]
    return max(days, default=max(PUBLISHED.values()))
