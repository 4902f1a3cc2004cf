"""`planner estimate`: one speed, time or memory figure, or a table of them."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from planner.cli.estimate_columns import COLUMNS
from planner.cli.output import data, width
from planner.domain.errors import ExitCode, InputError

if TYPE_CHECKING:
    from planner.cli.estimate_query import Query
    from planner.domain.figures import Figure
    from planner.domain.library import Library
    from planner.domain.plan import Explanation

EXAMPLES = """\
planner estimate --hardware rtx-3090 --model gemma-3-27b --quant q4_k_m --engine llama.cpp --kind decode
planner estimate --hardware h100-sxm --count 2 --model gpt-oss-120b --kind aggregate --concurrency 64
planner estimate --hardware local --model gemma-3-27b --quant q4_k_m --kind fits --context 32000
planner estimate --csv questions.csv > answers.csv"""


def add_parser(commands: Any) -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "estimate", help="one speed, time or memory figure, or a CSV of them", examples=EXAMPLES,
        description="Estimates one figure with its interval, basis and source. With --csv, columns are named like "
        "the options,\nwith underscores, and answers are appended as value, low, high, unit, basis, reason.",
    )  # fmt: skip
    for column in COLUMNS:
        parser.add_argument(column.flag, metavar=column.metavar, help=column.help)
    parser.add_argument("--csv", metavar="IN.csv", help="answer every row of this file (`-` reads stdin)")
    parser.add_argument("--json", action="store_true", help="the labelled figure as JSON")
    parser.add_argument("--explain", action="store_true", help="the terms behind the figure")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the figure; exit code 1 when it can't be given, with the reason."""
    from planner.cli.estimate_query import Reader
    from planner.performance.estimate import estimate
    from planner.workspace import Workspace

    cells = {column.name: getattr(arguments, column.name) for column in COLUMNS}
    if arguments.csv is not None:
        return _table(arguments, cells)
    for name in ("hardware", "model", "kind"):
        if not cells[name]:
            raise InputError(f"--{name} is needed.", "See `planner estimate --help`, or give rows with --csv.")
    library = Workspace().library()
    query = Reader(library).read(cells)
    answer = estimate(query.setup, query.kind, **query.conditions, probes=library.probes)
    why = _explanation(query, library) if arguments.explain else None
    data(_as_json(query, answer, why) if arguments.json else _as_text(query, answer, why))
    unknown = not isinstance(answer, bool) and answer.value is None
    return ExitCode.NO_ANSWER if unknown else ExitCode.OK


def _explanation(query: Query, library: Library) -> Explanation:
    from planner.performance.explain import explain

    return explain(query.setup, query.kind, **query.conditions, probes=library.probes)


def _table(arguments: argparse.Namespace, cells: dict[str, Any]) -> int:
    from planner.cli.estimate_csv import answered
    from planner.workspace import Workspace

    given = [column.flag for column in COLUMNS if cells[column.name] is not None]
    if given or arguments.json or arguments.explain:
        other = given[0] if given else "--json" if arguments.json else "--explain"
        raise InputError(f"--csv and {other} don't go together.", "The file's columns say everything.")
    for line in answered(arguments.csv, Workspace().library()):
        data(line)
    return ExitCode.OK


def _as_json(query: Query, answer: Figure | bool, why: Explanation | None) -> str:
    from planner.report import json

    figure = {"value": answer} if isinstance(answer, bool) else json.document(answer)
    document = {"kind": query.kind, **figure}
    if why is not None:
        document["explanation"] = json.document(why)
    return json.dumps(document)


def _as_text(query: Query, answer: Figure | bool, why: Explanation | None) -> str:
    from planner.domain.figures import Speed
    from planner.report import explain
    from planner.report.layout import labelled, wrap

    lines = wrap(f"{query.kind.replace('_', ' ')}: {_value(answer)}", width())
    setup = query.setup
    devices = f"{setup.count}× {setup.hardware.id}" + (f", {setup.split} split" if setup.count > 1 else "")
    lines += labelled("for", f"{setup.model.id} {setup.quant} on {devices} with {setup.engine.id}", width())
    asked = [f"{name.replace('_', ' ')} {value:,}" for name, value in query.conditions.items()]
    lines += labelled("at", ", ".join(asked) or "an empty context, one request", width())
    if not isinstance(answer, bool):
        as_of = f" ({answer.as_of})" if answer.as_of else ""
        lines += labelled("source", f"{answer.source}{as_of}", width())
        if isinstance(answer, Speed) and answer.axes.context_tokens != query.conditions.get("context_tokens", 0):
            lines += labelled("depth", f"{answer.axes.context_tokens:,} tokens of context", width())
    text = "\n".join(lines) + "\n"
    return text + ("\n" + explain.render(why, width()) if why is not None else "")


def _value(answer: Figure | bool) -> str:
    from planner.report.format import MEANINGS, number

    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if answer.value is None:
        return f"unknown: {answer.reason}"
    low, mid, high = answer.range
    return f"{number(mid)} {answer.unit} (80 % between {number(low)} and {number(high)}; {MEANINGS[answer.basis]})"
