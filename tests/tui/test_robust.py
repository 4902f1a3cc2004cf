"""Hostile names, tiny terminals, any screen at any size."""

import pytest
import tui_sample as sample
from tui_help import KEYS, show

from planner.tui import safe

ESCAPE = "\x1b"


@pytest.mark.parametrize("place", KEYS)
@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_hostile_names_are_only_text(started, place, size):
    space = sample.FakeWorkspace(hostile=True)
    async with started(size, space=space) as (app, pilot):
        await show(pilot, place)
        await pilot.pause(0.05)
        picture = app.export_screenshot()
        assert ESCAPE not in picture and "\u202e" not in picture
        await pilot.press("enter")
        await pilot.pause(0.05)
        await pilot.press("escape", "y", "f1")
        await pilot.pause(0.05)
        assert app.is_running


async def test_hostile_verdict_is_shown_with_its_brackets(started):
    async with started(space=sample.FakeWorkspace(hostile=True)) as (app, _):
        assert str(app.screen.query_one("#verdict").content).startswith("[/bold] [red]evil[/]")


def test_text_is_never_markup():
    assert safe.cell("[red]x[/]").plain == "[red]x[/]"
    assert safe.content("[/]").plain == "[/]"
    assert safe.lines("  a\x1b[31m b\n\tc") == "  a b\nc"


@pytest.mark.parametrize("place", KEYS)
async def test_every_screen_survives_every_size(started, place):
    async with started() as (app, pilot):
        await show(pilot, place)
        for size in ((60, 16), (20, 5), (200, 50), (1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause(0.05)
        assert app.is_running
        assert not app.screen.has_class("-tiny")


async def test_below_the_floor_one_line_says_what_is_needed(started):
    async with started((59, 16)) as (app, _):
        floor = app.screen.query_one("#floor")
        assert floor.display and app.screen.has_class("-tiny")
        assert "60 × 16" in str(floor.content) and "59 × 16" in str(floor.content)


async def test_nothing_that_costs_time_is_imported_before_the_first_paint():
    import subprocess
    import sys

    code = "import planner.tui.app, sys; print([m for m in ('duckdb','openai','llama_cpp','genai_prices','numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
