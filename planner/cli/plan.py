"""`planner plan`: the answer to a workload as text, JSON, Markdown or CSV."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

import argparse
import datetime as dt
from typing import TYPE_CHECKING, Any

from planner.cli.output import data, width
from planner.domain.errors import ExitCode, InputError

if TYPE_CHECKING:
    from planner.domain.plan import Plan

DEFAULT_WORKLOAD = "team-80-20"
EXAMPLES = """\
planner plan
planner plan team-80-20 --set demand.users=60 --set money.horizon_months=48
planner plan my-team.toml --json > plan.json
planner plan my-team.toml --explain owned.usd_per_month_all_in"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "plan", help="what each path costs, how fast it is, when buying pays", examples=EXAMPLES,
        description="Compares all ways to serve a workload and ends with the verdict.",
    )  # fmt: skip
    parser.add_argument(
        "workload", nargs="?", default=DEFAULT_WORKLOAD, metavar="WORKLOAD",
        help=f"a workload file or the name of a shipped one (default: {DEFAULT_WORKLOAD})",
    )  # fmt: skip
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the whole plan, every figure labelled, in US dollars")
    form.add_argument("--markdown", action="store_true", help="tables for a page or a pull request")
    form.add_argument("--csv", action="store_true", help="one row per option")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="sets",
        help="change one key of the workload, such as demand.users=60 or mix.0.share=0.7; may be repeated",
    )  # fmt: skip
    parser.add_argument("--explain", metavar="KEY", help="how one figure came about, and what changes it")
    parser.add_argument("--today", type=_date, metavar="DATE", help="plan as of this date (YYYY-MM-DD)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; exit code 1 when nothing feasible was found."""
    from planner.workspace import Workspace

    workspace = Workspace()
    workload = workspace.load_workload(arguments.workload)
    workload = workspace.apply_sets(workload, arguments.sets)
    plan = workspace.plan(workload, arguments.today or dt.date.today())
    data(_rendered(plan, arguments))
    return ExitCode.OK if plan.verdict.recommended_option else ExitCode.NO_ANSWER


def _rendered(plan: Plan, arguments: argparse.Namespace) -> str:
    from planner.report import csv, explain, json, markdown, text

    if arguments.explain:
        explanation = explain.find(plan, arguments.explain)
        if arguments.json:
            return json.dumps(json.document(explanation))
        return explain.render(explanation, width())
    if arguments.json:
        return json.render(plan)
    if arguments.markdown:
        return markdown.render(plan)
    return csv.render(plan) if arguments.csv else text.render(plan, width())


def _date(text: str) -> dt.date:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        raise InputError(f"--today: {text!r} is not a date.", "Write it as 2026-12-01.") from None
