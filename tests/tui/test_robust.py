"""Hostile names, tiny terminals, any screen at any size."""

import pytest
import tui_sample as sample
from tui_help import KEYS, show

from planner.tui import safe
from planner.tui.themes import THEMES

ESCAPE = "\x1b"


@pytest.mark.parametrize("place", KEYS)
async def test_hostile_names_are_only_text(started, place):
    space = sample.FakeWorkspace(hostile=True)
    async with started((120, 36), space=space) as (app, pilot):
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

    heavy = ("duckdb", "openai", "llama_cpp", "genai_prices", "numpy")
    code = f"import planner.tui.app, sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def luminance(colour):
    # Relative luminance and contrast as in WCAG 2.2, "relative luminance" and "contrast ratio".
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_colour_of_text_is_readable_on_every_background(theme):
    texts = {
        **theme.variables,
        "foreground": theme.foreground,
        "primary": theme.primary,
        "accent": theme.accent,
        "warning": theme.warning,
        "error": theme.error,
    }
    for ground in (theme.background, theme.surface, theme.panel):
        for name, colour in texts.items():
            assert contrast(colour, ground) >= 4.5, (name, ground)
