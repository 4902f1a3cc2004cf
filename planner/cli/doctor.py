"""`planner doctor`: whether everything the planner needs is in order."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from planner.cli.output import data, width
from planner.domain.errors import ExitCode

EXAMPLES = """\
planner doctor
planner doctor --json"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "doctor", help="check the installation, the database and the profiles", examples=EXAMPLES,
        description="Checks everything the planner needs; exit code 5 when a check fails.",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="the checks as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the checks."""
    from planner.report import json
    from planner.report.layout import wrap
    from planner.workspace import Workspace

    checks = Workspace().doctor()
    failed = [check for check in checks if check.status == "fail"]
    if arguments.json:
        data(json.dumps({"ok": not failed, "checks": [dataclasses.asdict(check) for check in checks]}))
    else:
        marks = {"ok": "ok", "warn": "note", "fail": "FAILED"}
        for check in checks:
            text = f"{check.name}: {check.detail}" + (f". {check.hint}" if check.hint else "")
            data("\n".join(wrap(text, width(), f"{marks[check.status]:<8}")) + "\n")
    return ExitCode.ENVIRONMENT if failed else ExitCode.OK
