"""Options: sorted by raw values, filtered by words, explained."""

from tui_help import on_top, show

from planner.tui.screens.option import OptionScreen
from planner.tui.widgets.table import KeyTable


def keys(app):
    return [row.key for row in app.screen.query_one(KeyTable).rows_shown]


async def test_cells_hold_the_plans_figures(started):
    async with started((120, 36)) as (app, pilot):
        await show(pilot, "options")
        table = app.screen.query_one(KeyTable)
        cells = dict(zip([c.key for c in table.all_columns], [c.plain for c in table.rows_shown[0].cells], strict=True))
        assert cells["path"] == "owned"
        assert cells["usd_per_month_all_in"] == "$463"
        assert cells["usd_upfront"] == "$5,800"
        assert cells["decode"] == "38.2 ◐"
        assert cells["ttft"] == "1.9 s"
        assert cells["busy"] == "31 %"


async def test_sort_by_each_column_keeps_unknowns_last(started):
    async with started() as (app, pilot):
        await show(pilot, "options")
        await pilot.press("s", "s", "s", "s")  # path, name, feasible, all-in
        assert app.screen.sort_column == "usd_per_month_all_in"
        assert keys(app) == ["own-1", "mix-1", "api-1", "man-1", "rent-1", "own-2"]
        await pilot.press("S")
        assert keys(app) == ["rent-1", "man-1", "api-1", "mix-1", "own-1", "own-2"]
        titles = [str(column.label) for column in app.screen.query_one(KeyTable).ordered_columns]
        assert "All-in/mo ▼" in titles


async def test_filter_by_words_path_and_feasibility(started):
    async with started() as (app, pilot):
        await show(pilot, "options")
        await pilot.press("slash", "v", "l", "l", "m", "enter")
        await pilot.pause()
        assert keys(app) == ["own-2"]
        assert app.focused is app.screen.query_one(KeyTable)
        await pilot.press("slash", "escape")
        await pilot.pause()
        assert len(keys(app)) == 6
        await pilot.press("f")
        assert "own-2" not in keys(app)
        await pilot.press("f", "p", "p", "p", "p")  # api, managed, rented, owned
        assert keys(app) == ["own-1", "own-2"]


async def test_enter_opens_why_an_option_is_ruled_out(started):
    async with started() as (_, pilot):
        await show(pilot, "options")
        await pilot.press("G", "enter")
        screen = await on_top(pilot, OptionScreen)
        text = str(screen.query_one("#option-text").content)
        assert "✗ gpt-oss-120b needs 63 GiB, the machine has 32 GiB" in text
        assert "weights 16.5" in text and "of 46 GiB" in text


async def test_details_hold_the_cash_flow_whose_rows_sum_to_the_total(started):
    async with started() as (_, pilot):
        await show(pilot, "options")
        await pilot.press("enter")
        screen = await on_top(pilot, OptionScreen)
        text = str(screen.query_one("#option-text").content)
        lines = {
            line.split()[0]: line.split()[-1] for line in text.splitlines() if line.startswith("  ") and line.split()
        }
        # 36 × 95 = 3,420; 36 × 240 = 8,640; 3,400 + 2,400 + 3,420 + 8,640 − 1,200 = 16,660.
        assert (lines["energy"], lines["resale"], lines["total"]) == ("3,420", "-1,200", "16,660")


async def test_vi_keys_and_copy(started):
    async with started() as (app, pilot):
        await show(pilot, "options")
        table = app.screen.query_one(KeyTable)
        await pilot.press("j", "j", "k")
        assert table.selected == "mix-1"
        await pilot.press("G")
        assert table.selected == "own-2"
        await pilot.press("g")
        assert table.selected == "own-1"
        await pilot.press("y")
        assert "All-in/mo: $463" in app.clipboard


async def test_narrow_terminals_drop_columns_by_rank(started):
    async with started((80, 24)) as (app, pilot):
        await show(pilot, "options")
        shown = [column.key.value for column in app.screen.query_one(KeyTable).ordered_columns]
        assert {"path", "name", "feasible", "usd_per_month_all_in", "decode"} <= set(shown)
        assert "p_wins" not in shown
        await pilot.resize_terminal(160, 40)
        await pilot.pause(0.1)
        shown = [column.key.value for column in app.screen.query_one(KeyTable).ordered_columns]
        assert shown[-1] == "p_wins"
