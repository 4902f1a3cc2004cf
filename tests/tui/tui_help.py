"""Waiting for the running app, for the tests of the screens."""

from pathlib import Path

from planner.tui.actions import PLACES

SNAPSHOTS = Path(__file__).parents[1] / "snapshots"
KEYS = {place.id: str(number) for number, place in enumerate(PLACES, start=1)}


async def settled(pilot):
    """Wait until the figures are fresh and every message was handled."""
    for _ in range(400):
        await pilot.pause(0.01)
        if not pilot.app.busy and pilot.app.plan is not None:
            break
    await pilot.pause()
    await pilot.pause()


async def until(pilot, condition, what):
    for _ in range(400):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError(f"never happened: {what}")


async def show(pilot, place):
    """Go to a main screen by its number key."""
    if place != "answer":
        await pilot.press(KEYS[place])
    await until(pilot, lambda: getattr(pilot.app.screen, "PLACE", "") == place, place)
    await pilot.pause()


async def on_top(pilot, kind):
    """Wait for a dialog and return it."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind), kind.__name__)
    await pilot.pause()
    return pilot.app.screen


async def type_in(pilot, text):
    """Type a text key by key."""
    names = {".": "full_stop", ",": "comma", "/": "slash", " ": "space", "-": "minus", ":": "colon", "_": "underscore"}
    await pilot.press(*(names.get(char, char) for char in text))
