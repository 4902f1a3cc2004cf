"""A home of its own for every test run, made once, and the program run in this process or as a child."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli.main import main
from planner.workspace import Workspace

ROOT = Path(__file__).parents[2]
TODAY = "2026-12-01"


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    # Reading all profiles and prices into a new database takes seconds: once for all tests that only read.
    return tmp_path_factory.mktemp("home")


_PLANS = {}
_evaluate = Workspace.plan


def _plan_once(self, workload, today):
    key = (workload.model_dump_json(), today)
    if key not in _PLANS:
        _PLANS[key] = _evaluate(self, workload, today)
    return _PLANS[key]


@pytest.fixture(scope="session")
def evaluate():
    """Return the evaluation that the in-process commands share."""
    return _plan_once


@pytest.fixture
def planner(home, monkeypatch, capsys):
    """Run a command in this process; returns (exit code, stdout, stderr). Equal workloads are evaluated once."""
    monkeypatch.setattr(Workspace, "plan", _plan_once)
    monkeypatch.setenv("PLANNER_HOME", str(home))
    monkeypatch.delenv("PLANNER_DEBUG", raising=False)

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    return run


@pytest.fixture
def child(home):
    """Run `python -m planner …` without a terminal; returns the finished process."""

    def run(*arguments, text_in="", **environment):
        names = {**os.environ, "PLANNER_HOME": str(home), **environment}
        command = [sys.executable, "-m", "planner", *map(str, arguments)]
        return subprocess.run(
            command, input=text_in, capture_output=True, text=True, encoding="utf-8", cwd=ROOT, env=names, timeout=120,
            check=False,
        )  # fmt: skip

    return run
