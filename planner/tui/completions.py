"""Ids offered while typing into a field of the workload form."""

from __future__ import annotations

from planner.domain.library import Library


def completions(known: str, library: Library | None) -> tuple[str, ...]:
    """Return the ids of a kind: model, engine, hardware, provider, price or country."""
    if library is None or not known:
        return ()
    tables = {
        "model": library.models, "engine": library.engines, "hardware": library.hardware, "country": library.tariffs,
    }  # fmt: skip
    if known in tables:
        return tuple(sorted(tables[known]))
    if known == "provider":
        sellers = {price.provider for price in library.prices} | {offer.provider for offer in library.clouds}
        return tuple(sorted(sellers))
    return tuple(sorted({f"{price.provider}/{price.model}" for price in library.prices}))
