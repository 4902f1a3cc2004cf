"""The Library out of validated profiles: maps by id, alias tables, and what is wrong with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from planner.domain.engine import Engine
from planner.domain.hardware import Hardware
from planner.domain.library import Library
from planner.domain.model import ModelSpec
from planner.domain.probe import ProbeRecord
from planner.domain.quant import fold
from planner.domain.workload import InlineProfiles
from planner.store.profiles import Profile

Named = TypeVar("Named", Hardware, ModelSpec, Engine)
Names = Callable[[Named], Iterable[str]]


def library_from(profiles: Iterable[Profile], probes: tuple[ProbeRecord, ...]) -> tuple[Library, tuple[str, ...]]:
    """Return the library and warnings about names that two profiles share (the first by id wins)."""
    kinds: dict[str, dict[str, Any]] = defaultdict(dict)
    for profile in profiles:
        kinds[profile.kind][profile.id] = profile.value
    library = Library(
        hardware=kinds["hardware"],
        machines=kinds["machines"],
        models=kinds["models"],
        engines=kinds["engines"],
        prices=tuple(kinds["prices"].values()),
        clouds=tuple(kinds["clouds"].values()),
        tariffs=kinds["power"],
        assumptions=kinds["assumptions"],
        rate_limits=tuple(kinds["rate_limits"].values()),
        provisioned=tuple(kinds["provisioned"].values()),
        retirements=tuple(kinds["retirements"].values()),
        published_speeds=tuple(kinds["speeds"].values()),
        probes=probes,
    )
    return with_aliases(library)


def with_aliases(library: Library) -> tuple[Library, tuple[str, ...]]:
    """Return the library with its alias tables rebuilt, and warnings about shared names."""
    warnings: list[str] = []
    aliases = {
        "hardware": alias_table("hardware", library.hardware, _hardware_names, warnings),
        "model": alias_table("model", library.models, _model_names, warnings),
        "engine": alias_table("engine", library.engines, _engine_names, warnings),
    }
    return replace(library, aliases=aliases), tuple(warnings)


def alias_table(kind: str, items: Mapping[str, Named], names: Names[Named], warnings: list[str]) -> dict[str, str]:
    """Return folded name -> id. Ids come first, so that no alias ever hides one."""
    table = {fold(item_id): item_id for item_id in sorted(items)}
    for item_id in sorted(items):
        for name in names(items[item_id]):
            if not name:
                continue
            owner = table.setdefault(fold(name), item_id)
            if owner != item_id:
                warnings.append(f"The {kind} name {name!r} of {item_id!r} already means {owner!r}.")
    return table


def with_inline(library: Library, inline: InlineProfiles) -> Library:
    """Return the library with a workload's own profiles on top."""
    if inline == InlineProfiles():
        return library
    keys = {price.key for price in inline.prices}
    offers = {offer.key for offer in inline.clouds}
    own_prices = tuple(price.model_copy(update={"origin": "workload"}) for price in inline.prices)
    joined = replace(
        library,
        hardware={**library.hardware, **_by_id(inline.hardware)},
        machines={**library.machines, **_by_id(inline.machines)},
        models={**library.models, **_by_id(inline.models)},
        tariffs={**library.tariffs, **_by_id(inline.tariffs)},
        prices=(*(price for price in library.prices if price.key not in keys), *own_prices),
        clouds=(*(offer for offer in library.clouds if offer.key not in offers), *inline.clouds),
    )
    return with_aliases(joined)[0]


def _by_id(items: Iterable[Any]) -> dict[str, Any]:
    return {item.id: item for item in items}


def _hardware_names(item: Hardware) -> Iterable[str]:
    return (item.name, *item.aliases)


def _model_names(item: ModelSpec) -> Iterable[str]:
    return (item.hf_repo, item.hf_repo.rpartition("/")[2], *item.aliases)


def _engine_names(item: Engine) -> Iterable[str]:
    return (item.name, *item.aliases)
