"""What the README and the help tell people to type is understood."""

import re
import shlex
from pathlib import Path

import pytest

from planner.cli.main import NAMES, build_parser
from planner.cli.parser import parse
from planner.workspace import Workspace

README = Path(__file__).parents[2] / "README.md"
BLOCK_LINE = re.compile(r"^(?: {4}|\t)(?=.*\bplanner\b)(.+)$", re.M)


def commands():
    """Return the arguments of every `uv run … planner …` in the README's code blocks."""
    found = []
    for line in BLOCK_LINE.findall(README.read_text(encoding="utf-8")):
        for part in line.split("&&"):
            words = shlex.split(part, comments=True)
            if words[:2] == ["uv", "run"] and "planner" in words:
                found.append(words[words.index("planner") + 1 :])
    return found


def test_the_readme_shows_the_main_commands():
    shown = {arguments[0] for arguments in commands() if arguments}
    assert {"plan", "probe"} <= shown
    assert [] in commands()


@pytest.mark.parametrize("arguments", commands(), ids=" ".join)
def test_every_line_of_the_readme_is_understood(home, arguments):
    whole = arguments if arguments and arguments[0] in NAMES else ["plan", *arguments]
    namespace = parse(build_parser(), whole)
    assert callable(namespace.run)
    if whole[0] == "plan" and not namespace.workload.endswith(".toml"):
        workspace = Workspace(home)
        workload = workspace.load_workload(namespace.workload)
        assert workspace.apply_sets(workload, namespace.sets).mix


def examples(parser):
    """Yield the example lines of a parser and of all commands below it."""
    for line in (parser.epilog or "").splitlines():
        if line.startswith("  planner"):
            # Two spaces part a command from its remark; `>` sends the output elsewhere.
            yield re.split(r" {2,}|>", line.strip())[0]
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for sub in action.choices.values():
                yield from examples(sub)


@pytest.mark.parametrize("line", list(dict.fromkeys(examples(build_parser()))))
def test_every_example_of_the_help_is_understood(line):
    words = shlex.split(line)[1:]
    whole = words if words and words[0] in NAMES else ["plan", *words]
    assert callable(parse(build_parser(), whole).run)
