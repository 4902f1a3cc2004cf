"""Profiles: search, limits, one's own values."""

from types import SimpleNamespace

import tui_sample as sample
from tui_help import on_top, settled, show, until

from planner.tui import profile_texts
from planner.tui.screens.dialogs import Ask, Choose, TextDialog
from planner.tui.screens.profiles import typed_value
from planner.tui.widgets.table import KeyTable


def keys(app):
    return [row.key for row in app.screen.query_one(KeyTable).rows_shown]


async def test_search_looks_into_names(started):
    async with started() as (app, pilot):
        await show(pilot, "profiles")
        await pilot.press("slash", *"geforce", "space", *"5090", "enter")
        await pilot.pause()
        assert keys(app) == ["rtx-5090"]
        assert "1 of 1 shown" in str(app.screen.query_one("#profiles-state").content)


async def test_at_most_500_rows_and_how_many_there_are(started, workspace, monkeypatch):
    price = sample.library().prices[0]
    many = tuple(
        SimpleNamespace(kind="prices", id=f"acme/m{n}", value=price, origin="shipped", path="", overridden=())
        for n in range(2310)
    )
    monkeypatch.setattr(workspace, "profiles", lambda: many)
    async with started() as (app, pilot):
        await show(pilot, "profiles")
        assert len(keys(app)) == 500
        assert "500 of 2,310 shown" in str(app.screen.query_one("#profiles-state").content)


async def test_override_is_marked_and_can_be_taken_back(started, workspace):
    async with started((120, 36)) as (app, pilot):
        await show(pilot, "profiles")
        await pilot.press("enter", "o")
        choose = await on_top(pilot, Choose)
        field = next(i for i, (key, _) in enumerate(choose._choices) if key == "memory_bandwidth_gb_s")
        await pilot.press(*["down"] * field, "enter")
        dialog = await on_top(pilot, Ask)
        assert dialog.query_one("#value").value == "936.0"
        dialog.query_one("#value").value = "900"
        await pilot.press("enter")
        await settled(pilot)
        assert workspace.own == {("hardware", "rtx-3090"): {"memory_bandwidth_gb_s": 900}}
        await until(
            pilot, lambda: app.screen.query_one(KeyTable).rows_shown[0].cells[0].plain.startswith("●"), "the mark"
        )
        detail = str(app.screen.query_one("#profile-text").content)
        assert "your own value" in detail and "profiles/hardware/rtx-3090.toml" in detail
        await pilot.press("v")
        await settled(pilot)
        assert workspace.own == {("hardware", "rtx-3090"): {}}


async def test_enter_shows_source_date_and_age(started):
    async with started() as (_, pilot):
        await show(pilot, "profiles")
        await pilot.press("enter", "enter")
        dialog = await on_top(pilot, TextDialog)
        # From 2026-03-01 to 2026-12-01 are 275 days: 9 months, older than half a year.
        assert "as of 2026-03-01 (! 9 mo)" in dialog.text
        assert "source vendor data sheet" in dialog.text


def test_ages():
    from datetime import date

    today = date(2026, 12, 1)
    assert profile_texts.age("2026-11-30", today) == 1
    assert profile_texts.age("2026-11", today) == 30
    assert profile_texts.age("2024", today) == 1065  # 366 + 365 + 334 days
    assert profile_texts.age("last year", today) is None
    assert [profile_texts.age_words(days) for days in (None, 59, 60, 181, 730)] == [
        "—",
        "59 d",
        "2 mo",
        "! 6 mo",
        "! 2 y",
    ]


def test_values_are_read_as_toml():
    assert [typed_value(text) for text in ("900", "1.5", "true", "nvidia", "a\nb = 1")] == [
        900,
        1.5,
        True,
        "nvidia",
        "a\nb = 1",
    ]
