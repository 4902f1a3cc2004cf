"""Profiles from TOML: the shipped ones, overridden field by field by the user's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from planner.domain.errors import InputError, nearest
from planner.domain.prices import ApiPrice
from planner.store.files import read_toml
from planner.store.kinds import FOLDERS, KINDS, Kind, kinds_in
from planner.store.validate import build

_FIT = ".fit"
_NEVER_FILLED = frozenset({"provider", "model", "region", "channel", "origin", "source", "as_of", "weak"})


@dataclass
class Entry:
    """One profile's plain values while shipped and user files are being merged."""

    kind: Kind
    id: str
    values: dict[str, Any]
    path: Path | None
    origin: str
    overridden: tuple[str, ...] = ()


@dataclass(frozen=True)
class Profile:
    """One validated profile and where it comes from."""

    kind: str
    id: str
    value: BaseModel
    origin: str
    """shipped, user (a new one, or a shipped one with overrides) or genai-prices."""
    path: str = ""
    overridden: tuple[str, ...] = ()


@dataclass
class Entries:
    """Entries by kind and id, in a stable order; a repeated id gets a number."""

    by_kind: dict[str, dict[str, Entry]] = field(default_factory=lambda: {name: {} for name in KINDS})

    def add(self, entry: Entry) -> None:
        """Add an entry beside those of the same id."""
        table = self.by_kind[entry.kind.name]
        key, number = entry.id, 2
        while key in table:
            key, number = f"{entry.id}#{number}", number + 1
        table[key] = entry

    def override(self, entry: Entry) -> None:
        """Lay a user's entry over the shipped one of the same id, or add it."""
        table = self.by_kind[entry.kind.name]
        base = table.get(entry.id)
        if base is None:
            table[entry.id] = entry
            return
        changed = tuple(key for key, value in entry.values.items() if base.values.get(key) != value)
        merged = {**base.values, **entry.values}
        table[entry.id] = Entry(entry.kind, entry.id, merged, entry.path, "user", (*base.overridden, *changed))


def load(shipped: Path, user: Path, api_prices: Iterable[ApiPrice]) -> tuple[Profile, ...]:
    """Return all profiles, validated; raises InputError naming file and key.

    Where a price exists in `api_prices` the shipped overlay only fills its holes; the user's own always win.
    """
    entries = Entries()
    own = [entry for folder in FOLDERS for entry in _read_folder(user, folder, "user")]
    for folder in FOLDERS:
        for entry in _read_folder(shipped, folder, "shipped"):
            entries.add(entry)
    _under_overlay(entries, api_prices)
    for entry in own:
        entries.override(entry)
    return tuple(_validated(entry, key) for table in entries.by_kind.values() for key, entry in table.items())


def profile_files(root: Path) -> list[Path]:
    """Return the TOML files that hold profiles, and the measurement tables, sorted."""
    found = [path for folder in FOLDERS for path in (root / folder).glob("*.toml")]
    return sorted([*found, *(root / "measurements").glob("*.csv")])


def _validated(entry: Entry, key: str) -> Profile:
    where = str(entry.path) if entry.path else entry.origin
    if entry.kind.table is not None:
        where = f"{where}: {entry.kind.table} {entry.id!r}"
    value = build(entry.kind.model, entry.values, where)
    if isinstance(value, ApiPrice) and not (value.input_usd_per_mtok or value.output_usd_per_mtok):
        raise InputError(f"{where}: a price needs input_usd_per_mtok or output_usd_per_mtok above 0.")
    path = str(entry.path) if entry.path else ""
    return Profile(entry.kind.name, key, value, entry.origin, path, entry.overridden)


def _read_folder(root: Path, folder: str, origin: str) -> Iterator[Entry]:
    paths = sorted((root / folder).glob("*.toml"))
    tables = kinds_in(folder)
    fits = {path.name.removesuffix(f"{_FIT}.toml"): path for path in paths if path.stem.endswith(_FIT)}
    for path in paths:
        if path.stem.endswith(_FIT):
            continue
        values = read_toml(path)
        if tables:
            yield from _read_lists(path, values, tables, origin)
            continue
        if path.stem in fits:
            values["efficiencies"] = _efficiencies(fits.pop(path.stem))
        values.setdefault("id", path.stem)
        yield Entry(KINDS[folder], str(values["id"]), values, path, origin)
    for stem, path in fits.items():
        yield Entry(KINDS[folder], stem, {"id": stem, "efficiencies": _efficiencies(path)}, path, origin)


def _efficiencies(path: Path) -> list[Any]:
    rows = read_toml(path).get("efficiencies", [])
    if not isinstance(rows, list):
        raise InputError(f"{path}: efficiencies must be a list of tables, [[efficiencies]].")
    return rows


def _read_lists(path: Path, values: dict[str, Any], tables: dict[str, Kind], origin: str) -> Iterator[Entry]:
    for name, rows in values.items():
        if name not in tables:
            hint = nearest(name, tables) or f"Valid keys: {', '.join(tables)}."
            raise InputError(f"{path}: unknown key {name!r}.", hint)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError(f"{path}: {name} must be a list of tables, [[{name}]].")
        for row in rows:
            kind = tables[name]
            # A user's own price is theirs, whatever the file says.
            values_of = {**row, "origin": "user"} if kind.name == "prices" and origin == "user" else row
            yield Entry(kind, kind.key(row), values_of, path, origin)


def _under_overlay(entries: Entries, api_prices: Iterable[ApiPrice]) -> None:
    table = entries.by_kind["prices"]
    for price in api_prices:
        values = price.model_dump(exclude_defaults=True)
        values["origin"] = "genai-prices"
        overlay = table.pop(price.key, None)
        if overlay is not None:
            holes = {key: item for key, item in overlay.values.items() if key not in _NEVER_FILLED}
            # An overlay rate beside rates of another date would be a price nobody asks.
            values = {**{key: item for key, item in holes.items() if "usd_per_mtok" not in key}, **values}
        table[price.key] = Entry(KINDS["prices"], price.key, values, None, "genai-prices")
