"""Probes: one child at a time, its progress on the screen, cancel, and leaving at once."""

import sys
import time
from types import SimpleNamespace

import tui_sample as sample
from tui_help import on_top, show, until

from planner.tui.screens.dialogs import Ask, Confirm, TextDialog
from planner.tui.widgets.table import KeyTable
from planner.workspace.probe_run import ProbeRun

PROGRESS = [
    {"event": "progress", "stage": "decode at 0", "done": 0.5, "elapsed_s": 10},
    {"event": "warning", "code": "noise", "message": "the machine is busy"},
    {"event": "record", "record": {"id": "device-1", "status": "complete"}},
]


async def begin_device_probe(app, pilot, tmp_path):
    model = tmp_path / "tiny.gguf"
    model.write_bytes(b"GGUF")
    await show(pilot, "probes")
    await pilot.press("d")
    dialog = await on_top(pilot, Ask)
    dialog.query_one("#model").value = str(model)
    await pilot.press("enter")
    return model


async def test_a_probe_runs_with_progress_and_improves_the_plan(started, workspace, tmp_path):
    workspace.run = sample.SlowRun(PROGRESS, 60)
    async with started() as (app, pilot):
        model = await begin_device_probe(app, pilot, tmp_path)
        await until(pilot, lambda: app.jobs.job and app.jobs.job.fraction == 0.5, "progress")
        # 10 s for the first half: 10 s are left.
        assert (app.jobs.job.stage, app.jobs.job.remaining_s) == ("decode at 0", 10)
        workspace.run.hurry = True
        await until(pilot, lambda: not app.jobs.running, "the end")
        # The plan is made again with the new record.
        await until(pilot, lambda: len(workspace.planned) == 2 and not app.busy, "a new plan")
        assert workspace.probe_args == [["device", "--model", str(model), "--max-seconds", "40"]]
        assert app.jobs.job.outcome == "✓ done"
        assert "warning: the machine is busy" in app.jobs.job.log
        assert workspace.run.closed


async def test_cancel(started, workspace, tmp_path):
    workspace.run = sample.SlowRun(PROGRESS, 60)
    async with started() as (app, pilot):
        await begin_device_probe(app, pilot, tmp_path)
        await until(pilot, lambda: app.jobs.job and app.jobs.job.fraction, "the start")
        await pilot.press("x")
        await until(pilot, lambda: not app.jobs.running, "the end")
        assert app.jobs.job.outcome == "✗ cancelled"


async def test_only_one_at_a_time(started, workspace, tmp_path):
    workspace.run = sample.SlowRun(PROGRESS, 60)
    async with started() as (app, pilot):
        await begin_device_probe(app, pilot, tmp_path)
        await until(pilot, lambda: app.jobs.running, "the first")
        await begin_device_probe(app, pilot, tmp_path)
        dialog = await on_top(pilot, TextDialog)
        assert "Another probe or build is running." in dialog.text
        assert len(workspace.probe_args) == 1


async def test_leaving_ends_a_real_child_at_once(started, workspace, tmp_path):
    code = 'import time; print(\'{"event": "start"}\', flush=True); time.sleep(600)'
    workspace.run = ProbeRun([], lambda record: None, (sys.executable, "-c", code))
    child = workspace.run._child
    async with started() as (app, pilot):
        await begin_device_probe(app, pilot, tmp_path)
        await until(pilot, lambda: app.jobs.job and app.jobs.job.log, "the child speaks")
        begun = time.monotonic()
        await pilot.press("q")
        await pilot.pause()
    assert app.return_value == 0
    child.wait(5)
    assert child.returncode is not None
    # A sleeping child would hold the program for ten minutes; five seconds tells the two apart on any machine.
    assert time.monotonic() - begun < 5


async def test_a_missing_model_file_is_refused_in_the_dialog(started, workspace):
    async with started() as (_, pilot):
        await show(pilot, "probes")
        await pilot.press("d")
        dialog = await on_top(pilot, Ask)
        dialog.query_one("#model").value = "/nowhere/x.gguf"
        await pilot.press("enter")
        await pilot.pause()
        assert "There is no file" in str(dialog.query_one("#complaint").content)
        assert workspace.probe_args == []


async def test_an_endpoint_that_may_cost_money_asks_first(started, workspace):
    workspace.run = sample.SlowRun(PROGRESS)
    async with started() as (_, pilot):
        await show(pilot, "probes")
        await pilot.press("p")
        dialog = await on_top(pilot, Ask)
        dialog.query_one("#url").value = "https://api.acme.example/v1"
        dialog.query_one("#model").value = "m"
        await pilot.press("enter")
        await on_top(pilot, Confirm)
        assert workspace.probe_args == []
        await pilot.press("y")
        await until(pilot, lambda: workspace.probe_args, "the probe")
        assert workspace.probe_args[0][:4] == ["endpoint", "https://api.acme.example/v1", "--model", "m"]
        assert "--max-usd" in workspace.probe_args[0]


async def test_an_own_endpoint_costs_nothing_and_starts(started, workspace):
    workspace.run = sample.SlowRun(PROGRESS)
    async with started() as (_, pilot):
        await show(pilot, "probes")
        await pilot.press("p")
        dialog = await on_top(pilot, Ask)
        dialog.query_one("#url").value = "http://127.0.0.1:8000/v1"
        dialog.query_one("#model").value = "m"
        await pilot.press("enter")
        await until(pilot, lambda: workspace.probe_args, "the probe")
        assert "--max-usd" not in workspace.probe_args[0]


async def test_missing_device_support_is_offered_and_built(started, workspace):
    workspace.support = SimpleNamespace(
        available=False, can_build=True, advice="About 4 to 12 minutes on this machine."
    )
    async with started() as (app, pilot):
        await show(pilot, "probes")
        await pilot.press("d")
        await on_top(pilot, Confirm)
        await pilot.press("y")
        await until(pilot, lambda: app.jobs.job and not app.jobs.running, "the build")
        assert app.jobs.job.outcome == "✓ done"


async def test_without_a_compiler_one_sentence_says_what_to_install(started, workspace):
    workspace.support = SimpleNamespace(available=False, can_build=False, advice="Install a C++ compiler.")
    async with started() as (_, pilot):
        await show(pilot, "probes")
        await pilot.press("d")
        dialog = await on_top(pilot, TextDialog)
        assert dialog.text == "Install a C++ compiler."


async def test_history_shows_measured_speeds_and_opens_a_record(started):
    async with started((120, 36)) as (app, pilot):
        await show(pilot, "probes")
        table = app.screen.query_one(KeyTable)
        cells = dict(zip([c.key for c in table.all_columns], [c.plain for c in table.rows_shown[0].cells], strict=True))
        assert (cells["decode"], cells["prefill"], cells["status"]) == ("81.5 ●", "410 ●", "✓ complete")
        await pilot.press("enter")
        dialog = await on_top(pilot, TextDialog)
        assert "decode_per_request" in dialog.text and "sha256:00ff" in dialog.text
