"""profiles, sql, doctor and probe list/show against the shipped profiles."""

import csv
import io
import json

import pytest

from planner.report.safe import width


def test_profiles_list_shows_every_kind(planner):
    from planner.cli.profiles import FACTS
    from planner.store.kinds import KINDS

    assert set(FACTS) == set(KINDS)
    for kind in (*FACTS, "workloads"):
        code, out, _ = planner("profiles", "list", kind)
        assert code == 0, kind
        assert len(out.splitlines()) > 2, kind


@pytest.mark.parametrize("kind", ["hardware", "machines", "models", "prices", "clouds", "assumptions", "provisioned"])
def test_ids_are_listed_whole_and_everything_else_fits_eighty_columns(planner, kind):
    ids = [item["key"] for item in json.loads(planner("profiles", "list", kind, "--json")[1])]
    lines = planner("profiles", "list", kind)[1].splitlines()
    starts = [line.split("  ")[0] for line in lines]
    assert set(map(" ".join, map(str.split, ids))) <= set(starts)
    assert max(width(line) for line in lines if line not in ids) <= 80


def test_profiles_list_json_holds_the_whole_profiles(planner):
    code, out, _ = planner("profiles", "list", "gpu", "--json")
    by_id = {item["id"]: item for item in json.loads(out)}
    assert code == 0
    # The vendor's numbers: 24 GB, 936 GB/s.
    assert by_id["rtx-3090"]["memory_gb"] == 24
    assert by_id["rtx-3090"]["memory_bandwidth_gb_s"] == pytest.approx(936, rel=0.01)
    assert by_id["rtx-3090"]["source"]
    assert "local" in by_id


def test_a_profile_is_shown_by_id_and_by_alias(planner):
    code, by_id, _ = planner("profiles", "show", "rtx-3090")
    assert code == 0
    assert "hardware: rtx-3090 (shipped)" in by_id
    assert "rtx-3090.toml" in by_id
    _, by_alias, _ = planner("profiles", "show", "GeForce RTX 3090 24GB")
    assert by_alias == by_id


def test_an_unknown_profile_or_kind_names_the_nearest(planner):
    code, _, err = planner("profiles", "show", "rtx-309")
    assert code == 2
    assert "'rtx-3090'" in err
    code, _, err = planner("profiles", "list", "modles")
    assert code == 2
    assert "'models'" in err


def test_a_users_own_value_is_marked(planner, tmp_path, monkeypatch):
    folder = tmp_path / "profiles" / "hardware"
    folder.mkdir(parents=True)
    (folder / "rtx-3090.toml").write_text('id = "rtx-3090"\nmemory_gb = 48\n')
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path))
    code, out, err = planner("profiles", "show", "rtx-3090")
    assert code == 0, err
    assert " *memory_gb" in out
    assert "* your own value" in out


def test_sql_answers_as_table_csv_and_json(planner):
    query = "SELECT id, memory_gb FROM v_hardware WHERE id = 'rtx-3090'"
    code, table, _ = planner("sql", query)
    assert code == 0
    assert table.splitlines()[-1].split() == ["rtx-3090", "24.0"]
    _, as_csv, _ = planner("sql", query, "--csv")
    assert list(csv.reader(io.StringIO(as_csv))) == [["id", "memory_gb"], ["rtx-3090", "24.0"]]
    _, as_json, _ = planner("sql", query, "--json")
    assert json.loads(as_json) == [{"id": "rtx-3090", "memory_gb": 24.0}]


def test_sql_values_of_every_type_become_json(planner):
    query = "SELECT DATE '2026-12-01' AS d, 1.5::DECIMAL(4,1) AS m, NULL AS n, [1, 2] AS l, {'a': true} AS s"
    _, out, _ = planner("sql", query, "--json")
    assert json.loads(out) == [{"d": "2026-12-01", "m": 1.5, "n": None, "l": [1, 2], "s": {"a": True}}]


def test_a_wrong_query_is_one_line(planner):
    code, out, err = planner("sql", "SELECT nothing FROM nowhere")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_doctor_reports_checks_and_exits_with_5_when_one_fails(planner, monkeypatch):
    from planner.workspace import Check, Workspace

    code, out, _ = planner("doctor", "--json")
    document = json.loads(out)
    assert (code, document["ok"]) == (0, True)
    assert {"name", "status", "detail", "hint"} <= document["checks"][0].keys()
    monkeypatch.setattr(Workspace, "doctor", lambda self: (Check("disk", "fail", "full", "Free some space."),))
    code, out, _ = planner("doctor")
    assert code == 5
    assert out == "FAILED  disk: full. Free some space.\n"


@pytest.mark.parametrize("arguments", [("sql", "SELECT 1"), ("plan", "--json"), ("probe", "list")], ids=" ".join)
def test_a_corrupt_database_is_named_and_left_alone(planner, tmp_path, monkeypatch, arguments):
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path))
    garbage = b"not a database" * 100
    (tmp_path / "planner.duckdb").write_bytes(garbage)
    code, out, err = planner(*arguments)
    assert (code, out) == (5, "")
    assert "planner.duckdb" in err
    assert (tmp_path / "planner.duckdb").read_bytes() == garbage
