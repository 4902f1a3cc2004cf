"""README's blocks are the program's own output; `PLANNER_UPDATE_README=1` rewrites them for review."""

import datetime
import os
import re
from pathlib import Path

import pytest

from planner.report import text
from planner.validation import accuracy
from planner.workspace import Workspace

README = Path(__file__).parent.parent / "README.md"
TODAY = datetime.date(2026, 12, 1)
SHOWN = ("THE WORK", "WHAT EACH PATH COSTS", "HOW FAST IT FEELS", "BATCH JOBS", "VERDICT")


def block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name}: start -->\n```text\n)(.*?)(\n```\n<!-- {name}: end -->)", re.S)


def compare(name: str, expected: str) -> None:
    source = README.read_text(encoding="utf-8")
    found = block(name).search(source)
    assert found, f"README has no block {name}"
    if os.environ.get("PLANNER_UPDATE_README"):
        README.write_text(block(name).sub(lambda m: m[1] + expected + m[3], source), encoding="utf-8")
    else:
        assert found[2] == expected


def sections(output: str) -> str:
    parts = re.split(r"\n(?=[A-Z][A-Z ,]+(?:  |\n|$))", output)
    return "\n".join(part.rstrip("\n") + "\n" for part in parts if part.startswith(SHOWN)).rstrip()


def test_the_plan_in_the_readme_is_what_the_program_prints(tmp_path):
    workspace = Workspace(tmp_path)
    plan = workspace.plan(workspace.load_workload("team-80-20"), TODAY)
    compare("plan", sections(text.render(plan)))


@pytest.mark.slow
def test_the_accuracy_table_is_what_cross_validation_gives():
    table = accuracy.markdown(accuracy.scores(accuracy.measured()))
    pattern = re.compile(r"(<!-- accuracy: start -->\n)(.*?)(\n<!-- accuracy: end -->)", re.S)
    source = README.read_text(encoding="utf-8")
    found = pattern.search(source)
    assert found
    if os.environ.get("PLANNER_UPDATE_README"):
        README.write_text(pattern.sub(lambda m: m[1] + table + m[3], source), encoding="utf-8")
        return
    shown, now = found[2].splitlines(), table.splitlines()
    assert [line.split("|")[1:3] for line in shown] == [line.split("|")[1:3] for line in now]
    for line, fresh in zip(shown[2:], now[2:], strict=True):
        numbers, new = (re.findall(r"(\d+)%", text) for text in (line, fresh))
        # Processors add up in different orders: the last digits may differ, the message may not.
        assert [int(n) for n in numbers] == pytest.approx([int(n) for n in new], abs=3, rel=0.05), fresh


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!http)[^)]+)\)", README.read_text(encoding="utf-8")))
def test_links_to_files_lead_somewhere(target):
    assert (README.parent / target).exists()
