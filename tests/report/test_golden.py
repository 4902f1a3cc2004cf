"""One golden file per format, in the format's own extension; UPDATE_GOLDEN=1 rewrites them for review."""

import os
from pathlib import Path

import pytest
import sample_plan

from planner.report import csv, explain, json, markdown, text

GOLDEN = Path(__file__).parent / "golden"
CASES = {
    "plan.txt": lambda: text.render(sample_plan.plan()),
    "plan-euro.txt": lambda: text.render(sample_plan.euro_plan()),
    "plan.json": lambda: json.render(sample_plan.plan()),
    "plan.csv": lambda: csv.render(sample_plan.plan()),
    "plan.md": lambda: markdown.render(sample_plan.plan()),
    "explain.txt": lambda: explain.render(sample_plan.plan().explanations[0]),
}


@pytest.mark.parametrize("name", CASES)
def test_each_format_is_as_it_was_reviewed(name):
    path = GOLDEN / name
    shown = CASES[name]()
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(shown, encoding="utf-8", newline="\n")
    assert shown == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CASES)
def test_the_same_plan_gives_the_same_text(name):
    assert CASES[name]() == CASES[name]()
