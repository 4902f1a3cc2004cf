"""What a command loads: the only proof that it starts without a compiler, a screen or a network client."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEVER = ("textual", "rich", "openai", "llama_cpp", "probes")
HEAVY = (*NEVER, "duckdb", "genai_prices", "numpy", "planner.planning", "planner.performance", "planner.store")


def loaded(home, arguments, names):
    code = (
        "import sys; from planner.__main__ import main; import contextlib, io\n"
        f"sys.argv = ['planner', *{arguments!r}]\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    code = main()\n"
        f"print(code, *[name for name in {names!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120, check=True,
        env={**os.environ, "PLANNER_HOME": str(home)},
    )  # fmt: skip
    return done.stdout.split()


@pytest.mark.parametrize("arguments", [["--help"], ["plan", "--help"], ["probe", "device", "--help"], ["--version"]])
def test_help_loads_neither_screen_nor_store(home, arguments):
    assert loaded(home, arguments, HEAVY) == ["0"]


@pytest.mark.parametrize(
    "arguments",
    [["plan", "--json"], ["plan"], ["probe", "list"], ["profiles", "list", "models"], ["sql", "SELECT 1", "--json"]],
    ids=" ".join,
)
def test_reading_commands_load_no_screen_engine_or_network_client(home, arguments):
    assert loaded(home, arguments, NEVER) == ["0"]
