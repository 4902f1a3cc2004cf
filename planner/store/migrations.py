"""Numbered migrations: each runs once, in one transaction, and is recorded in the database."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from planner.store.connection import connected, corrupt, newer
from planner.store.views import VIEWS, views_mark

if TYPE_CHECKING:
    import duckdb

_VIEWS_KEY = "views"
Migration = Callable[["duckdb.DuckDBPyConnection"], None]


def m001_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Create settings, profiles, prices, measurements and probe tables."""
    for statement in (
        "CREATE TABLE setting (key VARCHAR PRIMARY KEY, value JSON NOT NULL)",
        "CREATE TABLE profile (kind VARCHAR NOT NULL, position INTEGER NOT NULL, id VARCHAR NOT NULL,"
        " body JSON NOT NULL, origin VARCHAR NOT NULL, path VARCHAR NOT NULL, overridden VARCHAR[] NOT NULL)",
        "CREATE TABLE api_price_snapshot (position INTEGER NOT NULL, version VARCHAR NOT NULL,"
        " as_of VARCHAR NOT NULL, id VARCHAR NOT NULL, body JSON NOT NULL)",
        "CREATE TABLE measurement (file VARCHAR NOT NULL, line INTEGER NOT NULL, body JSON NOT NULL)",
        "CREATE TABLE probe (id VARCHAR PRIMARY KEY, kind VARCHAR NOT NULL, status VARCHAR NOT NULL,"
        " ended_by VARCHAR NOT NULL, started_at VARCHAR NOT NULL, finished_at VARCHAR NOT NULL,"
        " hardware VARCHAR NOT NULL, model VARCHAR NOT NULL, quant VARCHAR, engine VARCHAR NOT NULL,"
        " engine_build VARCHAR, tool_version VARCHAR NOT NULL, record VARCHAR NOT NULL)",
        "CREATE TABLE probe_figure (probe_id VARCHAR NOT NULL, position INTEGER NOT NULL, kind VARCHAR,"
        " value DOUBLE, low DOUBLE, high DOUBLE, unit VARCHAR NOT NULL, basis VARCHAR NOT NULL,"
        " context_tokens BIGINT, prompt_tokens BIGINT, output_tokens BIGINT, concurrency BIGINT,"
        " cached_prefix_tokens BIGINT, model VARCHAR, quant VARCHAR, kv_quant VARCHAR, engine VARCHAR,"
        " hardware VARCHAR, reason VARCHAR, source VARCHAR NOT NULL, body JSON NOT NULL)",
        "CREATE TABLE probe_sample (probe_id VARCHAR NOT NULL, position INTEGER NOT NULL, body JSON NOT NULL)",
    ):
        connection.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (m001_tables,)
CURRENT = len(MIGRATIONS)


def version_of(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """Return the schema's number, 0 for an empty database.

    Raises EnvironmentFault for a newer schema and for somebody else's tables.
    """
    tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if not tables:
        return 0
    if "schema_migration" not in tables:
        raise corrupt(path, "it holds other tables")
    rows = connection.execute("SELECT coalesce(max(version), 0) FROM schema_migration").fetchall()
    version = int(rows[0][0])
    if version > CURRENT:
        raise newer(path, f"schema {version}; this planner knows {CURRENT}")
    return version


def views_are_current(connection: duckdb.DuckDBPyConnection) -> bool:
    """Say whether the documented views are those of this version."""
    rows = connection.execute("SELECT value->>'$' FROM setting WHERE key = ?", [_VIEWS_KEY]).fetchall()
    return bool(rows) and rows[0][0] == views_mark()


def migrate(path: Path, tool_version: str, applied_at: str) -> None:
    """Bring the database to the current schema and views; a failed step leaves the one before."""
    with connected(path) as connection:
        version = version_of(connection, path)
        for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
            connection.execute("BEGIN")
            try:
                if number == 1:
                    connection.execute(
                        "CREATE TABLE schema_migration (version INTEGER PRIMARY KEY, name VARCHAR NOT NULL,"
                        " tool_version VARCHAR NOT NULL, applied_at VARCHAR NOT NULL)"
                    )
                step(connection)
                row = [number, step.__name__, tool_version, applied_at]
                connection.execute("INSERT INTO schema_migration VALUES (?, ?, ?, ?)", row)
                connection.execute("COMMIT")
            except BaseException:
                # A failed commit has already been undone.
                _roll_back(connection)
                raise
        if not views_are_current(connection):
            _renew_views(connection)


def _renew_views(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("BEGIN")
    for name, comment, query in VIEWS:
        connection.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
        quoted = comment.replace("'", "''")
        connection.execute(f"COMMENT ON VIEW {name} IS '{quoted}'")
    mark = json.dumps(views_mark())
    connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", [_VIEWS_KEY, mark])
    connection.execute("COMMIT")


def _roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    with contextlib.suppress(Exception):
        connection.execute("ROLLBACK")
