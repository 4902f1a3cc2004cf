"""From arguments to an exit code: every failure becomes one line on stderr and a number of the contract."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from planner.cli import doctor, estimate, plan, probe, profiles, sql
from planner.cli.output import is_terminal, say
from planner.cli.parser import Parser, parse
from planner.domain.errors import EnvironmentFault, ExitCode, InputError, PlannerError, nearest

COMMANDS = (plan, estimate, probe, profiles, sql, doctor)
NAMES = ("plan", "estimate", "probe", "profiles", "sql", "doctor")
ROOT_OPTIONS = ("-h", "--help", "--version")
DEBUG = "PLANNER_DEBUG"
NO_MOUSE = "--no-mouse"
Screen = Callable[[str | None, bool], int]
DISK_FULL = 28  # ENOSPC

DESCRIPTION = """\
Should a small team buy GPUs? Compares API, managed cloud, rented and owned machines for your
workload: cost, speed, and when buying pays. Without a command: the program on the whole screen,
or, where there is no terminal, the same as `planner plan`."""

EXAMPLES = """\
planner                                open the last workload on the whole screen
planner my-team.toml                   open a workload file
planner plan team-80-20                the answer as text
planner plan my-team.toml --set demand.users=60 --json
planner probe device --model model.gguf     measure this machine
planner profiles list models           what is known about models"""


def main(arguments: Sequence[str] | None = None, screen: Screen | None = None) -> int:
    """Run one command and return its exit code; never raises and never shows a traceback unasked.

    `screen` opens the program on the whole terminal with a workload (or the last one) and with or without a mouse.
    """
    _safe_streams()
    try:
        code = _dispatch(list(sys.argv[1:] if arguments is None else arguments), screen)
        sys.stdout.flush()
        return code
    except SystemExit as end:  # --help and --version
        return end.code if isinstance(end.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        say("planner: interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader has had enough (`planner sql … | head`). Python would complain at exit while flushing.
        _forget_stdout()
        return ExitCode.OK
    except Exception as error:
        return _report(error)


def build_parser() -> Parser:
    """Return the parser of all commands."""
    parser = Parser(
        prog="planner", description=DESCRIPTION, examples=EXAMPLES,
        usage="planner [WORKLOAD] [--no-mouse]\n       planner COMMAND …",
    )
    parser.add_argument("--version", action="version", version=f"planner {installed_version()}")
    commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", parser_class=Parser, required=True, prog="planner"
    )
    for command in COMMANDS:
        command.add_parser(commands)
    return parser


def installed_version() -> str:
    """Return the version of the installed distribution, or 0 in a bare checkout."""
    try:
        return metadata.version("inference-planner")
    except metadata.PackageNotFoundError:
        return "0"


def _dispatch(arguments: list[str], screen: Screen | None) -> int:
    mouse = NO_MOUSE not in arguments
    arguments = [argument for argument in arguments if argument != NO_MOUSE]
    first = arguments[0] if arguments else ""
    if first in NAMES or first in ROOT_OPTIONS:
        namespace = parse(build_parser(), arguments)
        return int(namespace.run(namespace))
    is_workload = bool(first) and not first.startswith("-")
    if is_workload:
        _no_mistyped_command(first)
    alone = len(arguments) <= 1 and (is_workload or not first)
    if screen and alone and is_terminal(sys.stdin, sys.stdout):
        _check_workload(first)
        return screen(first or None, mouse)
    return _dispatch(["plan", *arguments], None)


def _check_workload(name: str) -> None:
    """Tell a wrong name here, not on a screen that opens another workload."""
    if name and not Path(name).exists():
        from planner.workspace import Workspace

        Workspace().load_workload(name)


def _no_mistyped_command(word: str) -> None:
    looks_like_file = "." in word or os.sep in word or "/" in word
    if looks_like_file or Path(word).exists():
        return
    hint = nearest(word, NAMES)
    if hint:
        raise InputError(f"There is no command {word!r}.", hint)


def _report(error: Exception) -> int:
    if os.environ.get(DEBUG):
        traceback.print_exc(file=sys.stderr)
    known = _known(error)
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    say(f"planner: error: {known.message} {known.hint}".strip())
    return known.exit_code


def _known(error: Exception) -> PlannerError:
    if isinstance(error, PlannerError):
        return error
    if isinstance(error, OSError) and error.errno == DISK_FULL:
        return EnvironmentFault("The disk is full.", "Nothing stored before is lost; free some space and try again.")
    if isinstance(error, PermissionError) and error.filename:
        return EnvironmentFault(f"No permission for {error.filename}.", "Set PLANNER_HOME to a folder of your own.")
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    return EnvironmentFault(
        f"Unexpected: {what}.", f"`planner doctor` checks the installation; {DEBUG}=1 shows where it happened."
    )


def _safe_streams() -> None:
    """Write UTF-8 into pipes and never fail on a character that a terminal lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = None if is_terminal(stream) else "utf-8"
            with contextlib.suppress(ValueError, OSError):
                stream.reconfigure(encoding=encoding, errors="replace")


def _forget_stdout() -> None:
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
