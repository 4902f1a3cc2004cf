"""From plain values to domain objects, with errors that name the file, the key and the nearest valid key."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from planner.domain.errors import InputError, nearest

Model = TypeVar("Model", bound=BaseModel)

_POSITIVE = {
    "Hardware": (
        "memory_gb", "memory_bandwidth_gb_s", "fp16_dense_tflops", "fp8_dense_tflops", "int8_dense_tops",
        "fp4_dense_tflops", "interconnect_gb_s", "tdp_w",
    ),
    "DevicePrice": ("usd", "usd_low", "usd_high"),
    "Machine": ("count", "complete_price_usd", "host_price_usd"),
    "ModelSpec": ("params_total_b", "params_active_b", "layers", "hidden_size", "head_dim", "max_context"),
    "CloudOffer": ("count", "usd_per_hour", "usd_per_gpu_hour"),
    "ProvisionedUnit": ("usd_per_unit_hour",),
    "FxRate": ("rate",),
    "Engine": ("memory_fraction", "max_batch"),
}  # fmt: skip
"""What cannot be zero: a device without bandwidth or an hour without a price is unknown and left out."""


def build(model: type[Model], values: Mapping[str, Any], where: str) -> Model:
    """Return the domain object; raises InputError `where: key: what is wrong` with the nearest valid key."""
    try:
        built = model.model_validate(values)
    except ValidationError as error:
        raise explain(error, model, where) from error
    check_numbers(built, where)
    return built


def explain(error: ValidationError, model: type[BaseModel], where: str) -> InputError:
    """Return a validation error as one sentence about its first problem, and how many more there are."""
    details = error.errors(include_url=False)
    first = details[0]
    path = [str(part) for part in first["loc"]]
    key = ".".join(path)
    more = f" ({len(details) - 1} more problems.)" if len(details) > 1 else ""
    if first["type"] == "extra_forbidden":
        parent = _at(model, path[:-1])
        known = keys_of(parent) if parent else []
        hint = nearest(path[-1], known) or (f"Valid keys: {', '.join(known)}." if known else "")
        return InputError(f"{where}: unknown key {key!r}.{more}", hint)
    if first["type"] == "missing":
        return InputError(f"{where}: the key {key!r} is missing.{more}")
    text = str(first["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    given = first.get("input")
    shown = f", not {given!r}" if isinstance(given, (str, int, float, bool)) and len(repr(given)) < 80 else ""
    return InputError(f"{where}: {key + ': ' if key else ''}{text}{shown}.{more}")


def check_numbers(value: BaseModel, where: str, prefix: str = "") -> None:
    """Raise InputError for a negative number, or a zero where zero can only mean "unknown"."""
    positive = _POSITIVE.get(type(value).__name__, ())
    for name in type(value).model_fields:
        item = getattr(value, name)
        key = f"{prefix}{name}"
        if isinstance(item, BaseModel):
            check_numbers(item, where, f"{key}.")
        elif isinstance(item, tuple):
            for index, part in enumerate(item):
                if isinstance(part, BaseModel):
                    check_numbers(part, where, f"{key}.{index}.")
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            if item < 0:
                raise InputError(f"{where}: {key} cannot be negative ({item:g}).")
            if item == 0 and name in positive:
                raise InputError(f"{where}: {key} cannot be 0.", "Leave the key out where the value is unknown.")


def keys_of(model: type[BaseModel]) -> list[str]:
    """Return the keys a table of this model may have."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _at(model: type[BaseModel], path: list[str]) -> type[BaseModel] | None:
    current: type[BaseModel] | None = model
    for part in path:
        if current is None:
            return None
        if part.isdigit():
            continue
        field = current.model_fields.get(part)
        current = model_in(field.annotation) if field else None
    return current


def model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the domain object inside an annotation such as `tuple[Batch, ...]` or `Request | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Union, UnionType, tuple, list):
        for part in get_args(annotation):
            found = model_in(part)
            if found is not None:
                return found
    return None
