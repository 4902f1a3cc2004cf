"""Everything the library is built from, by the quickest way: stored when unchanged, else read from TOML."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from planner.domain.errors import EnvironmentFault, InputError
from planner.domain.prices import ApiPrice
from planner.domain.probe import ProbeRecord
from planner.store.connection import DatabaseLocked, DatabaseUnwritable
from planner.store.database import Database
from planner.store.files import read_text
from planner.store.folders import Folders
from planner.store.probes import keep_aside, kept_aside
from planner.store.profiles import Profile, load, profile_files

MAX_CSV_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Sources:
    """Profiles and probe records, and what went wrong on the way."""

    profiles: tuple[Profile, ...]
    probes: tuple[ProbeRecord, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class PriceSource:
    """A price snapshot that is costly to import: its version is cheap to ask for."""

    version: str
    fetch: Callable[[], tuple[ApiPrice, ...]]


def gather(database: Database, folders: Folders, shipped: Path, prices: PriceSource) -> Sources:
    """Return profiles and probe records, storing them first where something changed on disk.

    A locked database or a read-only disk costs the stored records, not the answer: then a warning says so.
    Raises InputError for a wrong profile, EnvironmentFault for a damaged or newer database.
    """
    mark = fingerprint((shipped, folders.profiles), (database.tool_version, prices.version))
    try:
        return _from_database(database, folders, shipped, prices, mark)
    except (DatabaseLocked, DatabaseUnwritable) as fault:
        profiles = load(shipped, folders.profiles, prices.fetch())
        aside = tuple(record for _, record in kept_aside(_aside(folders)))
        return Sources(profiles, aside, (f"Stored probe records were left out: {fault.message}",))


def fingerprint(roots: tuple[Path, ...], versions: tuple[str, ...]) -> str:
    """Return a hash that changes when a profile file or a version does."""
    digest = hashlib.sha256("\0".join(versions).encode())
    for root in roots:
        digest.update(str(root).encode())
        for path in profile_files(root):
            digest.update(f"{path.relative_to(root)}\0{_state(path)}\n".encode(errors="replace"))
    return digest.hexdigest()


def _state(path: Path) -> str:
    try:
        state = path.stat()
    except OSError as error:
        # A dangling link: reading it will say so in words.
        return f"unreadable {error.errno}"
    return f"{state.st_mtime_ns} {state.st_size}"


def store_record(database: Database, folders: Folders, record: ProbeRecord) -> None:
    """Store a probe record; where the database cannot take it now, keep it in a file for the next start.

    Raises EnvironmentFault, naming that file, when the database cannot be written.
    """
    try:
        database.write_probe(record)
    except EnvironmentFault as fault:
        path = keep_aside(_aside(folders), record)
        hint = f"{fault.hint} The record is kept in {path} until the database can take it."
        raise type(fault)(fault.message, hint.strip()) from fault


def _from_database(database: Database, folders: Folders, shipped: Path, prices: PriceSource, mark: str) -> Sources:
    _take_in(database, folders)
    stored = database.stored(mark)
    warnings = tuple(f"The stored probe record {name} cannot be read." for name in stored.broken_probes)
    profiles = stored.profiles
    if profiles is None:
        known = database.api_prices(prices.version)
        if known is None:
            known = prices.fetch()
            database.write_api_prices(prices.version, known)
        profiles = load(shipped, folders.profiles, known)
        rows = [*measurement_rows(shipped), *measurement_rows(folders.profiles)]
        database.write_profiles(mark, profiles, rows)
    return Sources(profiles, stored.probes, warnings)


def measurement_rows(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield (file, line, row as JSON) of the measurement tables; raises InputError naming a broken file."""
    for path in sorted((root / "measurements").glob("*.csv")):
        text = read_text(path, limit=MAX_CSV_BYTES, what="a measurement table")
        try:
            reader = csv.DictReader(io.StringIO(text))
            for row in reader:
                values = {key: value for key, value in row.items() if key and value}
                yield path.name, reader.line_num, json.dumps(values)
        except csv.Error as error:
            raise InputError(f"{path}, line {reader.line_num}: {error}.") from error


def _take_in(database: Database, folders: Folders) -> None:
    """Store the records that an earlier run had to keep aside."""
    for path, record in kept_aside(_aside(folders)):
        database.write_probe(record)
        with contextlib.suppress(OSError):
            path.unlink()


def _aside(folders: Folders) -> Path:
    return folders.data / "unsaved-probes"
