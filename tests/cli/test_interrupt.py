"""Ctrl-C on the real process, at different moments."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Says on stdout when the interesting moment has come, then goes on as the real program would.
STARTED = """
import sys
from planner.workspace import Workspace
import planner.__main__ as program
inner = Workspace.{method}
def told(self, *arguments):
    print("here", flush=True)
    return inner(self, *arguments)
Workspace.{method} = told
sys.argv = ["planner", *{arguments!r}]
sys.exit(program.main())
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("load_workload", ["plan", "--json"]),
        ("plan", ["plan"]),
        ("sql", ["sql", "SELECT max(a.range ^ b.range) FROM range(1000000) AS a, range(1000000) AS b"]),
    ],
    ids=["plan-reading", "plan-computing", "sql"],
)
def test_ctrl_c_ends_in_one_line_and_130(home, method, arguments):
    code = STARTED.format(method=method, arguments=arguments)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PLANNER_HOME": str(home)},
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "here\n"
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "planner: interrupted\n"
    assert out == ""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_while_python_tidies_up_changes_nothing(home):
    code = (
        "import atexit, os, signal, sys\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "import planner.__main__ as program\n"
        "sys.argv = ['planner', '--version']\n"
        "sys.exit(program.main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
        env={**os.environ, "PLANNER_HOME": str(home)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("planner ")
