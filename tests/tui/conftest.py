"""One app per test: fixed day, no animation, no blinking cursor, no colour switch from outside."""

import datetime as dt
import os
import re
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import textual
from textual.widgets import Input

sys.path.insert(0, str(Path(__file__).parent))

import tui_sample as sample
from tui_help import SNAPSHOTS, settled

from planner.tui.app import PlannerApp

BASELINE = "8.2.8"
UPDATE = "PLANNER_UPDATE_SNAPSHOTS"
TODAY = dt.date(2026, 12, 1)


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_COLOR_SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr(Input, "cursor_blink", False)


@pytest.fixture
def workspace():
    return sample.FakeWorkspace()


@pytest.fixture
def started(workspace):
    """Return a context manager: the running app and its pilot, with the first plan on the screen."""

    @asynccontextmanager
    async def start(size=(80, 24), theme="planner-dark", workload=None, wait=True, space=None):
        app = PlannerApp(workload, space or workspace, TODAY)
        app.animation_level = "none"
        app.theme = theme
        async with app.run_test(size=size) as pilot:
            if wait:
                await settled(pilot)
            yield app, pilot

    return start


@pytest.fixture
def same_picture():
    """Compare the screen with the stored picture, or store it when asked to and allowed."""

    async def compare(pilot, name):
        await pilot.pause(0.1)  # the footer is composed late
        picture = re.sub(r"terminal-\d+-", "terminal-", pilot.app.export_screenshot(title="planner"))
        path = SNAPSHOTS / f"{name}.svg"
        if os.environ.get(UPDATE):
            if textual.__version__ != BASELINE:
                pytest.fail(f"snapshots are made with Textual {BASELINE}, this is {textual.__version__}")
            path.parent.mkdir(exist_ok=True)
            path.write_text(picture, encoding="utf-8", newline="\n")
            return
        if textual.__version__ != BASELINE:
            pytest.skip(f"snapshots were made with Textual {BASELINE}")
        if picture != path.read_text(encoding="utf-8"):
            failed = Path(os.environ.get("PLANNER_SNAPSHOT_FAILURES", "/tmp/planner-snapshots"))
            failed.mkdir(exist_ok=True)
            (failed / path.name).write_text(picture, encoding="utf-8", newline="\n")
            pytest.fail(f"{name} looks different; see {failed / path.name}, or set {UPDATE}=1 to accept")

    return compare
