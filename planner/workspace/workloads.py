"""Workload files: found by name or path, checked, and changed by `key=value`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from planner.domain.errors import InputError, nearest
from planner.domain.library import Library
from planner.domain.workload import Workload
from planner.store.files import read_toml
from planner.store.validate import check_numbers, explain, keys_of, model_in

WHAT = "a workload"


def workload_path(name_or_path: str | Path, shipped: Path) -> Path:
    """Return the file of a shipped workload's name or of a path; raises InputError with the nearest names."""
    given = str(name_or_path)
    if "\0" in given or not given.strip():
        raise InputError(f"{given!r} is not a file name.")
    path = Path(given).expanduser()
    try:
        if path.exists():
            return path
    except OSError as error:
        raise InputError(f"{given[:80]!r} cannot be used as a file name: {error.strerror}.") from error
    named = shipped / f"{given.removesuffix('.toml')}.toml"
    if "/" not in given and "\\" not in given and named.is_file():
        return named
    # `profiles/workloads/x.toml` is how the README names them, also where only a wheel is installed.
    parts = Path(given).parts
    if parts[:2] == ("profiles", "workloads") and len(parts) == 3 and (shipped / parts[2]).is_file():
        return shipped / parts[2]
    names = shipped_names(shipped)
    near = sorted(item.name for item in path.parent.glob("*.toml"))[:200] if path.parent.is_dir() else []
    hint = nearest(path.name, [*near, *names]) or f"Shipped workloads: {', '.join(names)}."
    raise InputError(f"There is no workload file {given!r}.", hint)


def shipped_names(shipped: Path) -> list[str]:
    """Return the names of the shipped workloads."""
    return sorted(path.stem for path in shipped.glob("*.toml"))


def read_workload(path: Path) -> Workload:
    """Return a workload; raises InputError naming file, key and nearest valid key."""
    return workload_from(read_toml(path, what=WHAT), str(path))


def workload_from(values: dict[str, Any], where: str) -> Workload:
    """Return a workload from plain values; `where` names them in errors."""
    try:
        workload = Workload.model_validate(values)
    except ValidationError as error:
        raise explain(error, Workload, where) from error
    check_numbers(workload.profiles, where, "profiles.")
    return workload


def check_ids(workload: Workload, library: Library, where: str) -> None:
    """Raise InputError for a model, engine, device or country that nobody knows, with the nearest id."""
    for index, part in enumerate(workload.mix):
        _known(f"{where}: mix.{index}.model", library.find_model, part.model)
    for index, name in enumerate(workload.constraints.engines):
        _known(f"{where}: constraints.engines.{index}", library.find_engine, name)
    for index, name in enumerate(workload.constraints.hardware):
        if name != "local":
            _known(f"{where}: constraints.hardware.{index}", library.find_hardware, name)
    country = workload.money.country
    if workload.money.tariff_usd_per_kwh is None and country not in library.tariffs and library.tariffs:
        countries = {tariff.country: key for key, tariff in library.tariffs.items()}
        hint = nearest(country, [*library.tariffs, *countries])
        way_out = f"{hint} Or set money.tariff_usd_per_kwh.".strip()
        raise InputError(f"{where}: money.country: no electricity tariff for {country!r} is known.", way_out)


def apply_sets(workload: Workload, sets: Iterable[str]) -> Workload:
    """Return the workload with `key=value` settings applied, such as `demand.users=60` or `mix.0.share=0.5`.

    Values are read as TOML where they are TOML, else as text. Raises InputError naming the setting and the
    nearest key.
    """
    settings = list(sets)
    if not settings:
        return workload
    values = workload.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for setting in settings:
        key, found, text = setting.partition("=")
        if not found or not key.strip():
            raise InputError(f"--set {setting!r}: expected key=value, such as demand.users=60.")
        _set(values, key.strip(), parse_value(text.strip()), setting)
    return workload_from(values, "--set " + " ".join(settings))


def parse_value(text: str) -> Any:
    """Return text as the TOML value it spells, else as itself."""
    if "\n" in text or "\r" in text:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def _set(values: dict[str, Any], key: str, value: Any, setting: str) -> None:
    parts = key.split(".")
    where: Any = values
    model: type[BaseModel] | None = Workload
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        if isinstance(where, list):
            where = _step_into_list(where, part, value if last else None, last, setting)
            continue
        if model is not None:
            model = _known_key(model, part, setting)
        if last:
            where[part] = value
            return
        if not isinstance(where.get(part), (dict, list)):
            where[part] = {}
        where = where[part]


def _step_into_list(where: list[Any], part: str, value: Any, last: bool, setting: str) -> Any:
    if not part.isdigit() or int(part) >= len(where):
        hint = f"It has {len(where)} parts, numbered from 0." if where else "It is empty."
        raise InputError(f"--set {setting}: there is no part {part!r}.", hint)
    if last:
        where[int(part)] = value
        return None
    return where[int(part)]


def _known_key(model: type[BaseModel], part: str, setting: str) -> type[BaseModel] | None:
    names = {field.alias or name: field for name, field in model.model_fields.items()}
    if part not in names:
        known = keys_of(model)
        hint = nearest(part, known) or f"Valid keys: {', '.join(known)}."
        raise InputError(f"--set {setting}: unknown key {part!r}.", hint)
    return model_in(names[part].annotation)


def _known(where: str, find: Any, name: str) -> None:
    try:
        find(name)
    except InputError as error:
        raise InputError(f"{where}: {error.message}", error.hint) from error
