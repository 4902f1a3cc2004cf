"""What a fresh process has loaded: the only proof that a deferred import is deferred."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("duckdb", "textual", "rich", "openai", "llama_cpp", "genai_prices", "tomlkit", "platformdirs")


def loaded(module: str, names: tuple[str, ...]) -> list[str]:
    code = f"import sys, {module}; print(*[name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("layer", ["domain", "performance", "finance", "planning"])
def test_the_core_loads_no_database_screen_or_network(layer: str) -> None:
    code = (
        "import importlib, pkgutil, sys\n"
        f"package = importlib.import_module('planner.{layer}')\n"
        f"for found in pkgutil.walk_packages(package.__path__, 'planner.{layer}.'):\n"
        "    importlib.import_module(found.name)\n"
        f"print(*[name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_command_line_loads_no_textual() -> None:
    assert loaded("planner.cli, planner.__main__", ("textual", "llama_cpp", "openai", "genai_prices")) == []


def test_the_workspace_loads_databases_and_price_maps_only_when_asked() -> None:
    assert loaded("planner.workspace", ("duckdb", "textual", "genai_prices", "llama_cpp", "openai", "probes")) == []
