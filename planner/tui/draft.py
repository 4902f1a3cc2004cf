"""What is typed into the workload form: a plain nested dict, its history, and its check against the model."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from planner.domain.errors import InputError, nearest
from planner.domain.hardware import Hardware
from planner.domain.library import Library
from planner.domain.model import ModelSpec
from planner.domain.workload import Workload
from planner.tui.fields import Field, FieldPath

Draft = dict[str, Any]
HISTORY_LIMIT = 200


def draft_of(workload: Workload) -> Draft:
    """Return what was set in a workload; what was left at its default is absent."""
    out: Draft = workload.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return out


def get(draft: Draft, path: FieldPath) -> Any:
    """Return the value at a path, or None where nothing is set."""
    where: Any = draft
    for part in path:
        if isinstance(part, int):
            where = where[part] if isinstance(where, list | tuple) and part < len(where) else None
        else:
            where = where.get(part) if isinstance(where, dict) else None
        if where is None:
            return None
    return where


def put(draft: Draft, path: FieldPath, value: Any) -> Draft:
    """Return a copy of the draft with one value set; None takes the key away, and an emptied table with it."""
    new = copy.deepcopy(draft)
    _put(new, path, value)
    return new


def _put(where: Any, path: FieldPath, value: Any) -> None:
    head, rest = path[0], path[1:]
    if not rest:
        if value is None and isinstance(where, dict):
            where.pop(head, None)
        else:
            where[head] = value
        return
    if isinstance(where, dict) and not isinstance(where.get(head), dict | list):
        where[head] = {}
    _put(where[head], rest, value)
    if isinstance(where, dict) and where[head] == {}:
        del where[head]


def put_rate(draft: Draft, rate: Any, today: str) -> Draft:
    """Return the draft with an exchange rate that the user typed, dated today; None takes it away."""
    if rate is None:
        return put(draft, ("money", "fx"), None)
    currency = get(draft, ("money", "currency")) or "USD"
    fx = {"currency": currency, "rate": rate, "as_of": today, "source": "entered by the user"}
    return put(draft, ("money", "fx"), fx)


_SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "%": 0.01}


def parse(item: Field, text: str) -> Any:
    """Return the value that a text means for a field; None for an empty one, the text itself when it means nothing."""
    text = text.strip()
    if not text:
        return None
    if item.kind == "list":
        return [part for part in (piece.strip() for piece in text.split(",")) if part]
    if item.kind == "flag":
        return {"yes": True, "no": False}.get(text, text)
    if item.kind not in ("number", "whole"):
        return text
    scale = _SUFFIXES.get(text[-1].lower(), 1.0)
    try:
        number = float((text[:-1] if scale != 1.0 else text).replace(" ", "").replace("_", "")) * scale
    except ValueError:
        return text
    return round(number) if item.kind == "whole" and abs(number - round(number)) < 1e-9 else number


def show(value: Any) -> str:
    """Return a value as it is typed."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Problem:
    """A complaint about one place of the draft."""

    path: FieldPath
    text: str


def check(draft: Draft, library: Library | None) -> tuple[Workload | None, tuple[Problem, ...]]:
    """Return the workload a draft means, or None and what is wrong with it."""
    try:
        workload = Workload.model_validate(draft)
    except ValidationError as error:
        return None, tuple(
            Problem(tuple(part for part in item["loc"]), _words(item["msg"], item["type"]))
            for item in error.errors(include_url=False)
        )
    problems = tuple(_unknown_ids(workload, library)) if library else ()
    return (None if problems else workload), problems


def _words(message: str, kind: str) -> str:
    text = message.removeprefix("Value error, ").replace("Input should be", "must be")
    text = text.replace("Field required", "needed")
    if kind in ("float_parsing", "float_type", "int_parsing", "int_type", "int_from_float"):
        return "must be a whole number" if kind.startswith("int") else "must be a number"
    return text.replace("greater than or equal to", "≥").replace("less than or equal to", "≤").replace(
        "greater than", ">").replace("less than", "<")  # fmt: skip


def _unknown_ids(workload: Workload, library: Library) -> list[Problem]:
    out = []
    models, hardware = _inline(workload.profiles.models), _inline(workload.profiles.hardware) | {"local"}
    for index, part in enumerate(workload.mix):
        if part.model not in models:
            out += _find(library.find_model, part.model, ("mix", index, "model"))
    for name in workload.constraints.engines:
        out += _find(library.find_engine, name, ("constraints", "engines"))
    for name in workload.constraints.hardware:
        if name not in hardware:
            out += _find(library.find_hardware, name, ("constraints", "hardware"))
    money = workload.money
    known = set(library.tariffs) | {tariff.id for tariff in workload.profiles.tariffs}
    if money.tariff_usd_per_kwh is None and money.country not in known:
        hint = nearest(money.country, known) or "Enter the price of electricity instead."
        out.append(Problem(("money", "country"), f"no tariff is known; {hint}"))
    return out


def _inline(profiles: Sequence[ModelSpec] | Sequence[Hardware]) -> set[str]:
    """Return the names under which the workload file itself brings profiles."""
    return {name for profile in profiles for name in (profile.id, *profile.aliases)}


def _find(find: Any, name: str, path: FieldPath) -> list[Problem]:
    try:
        find(name)
    except InputError as error:
        return [Problem(path, str(error))]
    return []


@dataclass
class History:
    """Drafts that can be taken back and repeated; edits of one field in a row are one step."""

    past: list[Draft] = field(default_factory=list)
    future: list[Draft] = field(default_factory=list)
    last_path: FieldPath | None = None

    def edited(self, before: Draft, path: FieldPath | None) -> None:
        """Remember the draft as it was before an edit."""
        if path is None or path != self.last_path or not self.past:
            self.past.append(before)
            del self.past[:-HISTORY_LIMIT]
        self.last_path = path
        self.future.clear()

    def undo(self, now: Draft) -> Draft | None:
        """Return the draft before the last step, or None."""
        return self._move(self.past, self.future, now)

    def redo(self, now: Draft) -> Draft | None:
        """Return the draft after the step that was taken back, or None."""
        return self._move(self.future, self.past, now)

    def _move(self, source: list[Draft], target: list[Draft], now: Draft) -> Draft | None:
        if not source:
            return None
        target.append(now)
        self.last_path = None
        return source.pop()
