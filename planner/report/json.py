"""A plan as JSON: exactly the keys that scripts rely on, the same text for the same plan."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from planner.domain.errors import NoAnswerError
from planner.domain.plan import Plan


def document(value: BaseModel) -> dict[str, Any]:
    """Return a domain object as plain JSON values under its public key names."""
    out: dict[str, Any] = value.model_dump(mode="json", by_alias=True)
    return out


def render(plan: Plan) -> str:
    """Return the plan as JSON ending with a line break.

    Raises NoAnswerError for a figure without its label.
    """
    whole = document(plan)
    for path, figure in figures(whole):
        _check_label(path, figure)
    return dumps(whole)


def dumps(value: Any) -> str:
    """Return JSON text with a line break at the end; numbers that JSON can't hold become null."""
    return json.dumps(_finite(value), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def line(value: Any) -> str:
    """Return JSON on one line, for streams of events."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def figures(value: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (dotted path, figure) for every labelled figure in a JSON document."""
    if isinstance(value, Mapping):
        if {"value", "unit", "basis", "source"} <= value.keys():
            yield path, value
            return
        for key, inner in value.items():
            yield from figures(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from figures(inner, f"{path}[{index}]")


def _check_label(path: str, figure: Mapping[str, Any]) -> None:
    if not figure["basis"] or not figure["source"] or not figure["unit"]:
        raise NoAnswerError(f"The figure {path} has no basis, source or unit.", "Please report this.")
    if figure["value"] is None and not figure.get("reason"):
        raise NoAnswerError(f"The unknown figure {path} has no reason.", "Please report this.")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
