"""`planner plan` end to end on the shipped workloads."""

import csv
import datetime as dt
import io
import json
import tomllib
from pathlib import Path

import pytest

from planner.report import json as to_json
from planner.report.format import Currency
from planner.report.json import figures
from planner.report.safe import markdown_text
from planner.workspace import Workspace

SHIPPED = Path(__file__).parents[2] / "profiles" / "workloads"
DAY = ("--today", "2026-12-01")


@pytest.fixture(scope="module")
def team(home, evaluate):
    """The plan of team-80-20 as JSON values, made once."""
    workspace = Workspace(home)
    workload = workspace.load_workload("team-80-20")
    return json.loads(to_json.render(evaluate(workspace, workload, dt.date(2026, 12, 1))))


def test_without_a_terminal_the_program_prints_the_plan_and_ends_with_the_verdict(child, team):
    done = child(*DAY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("team-80-20")
    _, _, last = done.stdout.rpartition("VERDICT\n")
    assert " ".join(last.split()) == " ".join(team["verdict"]["text"].split())
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_workload_alone_is_the_same_as_plan(planner):
    path = str(SHIPPED / "ten-calls-a-day.toml")
    assert planner(path, *DAY) == planner("plan", "ten-calls-a-day", *DAY)


def test_another_process_makes_the_same_plan(child):
    # Hashes of texts differ between processes: an order that rests on them would show here.
    first = child("plan", "ten-calls-a-day", *DAY, "--json", PYTHONHASHSEED="1").stdout
    assert first == child("plan", "ten-calls-a-day", *DAY, "--json", PYTHONHASHSEED="2").stdout


def test_every_figure_of_a_real_plan_is_labelled(team):
    found = list(figures(team))
    assert len(found) > 50
    for path, figure in found:
        assert figure["basis"], path
        assert figure["source"], path
        assert figure["value"] is not None or figure.get("reason"), path


def test_text_csv_and_json_of_a_real_plan_agree(planner, team):
    rows = list(csv.DictReader(io.StringIO(planner("plan", "team-80-20", *DAY, "--csv")[1])))
    assert [row["id"] for row in rows] == [option["id"] for option in team["options"]]
    for row, option in zip(rows, team["options"], strict=True):
        value = option["usd_per_month_all_in"]["value"]
        assert row["usd_per_month_all_in"] == ("" if value is None else repr(value))
    text = planner("plan", "team-80-20", *DAY)[1]
    best = next(option for option in team["options"] if option["id"] == team["verdict"]["recommended_option"])
    assert Currency().money(best["usd_per_month_all_in"]["value"]) in text


def test_a_setting_changes_the_plan(planner, team):
    changed = json.loads(planner("plan", "team-80-20", *DAY, "--json", "--set", "demand.users=60")[1])
    users = tomllib.loads((SHIPPED / "team-80-20.toml").read_text())["demand"]["users"]
    assert changed["workload"]["demand"]["users"] == 60
    ratio = changed["demand"]["requests_per_month"]["value"] / team["demand"]["requests_per_month"]["value"]
    assert ratio == pytest.approx(60 / users)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("demand.user=60", "'users'"),
        ("demand.users", "key=value"),
        ("demand.users=many", "demand.users"),
        ("mix.9.share=0.5", "mix.9.share"),
        ("mix.0.model=gemma-3-27", "'gemma-3-27b'"),
    ],
)
def test_a_wrong_setting_names_the_nearest_key(planner, setting, words):
    code, out, err = planner("plan", "team-80-20", *DAY, "--set", setting)
    assert (code, out) == (2, "")
    assert words in err


def test_a_figure_is_explained_by_its_key(planner, team):
    key = team["explanations"][0]["key"]
    code, out, _ = planner("plan", "team-80-20", *DAY, "--explain", key)
    assert code == 0
    assert out.startswith(key)
    assert "formula" in out
    _, as_json, _ = planner("plan", "team-80-20", *DAY, "--explain", key, "--json")
    assert json.loads(as_json) == team["explanations"][0]


def test_an_unknown_key_names_the_nearest(planner):
    code, _, err = planner("plan", "team-80-20", *DAY, "--explain", "demand.tokens_per_mont")
    assert code == 2
    assert "demand.tokens_per_month" in err


def test_nothing_feasible_is_exit_code_1_with_the_json_still_printed(planner):
    code, out, _ = planner(
        "plan", "ten-calls-a-day", *DAY, "--json", "--set", "constraints.data_may_leave=false",
        "--set", "constraints.rented_allowed=false", "--set", "constraints.budget_usd=1",
    )  # fmt: skip
    document = json.loads(out)
    assert document["verdict"]["recommended_option"] is None
    assert code == 1


def test_markdown_holds_the_verdict_in_bold(planner, team):
    _, out, _ = planner("plan", "team-80-20", *DAY, "--markdown")
    assert f"**{markdown_text(team['verdict']['text'])}**" in out


def test_another_currency_needs_a_dated_rate(planner):
    rate = 'money.fx={currency="EUR", rate=0.8, as_of="2026-11-30", source="central bank"}'
    with_rate = planner("plan", "ten-calls-a-day", *DAY, "--set", "money.currency=EUR", "--set", rate)[1]
    assert "€" in with_rate
    assert "central bank, 2026-11-30" in with_rate
    without = planner("plan", "ten-calls-a-day", *DAY, "--set", "money.currency=EUR")[1]
    assert "no exchange rate was entered" in without
    assert "€" not in without


def test_a_broken_workload_names_file_and_key(planner, tmp_path):
    path = tmp_path / "team.toml"
    path.write_text('name = "x"\n[demand]\nusres = 3\n')
    code, out, err = planner("plan", path)
    assert (code, out) == (2, "")
    assert "team.toml" in err
    assert "'users'" in err
