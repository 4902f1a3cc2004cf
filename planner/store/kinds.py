"""The kinds of profiles: their folders, models, keys and the words a user may call them by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from planner.domain.engine import Engine
from planner.domain.errors import InputError, nearest
from planner.domain.hardware import Hardware, Machine
from planner.domain.model import ModelSpec
from planner.domain.prices import (
    ApiPrice,
    Assumption,
    CloudOffer,
    ProvisionedUnit,
    PublishedSpeed,
    RateLimit,
    Retirement,
    Tariff,
)

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of profile."""

    name: str
    """Also the table's `kind`."""
    folder: str
    model: type[BaseModel]
    key: Callable[[Values], str]
    key_fields: tuple[str, ...]
    table: str | None = None
    """The array of tables that holds it; None where a file is one profile."""


def _joined(*names: str) -> Callable[[Values], str]:
    return lambda values: "/".join(str(values[name]) for name in names if values.get(name))


def _price_key(values: Values) -> str:
    region = values.get("region")
    return f"{values.get('provider', '')}/{values.get('model', '')}" + (f"@{region}" if region else "")


_OFFER = ("provider", "instance", "price_type", "region")
_LIMIT = ("provider", "model", "tier")
_UNIT = ("vendor", "model", "unit", "term")
_END = ("provider", "channel", "model")
_SPEED = ("provider", "model", "metric")
_ALL = (
    Kind("hardware", "hardware", Hardware, _joined("id"), ("id",)),
    Kind("machines", "machines", Machine, _joined("id"), ("id",)),
    Kind("models", "models", ModelSpec, _joined("id"), ("id",)),
    Kind("engines", "engines", Engine, _joined("id"), ("id",)),
    Kind("power", "power", Tariff, _joined("id"), ("id",)),
    Kind("prices", "prices", ApiPrice, _price_key, ("provider", "model", "region"), "prices"),
    Kind("rate_limits", "prices", RateLimit, _joined(*_LIMIT), _LIMIT, "rate_limits"),
    Kind("provisioned", "prices", ProvisionedUnit, _joined(*_UNIT), _UNIT, "provisioned"),
    Kind("retirements", "prices", Retirement, _joined(*_END), _END, "retirements"),
    Kind("speeds", "prices", PublishedSpeed, _joined(*_SPEED), _SPEED, "speeds"),
    Kind("clouds", "clouds", CloudOffer, _joined(*_OFFER), _OFFER, "offers"),
    Kind("assumptions", "assumptions", Assumption, _joined("id"), ("id",), "assumptions"),
)  # fmt: skip
KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
FOLDERS = tuple(dict.fromkeys(kind.folder for kind in _ALL))
_WORDS = {
    "device": "hardware", "gpu": "hardware", "machine": "machines", "model": "models", "engine": "engines",
    "tariff": "power", "tariffs": "power", "electricity": "power", "price": "prices", "cloud": "clouds",
    "offer": "clouds", "offers": "clouds", "assumption": "assumptions", "rate_limit": "rate_limits",
    "retirement": "retirements", "speed": "speeds",
}  # fmt: skip


def find_kind(word: str) -> Kind:
    """Return a kind by its name, singular or plural; raises InputError naming the nearest."""
    name = word.strip().casefold().replace("-", "_")
    kind = KINDS.get(_WORDS.get(name, name))
    if kind is None:
        hint = nearest(name, [*KINDS, *_WORDS]) or f"Kinds: {', '.join(KINDS)}."
        raise InputError(f"There is no kind of profile called {word!r}.", hint)
    return kind


def kinds_in(folder: str) -> dict[str, Kind]:
    """Return table name -> kind for a folder whose files hold lists; empty where a file is one profile."""
    return {kind.table: kind for kind in _ALL if kind.folder == folder and kind.table is not None}
