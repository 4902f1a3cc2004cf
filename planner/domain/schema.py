"""JSON Schemas of every kind of profile file, generated from the domain models."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from planner.domain.base import Frozen
from planner.domain.engine import Efficiency, Engine
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
from planner.domain.workload import Workload

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class PriceFile(Frozen):
    """What one provider asks, grants, retires and is said to reach."""

    prices: tuple[ApiPrice, ...] = ()
    rate_limits: tuple[RateLimit, ...] = ()
    provisioned: tuple[ProvisionedUnit, ...] = ()
    retirements: tuple[Retirement, ...] = ()
    speeds: tuple[PublishedSpeed, ...] = ()


class CloudFile(Frozen):
    """The instances one provider rents out by the hour."""

    offers: tuple[CloudOffer, ...] = ()


class AssumptionFile(Frozen):
    """Default ranges for what surrounds the thing bought."""

    assumptions: tuple[Assumption, ...] = ()


class FitFile(Frozen):
    """Coefficients of one engine, fitted on published measurements."""

    efficiencies: tuple[Efficiency, ...] = ()


FILES: dict[str, type[BaseModel]] = {
    "hardware": Hardware,
    "machine": Machine,
    "model": ModelSpec,
    "engine": Engine,
    "fit": FitFile,
    "prices": PriceFile,
    "clouds": CloudFile,
    "tariff": Tariff,
    "assumptions": AssumptionFile,
    "workload": Workload,
}
"""Schema name -> the model of a whole TOML file of that kind."""


def schemas() -> dict[str, str]:
    """Return file name -> JSON text of the schema, for every kind of profile file."""
    return {f"{name}.schema.json": _text(name, model) for name, model in FILES.items()}


def _text(name: str, model: type[BaseModel]) -> str:
    schema = {"$schema": DRAFT, "title": name, **model.model_json_schema(by_alias=True)}
    schema["title"] = name
    return json.dumps(_without_titles(schema), indent=1, ensure_ascii=False) + "\n"


def _without_titles(value: Any, inside: str = "") -> Any:
    """Drop the titles pydantic derives from field names: they double the size and say nothing new."""
    if isinstance(value, dict):
        keep = {k: v for k, v in value.items() if k != "title" or inside in ("", "properties")}
        return {k: _without_titles(v, k) for k, v in keep.items()}
    if isinstance(value, list):
        return [_without_titles(item, "item") for item in value]
    return value
