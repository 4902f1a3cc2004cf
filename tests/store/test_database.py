from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest

from planner.domain.errors import EnvironmentFault, InputError
from planner.domain.prices import ApiPrice
from planner.store import migrations
from planner.store.connection import DatabaseLocked, connected
from planner.store.database import Database
from planner.store.folders import Folders, folders
from planner.store.sources import PriceSource, gather, store_record
from tests.store.records import record

PRICE = ApiPrice(
    provider="p", channel="api", model="m", input_usd_per_mtok=1, output_usd_per_mtok=2, origin="genai-prices",
    source="s", as_of="2026-11-10",
)  # fmt: skip


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "planner.duckdb", "0.1.0", retry_s=0.3)


def run_child(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def holder(path: Path) -> subprocess.Popen[str]:
    """Another process that keeps the database open until its stdin closes."""
    child = run_child(f"""
        import duckdb, sys
        connection = duckdb.connect({str(path)!r})
        print("open", flush=True)
        sys.stdin.read()
    """)
    assert child.stdout is not None
    assert child.stdout.readline() == "open\n"
    return child


def test_a_record_comes_back_as_it_was_and_as_rows(database: Database) -> None:
    first, second = record("device-1"), record("device-2", started="2026-12-01T11:00:00Z")
    database.write_probe(first)
    database.write_probe(second)
    database.write_probe(second)  # imported twice
    records, broken = database.probes()
    assert [item.id for item in records] == ["device-2", "device-1"]
    assert records[1].figures == first.figures
    assert broken == ()
    columns, rows = database.query("SELECT probe_id, kind, value, context_tokens FROM v_probe_figures")
    assert columns == ["probe_id", "kind", "value", "context_tokens"]
    assert ("device-1", "decode_per_request", 12.5, 512) in rows
    assert len(rows) == 4
    samples = database.query("SELECT body->>'$.ms' FROM v_probe_samples WHERE probe_id = 'device-1'")[1]
    assert samples == [("80.0",), (None,)]  # NaN is not a number


def test_records_survive_a_killed_process(database: Database) -> None:
    child = run_child(f"""
        import os
        from pathlib import Path
        from planner.domain.probe import ProbeRecord
        from planner.store.database import Database
        record = ProbeRecord.model_validate_json({record().model_dump_json(by_alias=True)!r})
        Database(Path({str(database.path)!r}), "0").write_probe(record)
        os.abort()
    """)
    child.communicate()
    assert child.returncode < 0
    assert [item.id for item in database.probes()[0]] == ["device-1"]


def test_two_processes_write_in_turns(database: Database) -> None:
    database.prepare()
    children = [
        run_child(f"""
            from pathlib import Path
            from planner.store.database import Database
            database = Database(Path({str(database.path)!r}), "0", retry_s=20)
            for number in range(5):
                database.put_setting(f"{name}-{{number}}", number)
        """)
        for name in ("a", "b")
    ]
    for child in children:
        child.communicate()
        assert child.returncode == 0
    assert database.query("SELECT count(*) FROM setting WHERE key LIKE '_-_'")[1] == [(10,)]


def test_a_held_database_is_an_error_that_names_the_file(database: Database) -> None:
    database.prepare()
    child = holder(database.path)
    try:
        with pytest.raises(DatabaseLocked) as caught:
            database.probes()
        assert str(database.path) in caught.value.message
        assert str(child.pid) in caught.value.message
        assert caught.value.hint
        assert caught.value.exit_code == 5
    finally:
        child.communicate()
    assert database.probes() == ((), ())


def test_a_short_lock_is_waited_for(tmp_path: Path) -> None:
    database = Database(tmp_path / "planner.duckdb", "0", retry_s=20)
    database.prepare()
    child = holder(database.path)
    assert child.stdin is not None
    child.stdin.close()
    assert database.probes() == ((), ())
    child.wait()


@pytest.mark.parametrize("content", [b"", b"hello", bytes(range(256)) * 100])
def test_a_file_that_is_no_database_is_left_alone(database: Database, content: bytes) -> None:
    database.path.write_bytes(content)
    with pytest.raises(EnvironmentFault) as caught:
        database.write_probe(record())
    assert str(database.path) in caught.value.message
    assert "mv " in caught.value.hint
    assert database.path.read_bytes() == content


def test_damaged_and_truncated_databases(database: Database) -> None:
    database.write_profiles("f", (), [("x.csv", number, '{"a": "b"}') for number in range(5000)])
    whole = database.path.read_bytes()
    for damaged in (whole[:9000], whole[:12300] + b"\x55" * 6000 + whole[18300:]):
        database.path.write_bytes(damaged)
        with pytest.raises(EnvironmentFault, match="damaged"):
            Database(database.path, "0").stored("f")
        assert database.path.read_bytes() == damaged


def test_a_newer_schema_is_refused_and_left_alone(database: Database) -> None:
    database.prepare()
    with connected(database.path) as connection:
        connection.execute("INSERT INTO schema_migration VALUES (999, 'm999_later', '9.0', '2027-01-01')")
    before = database.path.read_bytes()
    with pytest.raises(EnvironmentFault, match=r"newer version \(schema 999"):
        Database(database.path, "0.1.0").write_probe(record())
    assert database.path.read_bytes() == before


def test_somebody_elses_database_is_refused(database: Database) -> None:
    with duckdb.connect(str(database.path)) as connection:
        connection.execute("CREATE TABLE theirs (a INTEGER)")
    with pytest.raises(EnvironmentFault, match="not a planner database"):
        database.prepare()


def test_a_failed_migration_leaves_the_step_before(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def m002_broken(connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute("CREATE TABLE half (a INTEGER)")
        connection.execute("SELECT * FROM nowhere")

    monkeypatch.setattr(migrations, "MIGRATIONS", (migrations.m001_tables, m002_broken))
    with pytest.raises(duckdb.CatalogException):
        migrations.migrate(database.path, "0", "now")
    with duckdb.connect(str(database.path)) as connection:
        assert connection.execute("SELECT version, name FROM schema_migration").fetchall() == [(1, "m001_tables")]
        assert connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'half'").fetchall() == [(0,)]


def test_a_folder_in_the_databases_place(database: Database) -> None:
    database.path.mkdir()
    with pytest.raises(EnvironmentFault, match="folder"):
        database.prepare()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY probe TO '{out}'",
        "ATTACH '{out}' AS other",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "DELETE FROM probe",
        "DROP TABLE probe",
        "SELECT * FROM secret_rows",
        "SELEC 1",
        "",
    ],
)
def test_sql_reads_and_nothing_else(database: Database, tmp_path: Path, query: str) -> None:
    secret_rows = [1]  # DuckDB would read Python variables by name
    database.write_probe(record())
    with pytest.raises(InputError) as caught:
        database.query(query.format(out=tmp_path / "out"))
    assert "docs" in caught.value.hint
    assert not (tmp_path / "out").exists()
    assert len(database.probes()[0]) == len(secret_rows)


def test_every_view_is_documented_and_works(database: Database) -> None:
    database.prepare()
    names = [row[0] for row in database.query("SELECT name FROM docs WHERE what <> ''")[1]]
    assert set(names) >= {
        "v_hardware", "v_models", "v_api_prices", "v_cloud_offers", "v_probes", "v_probe_figures", "v_tariffs",
        "v_engines", "v_measurements",
    }  # fmt: skip
    for name in names:
        database.query(f"SELECT * FROM {name} LIMIT 1")


def test_views_of_an_older_version_are_renewed(database: Database) -> None:
    database.prepare()
    with connected(database.path) as connection:
        connection.execute("CREATE OR REPLACE VIEW v_probes AS SELECT 1 AS old")
        connection.execute("UPDATE setting SET value = '\"old\"' WHERE key = 'views'")
    assert "id" in Database(database.path, "0").query("SELECT * FROM v_probes")[0]


def places(home: Path) -> Folders:
    return folders(home)


def test_profiles_are_stored_once_and_again_when_a_file_changes(shipped: Path, home: Path) -> None:
    fetched: list[int] = []

    def fetch() -> tuple[ApiPrice, ...]:
        fetched.append(1)
        return (PRICE,)

    def read() -> tuple[float | None, int]:
        database = Database(home / "planner.duckdb", "0.1.0")
        found = gather(database, places(home), shipped, PriceSource("1", fetch))
        devices = {profile.id: profile.value for profile in found.profiles if profile.kind == "hardware"}
        return devices["gpu-a"].memory_gb, len(found.profiles)  # type: ignore[attr-defined]

    first = read()
    stamp = (home / "planner.duckdb").stat().st_mtime_ns
    assert read() == first
    assert (home / "planner.duckdb").stat().st_mtime_ns == stamp  # nothing written
    mine = home / "profiles/hardware/gpu-a.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text("memory_gb = 48\n")
    assert read() == (48, first[1])
    assert len(fetched) == 1  # the price snapshot was kept
    database = Database(home / "planner.duckdb", "0.1.0")
    assert database.query("SELECT id, overridden FROM v_overrides")[1] == [("gpu-a", ["memory_gb"])]
    assert database.query("SELECT hardware, tok_per_s, body->>'$.odd' FROM v_measurements")[1] == [("GPU A", 41.5, "x")]


def test_a_locked_database_costs_the_records_not_the_answer(shipped: Path, home: Path) -> None:
    database = Database(home / "planner.duckdb", "0.1.0", retry_s=0.2)
    database.prepare()
    child = holder(database.path)
    try:
        found = gather(database, places(home), shipped, PriceSource("1", lambda: (PRICE,)))
    finally:
        child.communicate()
    assert any(profile.id == "p/m" for profile in found.profiles)
    assert "Another program keeps" in found.warnings[0]


def test_a_record_the_database_cannot_take_is_kept_and_taken_in_later(
    shipped: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(home / "planner.duckdb", "0.1.0", retry_s=0.2)
    database.prepare()

    def locked(record: object) -> None:
        raise DatabaseLocked("busy.", "wait.")

    with monkeypatch.context() as patch:
        patch.setattr(database, "write_probe", locked)
        with pytest.raises(DatabaseLocked, match=r"device-1\.json"):
            store_record(database, places(home), record())
    found = gather(database, places(home), shipped, PriceSource("1", lambda: (PRICE,)))
    assert [item.id for item in found.probes] == ["device-1"]
    assert list((home / "unsaved-probes").iterdir()) == []


def test_a_broken_stored_record_does_not_hide_the_others(database: Database) -> None:
    database.write_probe(record("good"))
    database.write_probe(record("bad"))
    with connected(database.path) as connection:
        connection.execute("UPDATE probe SET record = '{}' WHERE id = 'bad'")
    records, broken = database.probes()
    assert ([item.id for item in records], broken) == (["good"], ("bad",))
