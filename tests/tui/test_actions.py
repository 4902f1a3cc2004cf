"""The registry: every action is explained, reachable and has a key of its own."""

import pytest
from tui_help import KEYS, on_top, show

from planner.tui.actions import ACTIONS, PLACES, TABLE, actions_for
from planner.tui.app import PlannerApp
from planner.tui.screens.dialogs import TextDialog
from planner.tui.screens.help import help_text
from planner.tui.widgets.table import KeyTable


def test_every_action_has_words():
    for action in ACTIONS:
        assert action.tooltip.endswith("."), action.id
        assert action.label, action.id
        assert action.group, action.id


def test_ids_are_unique():
    assert len({action.id for action in ACTIONS}) == len(ACTIONS)


@pytest.mark.parametrize("place", [place.id for place in PLACES])
def test_no_two_actions_share_a_key_where_both_work(place):
    here = [key for where in ("", TABLE, place) for action in actions_for(where) for key in action.keys]
    assert sorted(here) == sorted(set(here))


@pytest.mark.parametrize("place", [place.id for place in PLACES])
def test_every_action_has_code(place):
    screen = PlannerApp.MODES[place]
    for action in actions_for(place):
        assert hasattr(screen, f"action_{action.call.partition('(')[0]}"), action.id
    for action in actions_for(""):
        assert hasattr(PlannerApp, f"action_{action.call.partition('(')[0]}"), action.id
    for action in actions_for(TABLE):
        assert hasattr(KeyTable, f"action_{action.call.partition('(')[0]}"), action.id


@pytest.mark.parametrize("place", [place.id for place in PLACES])
def test_help_names_every_key_of_a_screen(place):
    text = help_text(place, None)
    for action in (*actions_for(place), *actions_for("")):
        assert action.tooltip in text


async def test_number_keys_choose_screens(started):
    async with started() as (app, pilot):
        for place in KEYS:
            await show(pilot, place) if place != "answer" else None
            assert place == app.screen.PLACE
        await pilot.press("1")
        await pilot.pause()
        assert app.screen.PLACE == "answer"


async def test_the_palette_offers_every_action(started):
    async with started() as (app, pilot):
        offered = [command.help for command in app.get_system_commands(app.screen)]
        for action in ACTIONS:
            if action.place != TABLE and action.id != "app.palette":
                assert any(action.tooltip in text for text in offered), action.id
        await pilot.press("ctrl+p")
        await pilot.pause()
        assert type(app.screen).__name__ == "CommandPalette"


async def test_the_palette_runs_an_action_of_another_screen(started):
    async with started() as (app, pilot):
        action = next(action for action in ACTIONS if action.id == "options.feasible")
        await app.perform(action)
        await pilot.pause()
        assert app.screen.PLACE == "options"
        assert app.screen.only_feasible


async def test_f1_explains_the_focused_thing(started):
    async with started() as (app, pilot):
        await show(pilot, "workload")
        await pilot.press("down", "enter")
        await pilot.press("f1")
        dialog = await on_top(pilot, TextDialog)
        assert dialog.text.startswith("users (number).")
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen.PLACE == "workload"


async def test_theme_key_switches_and_both_themes_know_all_variables(started):
    async with started() as (app, pilot):
        assert app.theme == "planner-dark"
        await pilot.press("t")
        assert app.theme == "planner-light"
        for name in ("path-owned", "yes", "no", "maybe", "muted"):
            assert app.theme_variables[name].startswith("#")
        app.theme = "nord"  # a foreign theme gets the planner's own variables
        await pilot.pause()
        assert app.theme_variables["path-owned"].startswith("#")
