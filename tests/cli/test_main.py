"""Exit codes, one line per error, and help."""

import errno
import os
import subprocess
import sys

import pytest

from planner.cli import main as module
from planner.cli.main import NAMES, build_parser, main
from planner.domain.errors import EnvironmentFault, InputError, NoAnswerError, ProbeError


def test_all_commands_are_listed_and_none_that_waits(planner):
    code, out, _ = planner("--help")
    assert code == 0
    for name in NAMES:
        assert f"\n    {name} " in out
    for later in ("validate", "scenario", "serve", "claim", "import"):
        assert f"\n    {later} " not in out


def _commands(parser, path=()):
    yield path
    for action in parser._actions:
        if hasattr(action, "choices") and isinstance(action.choices, dict):
            for name, sub in action.choices.items():
                yield from _commands(sub, (*path, name))


@pytest.mark.parametrize("path", list(_commands(build_parser())), ids=" ".join)
def test_every_command_has_help_with_examples(planner, path):
    code, out, err = planner(*path, "--help")
    assert (code, err) == (0, "")
    assert "examples:\n  planner" in out


@pytest.mark.parametrize(
    ("arguments", "wrong", "hint"),
    [
        (["plan", "--jsn"], "Unknown option --jsn.", "'--json'"),
        (["probe", "list", "--jso"], "Unknown option --jso.", "'--json'"),
        (["estimate", "--hardwear", "x"], "Unknown option --hardwear.", "'--hardware'"),
        (["probe", "devise"], "there is no 'devise'", "'device'"),
        (["estimat"], "There is no command 'estimat'.", "'estimate'"),
        (["plan", "a", "b"], "Unexpected argument 'b'", "planner plan --help"),
        (["plan", "--today", "tomorrow"], "'tomorrow' is not a date", "2026-12-01"),
        (["plan", "--json", "--csv"], "not allowed with argument", "planner plan --help"),
        (["probe", "endpoint", "http://x", "--model", "m", "--max-usd", "much"], "'much' is not a number", ""),
        (["sql"], "required: QUERY", ""),
        (["plan", "--set"], "expected one argument", ""),
    ],
)
def test_wrong_arguments_name_the_nearest_right_one(planner, arguments, wrong, hint):
    code, out, err = planner(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("planner: error: ")
    assert wrong in err
    assert hint in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NoAnswerError("nothing"), 1),
        (InputError("wrong"), 2),
        (ProbeError("failed"), 4),
        (EnvironmentFault("locked"), 5),
        (OSError(errno.ENOSPC, "No space left on device"), 5),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), 5),
        (ZeroDivisionError("division by zero"), 5),
        (KeyboardInterrupt(), 130),
        (SystemExit(3), 3),
    ],
    ids=repr,
)
def test_every_failure_has_its_exit_code_and_no_traceback(planner, monkeypatch, error, code):
    def fail(*_):
        raise error

    monkeypatch.setattr(module, "_dispatch", fail)
    found, out, err = planner("plan")
    assert found == code
    assert "Traceback" not in err
    assert out == ""
    assert err.count("\n") == (0 if isinstance(error, SystemExit) else 1)


def test_a_traceback_is_shown_only_when_asked_for(planner, monkeypatch):
    monkeypatch.setattr(module, "_dispatch", lambda *_: 1 / 0)
    monkeypatch.setenv("PLANNER_DEBUG", "1")
    _, _, err = planner("plan")
    assert "Traceback" in err
    assert err.splitlines()[-1].startswith("planner: error: Unexpected: ZeroDivisionError")


def test_errors_about_hostile_names_stay_harmless(planner):
    code, _, err = planner("plan", "\x1b[31mred\x1b[0m\n.toml")
    assert code == 2
    assert "\x1b" not in err
    assert err.count("\n") == 1


def test_a_terminal_opens_the_screen_with_the_workload(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(module, "is_terminal", lambda *_: True)
    workload = tmp_path / "mine.toml"
    workload.write_text("")

    def screen(name, mouse):
        seen.append((name, mouse))
        return 0

    assert main([], screen) == 0
    assert main([str(workload), "--no-mouse"], screen) == 0
    assert seen == [(None, True), (str(workload), False)]


def test_a_wrong_workload_is_told_before_the_screen_opens(planner, monkeypatch):
    monkeypatch.setattr(module, "is_terminal", lambda *_: True)

    def screen(name, mouse):
        raise AssertionError("must not open")

    assert main(["no-such-team.toml"], screen) == 2


def test_a_reader_that_has_had_enough_is_no_error(home):
    # A pipe whose reader is gone before the first line: what `planner … | head -0` does.
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "planner", "profiles", "list", "prices"], stdout=writer, stderr=subprocess.PIPE,
        env={**os.environ, "PLANNER_HOME": str(home)}, text=True, timeout=120, check=False,
    )  # fmt: skip
    os.close(writer)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.returncode == 0


def test_output_survives_a_terminal_that_lacks_the_characters(child):
    done = child("doctor", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
