"""`planner probe …`: measure this machine or an endpoint, and look at what was measured."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

import argparse
from typing import Any

from planner.cli import probe_device, probe_endpoint
from planner.cli.output import data, width
from planner.domain.errors import ExitCode

EXAMPLES = """\
planner probe device --model model.gguf
planner probe endpoint http://localhost:8080/v1 --model gemma-3-27b
planner probe list
planner probe show ID --json"""


def add_parser(commands: Any) -> None:
    """Add the command with its own commands."""
    parser = commands.add_parser(
        "probe", help="measure this machine or an endpoint", examples=EXAMPLES,
        description="Measurements replace estimates in every later plan; each is kept with all its samples.",
    )  # fmt: skip
    actions = parser.add_subparsers(title="commands", dest="action", metavar="COMMAND", required=True)
    probe_device.add_parser(actions)
    probe_endpoint.add_parser(actions)
    listing = actions.add_parser(
        "list", help="all records, newest first", examples="planner probe list\nplanner probe list --json",
        description="Lists the stored probe records, newest first.",
    )  # fmt: skip
    listing.add_argument("--json", action="store_true", help="the whole records as JSON")
    listing.set_defaults(run=_list)
    show = actions.add_parser(
        "show", help="one record in full", examples="planner probe show ID\nplanner probe show ID --json",
        description="Shows one stored probe record.",
    )  # fmt: skip
    show.add_argument("id", metavar="ID", help="as `planner probe list` shows it")
    show.add_argument("--json", action="store_true", help="the whole record with every sample as JSON")
    show.set_defaults(run=_show)


def _list(arguments: argparse.Namespace) -> int:
    from planner.report import json, probe
    from planner.workspace import Workspace

    records = Workspace().probes()
    if arguments.json:
        data(json.dumps([json.document(record) for record in records]))
    else:
        data(probe.listing(records, width()))
    return ExitCode.OK


def _show(arguments: argparse.Namespace) -> int:
    from planner.report import json, probe
    from planner.workspace import Workspace

    record = Workspace().probe(arguments.id)
    data(json.dumps(json.document(record)) if arguments.json else probe.render(record, width()))
    return ExitCode.OK
