"""Workload: edits are checked, computed, taken back, saved."""

import asyncio

import tui_sample as sample
from tui_help import on_top, settled, show, type_in, until

from planner.domain.errors import NoAnswerError
from planner.domain.workload import Workload
from planner.tui import draft as drafts
from planner.tui.fields import Field
from planner.tui.messages import WorkloadEdited
from planner.tui.screens.dialogs import Ask, Choose, Confirm
from planner.tui.widgets.form import FieldRow
from planner.tui.widgets.paths import PathTable


def field(app, name):
    return next(row for row in app.screen.query(FieldRow) if row.field.path[-1] == name)


async def edit_users(pilot, text):
    """Open the page Demand; its first field, users, is selected on focus, so typing replaces it."""
    await show(pilot, "workload")
    await pilot.press("down", "enter")
    await pilot.pause()
    await type_in(pilot, text)


async def test_the_answer_follows_an_edit(started, workspace):
    async with started() as (app, pilot):
        await edit_users(pilot, "60")
        await until(pilot, lambda: app.plan.workload.demand.users == 60, "the plan for 60 users")
        await settled(pilot)
        assert "for 60 users" in str(app.screen.query_one("#figures-narrow").content)
        assert workspace.planned[-1].demand.users == 60


async def test_edits_in_quick_succession_are_one_computation(started, workspace):
    async with started() as (app, pilot):
        for users in (6, 60, 600):
            demand = app.workload.demand.model_copy(update={"users": users})
            app.post_message(WorkloadEdited(app.workload.model_copy(update={"demand": demand})))
        await until(pilot, lambda: len(workspace.planned) > 1, "a computation after the edits")
        await settled(pilot)
        assert [work.demand.users for work in workspace.planned] == [25, 600]


async def test_old_figures_are_marked_until_the_new_ones_are_there(started, workspace):
    async with started() as (app, pilot):
        workspace.delay = 0.2
        await edit_users(pilot, "60")
        await until(pilot, lambda: app.busy == "recomputing…", "recomputing")
        assert app.screen.has_class("-stale")
        assert "recomputing" in str(app.screen.query_one("#figures-narrow").content)
        await until(pilot, lambda: not app.busy, "fresh figures")
        assert not app.screen.has_class("-stale")
        assert app.plan.workload.demand.users == 60


async def test_a_late_result_never_replaces_a_newer_question(started, workspace):
    async with started() as (app, pilot):
        workspace.delay = 0.3
        await edit_users(pilot, "6")
        await until(pilot, lambda: app._planning, "the first computation")
        await type_in(pilot, "0")
        seen = set()
        for _ in range(200):
            await pilot.pause(0.01)
            if not app.busy:
                seen.add(app.plan.workload.demand.users)
                break
        assert seen == {60}


async def test_a_mistake_is_told_beside_the_field(started):
    async with started() as (app, pilot):
        await edit_users(pilot, "-3")
        await until(pilot, lambda: field(app, "users").problem, "the complaint")
        assert field(app, "users").problem == "must be ≥ 0"
        assert app.busy == "not recomputed: 1 field to correct"
        await pilot.press("backspace", "backspace", "7")
        await settled(pilot)
        assert field(app, "users").problem == ""
        assert app.plan.workload.demand.users == 7


async def test_undo_and_redo_work_inside_a_number_field(started):
    async with started() as (app, pilot):
        await edit_users(pilot, "60")
        await settled(pilot)
        await pilot.press("u")
        await settled(pilot)
        assert (field(app, "users").text, app.plan.workload.demand.users) == ("25", 25)
        await pilot.press("ctrl+r")
        await settled(pilot)
        assert (field(app, "users").text, app.plan.workload.demand.users) == ("60", 60)


async def test_an_emptied_field_takes_the_default(started):
    async with started() as (app, pilot):
        await edit_users(pilot, "60")
        await pilot.press("down")  # hours a day: never set, shown as a default
        hours = field(app, "hours_per_day")
        assert (hours.text, hours.field.default) == ("", "8")
        assert "default" in str(hours.query_one(".field-hint").content)
        await type_in(pilot, "4")
        await settled(pilot)
        assert app.plan.workload.demand.hours_per_day == 4
        await pilot.press("backspace")
        await settled(pilot)
        assert app.plan.workload.demand.hours_per_day == 8
        assert "hours_per_day" not in app.screen.draft["demand"]


async def test_letters_go_into_text_fields_and_escape_leaves_them(started):
    async with started() as (app, pilot):
        await show(pilot, "workload")
        await pilot.press("enter")  # name
        await pilot.pause()
        await pilot.press("end")
        await type_in(pilot, "q5")
        assert field(app, "name").text == "team-80-20q5"
        await pilot.press("escape", "3")
        await pilot.pause()
        assert app.screen.PLACE == "options"


async def test_an_unknown_model_names_the_nearest(started):
    async with started() as (app, pilot):
        await show(pilot, "workload")
        await pilot.press(*["down"] * 4, "enter")
        await pilot.pause()
        await until(pilot, lambda: app.screen.query(FieldRow) and app.screen.page == "mix-0", "the page of the mix")
        row = field(app, "model")
        row.query_one("FieldInput").focus()
        await pilot.press("end", "b")
        await until(pilot, lambda: row.problem, "the complaint")
        assert "Did you mean 'gemma-3-27b'" in row.problem


async def test_a_failing_plan_does_not_take_the_keys_of_somebody_typing(started, workspace):
    async with started() as (app, pilot):
        workspace.fail = NoAnswerError("Nothing is feasible.", "Raise the budget.")
        await edit_users(pilot, "60")
        await until(pilot, lambda: app.busy == "no plan for this workload", "the failure")
        assert app.screen.PLACE == "workload"
        assert app.screen.has_class("-stale")
        assert app.past_notes[-1] == "Nothing is feasible. Raise the budget."


def test_models_that_the_workload_itself_brings_are_known():
    lib = sample.library()
    own = lib.models["gemma-3-27b"].model_copy(update={"id": "mine", "aliases": ("my model",)})
    draft = drafts.draft_of(sample.workload())
    draft["mix"] = [{"name": "a", "share": 1, "model": "my model"}]
    assert drafts.check(draft, lib)[1][0].path == ("mix", 0, "model")
    draft["profiles"] = {"models": [own.model_dump(mode="json")]}
    del draft["batch"]
    workload, problems = drafts.check(draft, lib)
    assert (problems, workload.mix[0].model) == ((), "my model")


def test_a_country_without_a_tariff_is_told_unless_a_price_is_typed():
    draft = drafts.put(drafts.draft_of(sample.workload()), ("money", "country"), "uk")
    workload, problems = drafts.check(draft, sample.library())
    assert workload is None and problems[0].path == ("money", "country")
    priced = drafts.put(draft, ("money", "tariff_usd_per_kwh"), 0.3)
    assert drafts.check(priced, sample.library())[1] == ()


async def test_save_as_and_save(started, workspace, tmp_path):
    async with started() as (app, pilot):
        await edit_users(pilot, "60")
        await settled(pilot)
        await pilot.press("s")  # a shipped workload asks for a new name
        dialog = await on_top(pilot, Ask)
        assert dialog.query_one("#path").value == "team-80-20.toml"
        path = tmp_path / "mine.toml"
        dialog.query_one("#path").value = str(path)
        await pilot.press("enter")
        await pilot.pause()
        saved, where = workspace.saved[0]
        assert (saved.demand.users, where) == (60, path)
        assert not app.screen.dirty
        await type_in(pilot, "1")
        await settled(pilot)
        assert app.screen.dirty
        await pilot.press("s")
        await pilot.pause()
        assert [(work.demand.users, where) for work, where in workspace.saved] == [(60, path), (601, path)]


async def test_leaving_with_unsaved_edits_asks(started):
    async with started() as (app, pilot):
        await edit_users(pilot, "60")
        await settled(pilot)
        await pilot.press("escape", "q")
        await on_top(pilot, Confirm)
        await pilot.press("n")
        await pilot.pause()
        assert app.screen.PLACE == "workload"
        await pilot.press("q")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await pilot.pause()
        assert app.return_value == 0


async def test_load_a_shipped_workload(started, workspace):
    async with started() as (app, pilot):
        await show(pilot, "workload")
        await pilot.press("l")
        await on_top(pilot, Choose)
        await pilot.press("enter")  # the first one
        await settled(pilot)
        assert app.workload_name == "night-batch"
        assert app.plan.workload.name == "night-batch"
        await until(pilot, lambda: workspace.last == "night-batch", "it is remembered")


async def test_add_and_remove_a_part_of_the_mix(started):
    async with started() as (app, pilot):
        await show(pilot, "workload")
        await pilot.press("a")
        await on_top(pilot, Choose)
        await pilot.press("enter")
        await settled(pilot)
        assert [part.share for part in app.plan.workload.mix] == [0.4, 0.2, 0.4]
        await pilot.press("x")
        await settled(pilot)
        assert [part.share for part in app.plan.workload.mix] == [0.8, 0.2]


async def test_the_answer_screen_shows_the_edited_workload(started):
    async with started() as (app, pilot):
        await edit_users(pilot, "60")
        await settled(pilot)
        await pilot.press("escape", "1")
        await pilot.pause()
        assert app.screen.query_one(PathTable)
        assert "for 60 users" in str(app.screen.query_one("#verdict").content)


def number(name="users", kind="number"):
    return Field(("demand", name), name, "", kind, "", "")


def test_numbers_are_read_as_people_write_them():
    assert drafts.parse(number(), "20k") == 20_000
    assert drafts.parse(number(), "1.5M") == 1_500_000
    assert drafts.parse(number(), "5%") == 0.05
    assert drafts.parse(number(kind="whole"), "2k") == 2000
    assert drafts.parse(number(), "") is None
    assert drafts.parse(number(), "abc") == "abc"
    assert drafts.parse(number(kind="list"), "a, b,") == ["a", "b"]


def test_a_draft_holds_only_what_was_set():
    work = Workload.model_validate(
        {
            "name": "x",
            "demand": {"users": 2, "requests_per_user_hour": 1},
            "mix": [{"name": "a", "share": 1, "model": "m"}],
        }
    )
    draft = drafts.draft_of(work)
    assert draft["demand"] == {"users": 2, "requests_per_user_hour": 1}
    assert "money" not in draft
    with_rate = drafts.put_rate(drafts.put(draft, ("money", "currency"), "EUR"), 0.9, "2026-12-01")
    assert Workload.model_validate(with_rate).money.fx.rate == 0.9
    assert drafts.put(drafts.put_rate(with_rate, None, ""), ("money", "currency"), None) == draft


async def test_the_form_survives_changing_pages_quickly(started):
    async with started() as (app, pilot):
        await show(pilot, "workload")
        for _ in range(9):
            await pilot.press("down")
        await asyncio.sleep(0)
        await until(pilot, lambda: app.screen.page == "money", "the last page")
        await until(pilot, lambda: len(app.screen.query(FieldRow)) > 15, "its fields")
        assert field(app, "host_price_usd").field.default == "2400"
