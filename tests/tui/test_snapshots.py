"""Pictures of the screens; they judge layout only, values are read by the other tests."""

import pytest
from tui_help import KEYS, SNAPSHOTS, show, until

from planner.tui.jobs import Job

SIZES = {"80x24": (80, 24), "120x36": (120, 36)}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", KEYS)
async def test_dark(started, same_picture, place, size):
    async with started(SIZES[size]) as (_, pilot):
        await show(pilot, place)
        await same_picture(pilot, f"{place}-dark-{size}")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", ["answer", "options"])
async def test_light(started, same_picture, place, size):
    async with started(SIZES[size], theme="planner-light") as (_, pilot):
        await show(pilot, place)
        await same_picture(pilot, f"{place}-light-{size}")


async def test_workload_page_with_a_mistake(started, same_picture):
    async with started() as (app, pilot):
        await pilot.press("2", "down", "enter", "minus", "3")
        await until(pilot, lambda: "not recomputed" in app.busy, "the mistake is seen")
        await same_picture(pilot, "workload-wrong-80x24")


async def test_option_details(started, same_picture):
    async with started() as (_, pilot):
        await pilot.press("3", "enter")
        await same_picture(pilot, "option-dark-80x24")


async def test_running_probe(started, same_picture):
    async with started() as (app, pilot):
        await pilot.press("4")
        log = ("start: device-1", "warning: the clock is not steady", "sample: step 12, seconds 0.0123")
        app.jobs.job = Job("probe", "device probe of gemma.gguf", True, 0.42, "decode at 4096", 21.0, log)
        app.sync_screens()
        await same_picture(pilot, "probes-running-80x24")


async def test_too_small(started, same_picture):
    async with started((50, 12)) as (_, pilot):
        await same_picture(pilot, "too-small-50x12")


async def test_without_colour(monkeypatch, started, same_picture):
    monkeypatch.setenv("NO_COLOR", "1")
    async with started() as (_, pilot):
        await same_picture(pilot, "answer-no-color-80x24")


def test_no_picture_is_left_over():
    names = {f"{place}-dark-{size}" for place in KEYS for size in SIZES}
    names |= {f"{place}-light-{size}" for place in ("answer", "options") for size in SIZES}
    names |= {
        "workload-wrong-80x24",
        "option-dark-80x24",
        "probes-running-80x24",
        "too-small-50x12",
        "answer-no-color-80x24",
    }
    assert {path.stem for path in SNAPSHOTS.glob("*.svg")} == names
