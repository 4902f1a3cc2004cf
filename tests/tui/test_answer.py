"""Answer: what the plan says is what the cells hold."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from tui_help import on_top, settled, show

from planner.domain.errors import EnvironmentFault, NoAnswerError
from planner.domain.plan import PATHS
from planner.tui import app as app_module
from planner.tui.screens.dialogs import TextDialog
from planner.tui.screens.option import OptionScreen
from planner.tui.widgets.chart import Chart, nice_ceiling
from planner.tui.widgets.paths import PathTable


def row(table, title):
    cells = [[str(cell).strip() for cell in table.get_row_at(index)] for index in range(table.row_count)]
    return next(found[1:] for found in cells if found[0] == title)


async def test_paths_side_by_side_show_the_plans_figures(started):
    async with started((120, 36)) as (app, _):
        table = app.screen.query_one(PathTable)
        assert [str(column.label).split()[-1] for column in table.ordered_columns[1:]] == [
            "API",
            "managed",
            "rented",
            "owned",
            "mixed",
        ]
        assert row(table, "all-in/mo") == ["$820", "$990", "$1,240", "$463", "$498"]
        assert row(table, "up front") == ["$0", "$0", "$0", "$5,800", "$2,900"]
        assert row(table, "per Mtok") == ["$2.09", "$2.52", "$3.16", "$1.18", "$1.27"]
        assert row(table, "does it?") == ["✓ yes", "? unverified", "✓ yes", "✓ yes", "✓ yes"]
        assert row(table, "basis")[:2] == ["◇ published", "not known"]
        # The slowest part of the mix: 38.2 of 38.2 and 61 tok/s; the longest wait: 1.9 of 0.85 and 1.9 s.
        assert row(table, "decode")[PATHS.index("owned")] == "38.2 tok/s"
        assert row(table, "TTFT p95")[PATHS.index("owned")] == "1.9 s"


async def test_the_cursor_starts_on_the_recommended_path_and_opens_it(started):
    async with started() as (app, pilot):
        assert app.screen.query_one(PathTable).path == "owned"
        await pilot.press("left", "enter")
        screen = await on_top(pilot, OptionScreen)
        assert screen.option.id == "rent-1"
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen.PLACE == "answer"


async def test_the_cursor_never_reaches_the_labels(started):
    async with started() as (app, pilot):
        await pilot.press(*["left"] * 9)
        assert app.screen.query_one(PathTable).path == "api"


async def test_the_chart_marks_the_crossings_of_the_plan(started):
    async with started((120, 36)) as (app, _):
        chart = app.screen.query_one(Chart)
        assert [series.letter for series in chart.series] == ["A", "M", "R", "O", "X"]
        # Owned after 12 months: 5,800 + 12 × 335 = 9,820; API 12 × 820 = 9,840 is above it for the first time.
        assert (chart.crossings[0].x, chart.crossings[0].y) == (12, 9820)
        drawn = chart.render().plain
        assert "month 12" in drawn and "╳" in drawn and "months" in drawn and "$50k" in drawn


def test_axis_ends_are_round():
    assert [nice_ceiling(value) for value in (0, 1, 1.2, 2.3, 44640, 5.1e6)] == [1, 1, 2, 2.5, 50000, 1e7]


async def test_warnings_and_what_changes_the_answer(started):
    async with started() as (_, pilot):
        await pilot.press("w")
        dialog = await on_top(pilot, TextDialog)
        assert "The price of the RTX 3090 is 240 days old." in dialog.text
        assert "The answer changes at 190 M tokens a month." in dialog.text
        assert "API → owned: month 12; crosses at 190 M tokens a month." in dialog.text


async def test_copy_takes_the_verdict_and_the_path(started):
    async with started() as (app, pilot):
        await pilot.press("y")
        assert app.clipboard.startswith("Buy: 2× RTX 3090")
        assert "all-in/mo: $463" in app.clipboard


async def test_export_writes_the_plan(started, tmp_path):
    async with started() as (app, pilot):
        await pilot.press("e")
        await pilot.pause()
        path = tmp_path / "answer.json"
        app.screen.query_one("#path").value = str(path)
        await pilot.press("enter")
        await pilot.pause()
        assert '"planner.plan/1"' in path.read_text()
        assert app.past_notes[-1].startswith("Written: ")


async def test_export_of_an_unknown_kind_names_the_known_ones(started, tmp_path):
    async with started() as (app, pilot):
        await pilot.press("e")
        await pilot.pause()
        app.screen.query_one("#path").value = str(tmp_path / "answer.docx")
        await pilot.press("enter")
        dialog = await on_top(pilot, TextDialog)
        assert ".md, .csv, .json" in dialog.text


async def test_first_paint_says_that_profiles_are_loading(started, workspace):
    workspace.gate = threading.Event()
    async with started(wait=False) as (app, pilot):
        await pilot.pause()
        assert app.plan is None
        assert app.busy in (app_module.LOADING, app_module.RECOMPUTING)
        assert app.screen.query_one("TopBar").state == app.busy
        workspace.gate.set()
        await settled(pilot)
        assert app.screen.query_one("TopBar").state == ""


async def test_a_plan_that_cannot_be_made_is_told_and_marked(started, workspace):
    workspace.fail = NoAnswerError("Nothing is feasible.", "Raise the budget.")
    async with started(wait=False) as (app, pilot):
        dialog = await on_top(pilot, TextDialog)
        assert dialog.text == "Nothing is feasible.\n\nRaise the budget."
        assert app.busy == "no plan for this workload"


async def test_an_unexpected_fault_is_one_message_not_a_traceback(started, workspace):
    workspace.fail = ZeroDivisionError("division by zero")
    async with started(wait=False) as (_, pilot):
        dialog = await on_top(pilot, TextDialog)
        assert "ZeroDivisionError" in dialog.text and "doctor" in dialog.text
        await pilot.press("escape")
        await show(pilot, "profiles")  # the rest still works


def test_leaving_does_not_wait_for_a_plan():
    # The child would need a minute if leaving waited for the computation; it is killed after twenty seconds.
    code = (
        "import asyncio, tui_sample, planner.tui.app as a\n"
        "app = a.PlannerApp(None, tui_sample.FakeWorkspace(delay=60))\n"
        "async def go():\n"
        "    async with app.run_test() as pilot:\n"
        "        while not app._planning: await pilot.pause(0.01)\n"
        "        await pilot.press('q')\n"
        "asyncio.run(go())\n"
        "print('left')"
    )
    here = str(Path(__file__).parent)
    path = os.pathsep.join([here, str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=20, env=environment)
    assert done.stdout.strip() == "left", done.stderr[-500:]


async def test_a_store_that_cannot_be_opened_ends_the_program_with_its_code(started, workspace, monkeypatch):
    def broken():
        raise EnvironmentFault("planner.db was written by a newer version.", "Update the planner.")

    monkeypatch.setattr(workspace, "library", broken)
    async with started(wait=False) as (app, pilot):
        for _ in range(100):
            await pilot.pause(0.01)
            if app.return_code is not None:
                break
        assert app.return_code == 5


async def test_a_wrong_workload_is_told_and_the_default_opened(started):
    async with started(workload="nope.toml", wait=False) as (app, pilot):
        dialog = await on_top(pilot, TextDialog)
        assert "nope.toml" in dialog.text
        await settled(pilot)
        assert app.workload_name == "team-80-20"
