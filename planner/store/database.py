"""The planner's database: profiles with their fingerprint, the price snapshot, settings, queries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from planner.domain.errors import InputError
from planner.domain.prices import ApiPrice
from planner.domain.probe import ProbeRecord
from planner.store.connection import RETRY_SECONDS, connected
from planner.store.kinds import KINDS
from planner.store.migrations import CURRENT, migrate, version_of, views_are_current
from planner.store.probes import read_probes, write_probe
from planner.store.profiles import Profile

if TYPE_CHECKING:
    import duckdb

Rows = list[tuple[Any, ...]]
_VIEWS_HINT = "`SELECT * FROM docs` lists the views."


@dataclass(frozen=True)
class Stored:
    """What one visit to the database brings back for the library."""

    profiles: tuple[Profile, ...] | None
    """None when the profiles on disk have changed since they were stored."""
    probes: tuple[ProbeRecord, ...]
    broken_probes: tuple[str, ...]
    """Ids of stored records that this version cannot read."""


class Database:
    """The database file; every method opens it, does one thing, and closes it."""

    def __init__(self, path: Path, tool_version: str, retry_s: float = RETRY_SECONDS) -> None:
        self.path, self.tool_version, self.retry_s = path, tool_version, retry_s
        self._checked = False

    def prepare(self) -> None:
        """Create the database or bring it to the current schema.

        Raises EnvironmentFault for a newer, damaged or locked file; nothing is overwritten then.
        """
        if self._checked and self.path.exists():
            return
        current = False
        if self.path.exists():
            with connected(self.path, read_only=True, retry_s=self.retry_s) as connection:
                version = version_of(connection, self.path)
                current = version == CURRENT and views_are_current(connection)
        if not current:
            migrate(self.path, self.tool_version, datetime.now(UTC).isoformat(timespec="seconds"))
        self._checked = True

    def stored(self, fingerprint: str) -> Stored:
        """Return profiles if they are still those of `fingerprint`, and the probe records, newest first."""
        self.prepare()
        with connected(self.path, read_only=True, retry_s=self.retry_s) as connection:
            known = _setting(connection, "fingerprint")
            profiles = _profiles(connection) if known == fingerprint else None
            probes, broken = read_probes(connection)
        return Stored(profiles, probes, broken)

    def write_profiles(
        self, fingerprint: str, profiles: Sequence[Profile], measurements: Iterable[tuple[str, int, str]]
    ) -> None:
        """Replace the stored profiles and measurements in one transaction."""
        self.prepare()
        rows = list(measurements)
        with connected(self.path, retry_s=self.retry_s) as connection:
            connection.execute("BEGIN")
            connection.execute("DELETE FROM profile")
            columns: list[list[Any]] = [
                [profile.kind for profile in profiles], list(range(len(profiles))),
                [profile.id for profile in profiles],
                [profile.value.model_dump_json(exclude_defaults=True) for profile in profiles],
                [profile.origin for profile in profiles], [profile.path for profile in profiles],
                [list(profile.overridden) for profile in profiles],
            ]  # fmt: skip
            insert_columns(connection, "profile", columns)
            connection.execute("DELETE FROM measurement")
            insert_columns(connection, "measurement", [list(column) for column in zip(*rows, strict=True)])
            _put(connection, "fingerprint", fingerprint)
            connection.execute("COMMIT")

    def api_prices(self, version: str) -> tuple[ApiPrice, ...] | None:
        """Return the price snapshot of one genai-prices version, or None when it isn't stored."""
        self.prepare()
        with connected(self.path, read_only=True, retry_s=self.retry_s) as connection:
            query = "SELECT body FROM api_price_snapshot WHERE version = ? ORDER BY position"
            rows = connection.execute(query, [version]).fetchall()
        return _many(ApiPrice, [row[0] for row in rows]) if rows else None

    def write_api_prices(self, version: str, prices: Sequence[ApiPrice]) -> None:
        """Replace the price snapshot."""
        self.prepare()
        with connected(self.path, retry_s=self.retry_s) as connection:
            connection.execute("BEGIN")
            connection.execute("DELETE FROM api_price_snapshot")
            columns: list[list[Any]] = [
                list(range(len(prices))), [version] * len(prices), [price.as_of for price in prices],
                [price.key for price in prices],
                [price.model_dump_json(exclude_defaults=True) for price in prices],
            ]  # fmt: skip
            insert_columns(connection, "api_price_snapshot", columns)
            connection.execute("COMMIT")

    def probes(self) -> tuple[tuple[ProbeRecord, ...], tuple[str, ...]]:
        """Return readable probe records, newest first, and the ids of unreadable ones."""
        if not self.path.exists():
            return (), ()
        self.prepare()
        with connected(self.path, read_only=True, retry_s=self.retry_s) as connection:
            return read_probes(connection)

    def write_probe(self, record: ProbeRecord) -> None:
        """Store one probe record with its figures and samples, in one transaction."""
        self.prepare()
        # A measurement took minutes: wait longer for it than for anything else.
        with connected(self.path, retry_s=max(self.retry_s, 10.0)) as connection:
            connection.execute("BEGIN")
            write_probe(connection, record)
            connection.execute("COMMIT")

    def setting(self, key: str) -> Any:
        """Return a stored setting, None where there is none."""
        if not self.path.exists():
            return None
        self.prepare()
        with connected(self.path, read_only=True, retry_s=self.retry_s) as connection:
            return _setting(connection, key)

    def put_setting(self, key: str, value: Any) -> None:
        """Store a setting as JSON."""
        self.prepare()
        with connected(self.path, retry_s=self.retry_s) as connection:
            _put(connection, key, value)

    def query(self, sql: str) -> tuple[list[str], Rows]:
        """Return column names and rows of a query, read-only and cut off from files and network.

        Raises InputError with DuckDB's words for a query that doesn't work.
        """
        import duckdb  # noqa: PLC0415

        self.prepare()
        with connected(self.path, read_only=True, locked_down=True, retry_s=self.retry_s) as connection:
            try:
                done = connection.execute(sql)
                # DuckDB returns nothing for an empty text.
                if not isinstance(done, duckdb.DuckDBPyConnection):
                    raise InputError("The query is empty.", _VIEWS_HINT)
                return [column[0] for column in done.description or ()], done.fetchall()
            except (duckdb.IOException, duckdb.FatalException):
                raise
            except duckdb.Error as error:
                words = " ".join(str(error).split())
                raise InputError(f"The query does not work: {words}", _VIEWS_HINT) from error


def insert_columns(connection: duckdb.DuckDBPyConnection, table: str, columns: list[list[Any]]) -> None:
    """Insert many rows at once: DuckDB takes columns as lists hundreds of times faster than row by row."""
    if not columns or not columns[0]:
        return
    marks = ", ".join("UNNEST(?)" for _ in columns)
    connection.execute(f"INSERT INTO {table} SELECT {marks}", columns)


def _profiles(connection: duckdb.DuckDBPyConnection) -> tuple[Profile, ...]:
    query = "SELECT kind, id, body, origin, path, overridden FROM profile ORDER BY position"
    rows = connection.execute(query).fetchall()
    by_kind: dict[str, Rows] = {}
    for row in rows:
        by_kind.setdefault(row[0], []).append(row)
    found = []
    for kind, members in by_kind.items():
        values: tuple[BaseModel, ...] = _many(KINDS[kind].model, [row[2] for row in members])
        for row, value in zip(members, values, strict=True):
            found.append(Profile(kind, row[1], value, row[3], row[4], tuple(row[5])))
    return tuple(found)


def _many(model: type[BaseModel], bodies: list[str]) -> tuple[Any, ...]:
    # One validation of one text is several times faster than one for each profile.
    text = f"[{','.join(bodies)}]"
    adapter: TypeAdapter[Any] = TypeAdapter(tuple[model, ...])  # type: ignore[valid-type]
    try:
        found: tuple[Any, ...] = adapter.validate_json(text)
    except ValidationError as error:
        raise InputError(f"Stored profiles do not fit this version: {error.error_count()} problems.") from error
    return found


def _setting(connection: duckdb.DuckDBPyConnection, key: str) -> Any:
    rows = connection.execute("SELECT value FROM setting WHERE key = ?", [key]).fetchall()
    return json.loads(rows[0][0]) if rows else None


def _put(connection: duckdb.DuckDBPyConnection, key: str, value: Any) -> None:
    connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", [key, json.dumps(value)])
