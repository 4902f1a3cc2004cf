"""`planner probe endpoint`: any OpenAI-compatible server; asks before it spends money."""

# ruff: noqa: PLC0415 - `--help` loads neither the store nor the estimators
from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from planner.cli.output import ask, can_ask, say
from planner.domain.errors import InputError

if TYPE_CHECKING:
    from planner.domain.library import Library
    from planner.domain.prices import ApiPrice

EXAMPLES = """\
planner probe endpoint http://localhost:8080/v1 --model gemma-3-27b
planner probe endpoint https://api.example.com/v1 --model NAME --concurrency 1,4 --max-usd 0.20
planner probe endpoint http://localhost:8000/v1 --model NAME --json"""
PASSED_ON = ("concurrency", "prompts", "output", "quant", "engine", "key_env", "max_seconds")
DEFAULT_MAX_USD = 0.5


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
    parser.add_argument("--prompts", metavar="N,N", help="two prompt lengths in tokens (default: 128,1024)")
    parser.add_argument("--output", type=int, metavar="N", help="tokens to generate a request (default: 64)")
    parser.add_argument("--quant", metavar="Q", help="quantisation the server runs, if known")
    parser.add_argument("--engine", metavar="NAME", help="engine the server runs, if known")
    parser.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--max-seconds", type=float, metavar="S", help="time cap (default: 60)")
    parser.add_argument("--max-usd", type=float, metavar="X", help="most money to spend (default: 0.50)")
    parser.add_argument("--usd-per-mtok-in", type=float, metavar="X", help="input price, where none is known here")
    parser.add_argument("--usd-per-mtok-out", type=float, metavar="X", help="output price, where none is known here")
    parser.add_argument("--yes", action="store_true", help="spend without asking")
    parser.add_argument("--json", action="store_true", help="one JSON object a line; the record comes last")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure; where the server costs money, ask first."""
    from planner.cli.probe_run import ConsentError, measure
    from planner.workspace import Workspace

    workspace = Workspace()
    price = price_at(workspace.library(), arguments.base_url, arguments.model)
    if arguments.max_usd is not None and rates(arguments, price) is None:
        say("warning: no price is known here, so --max-usd needs --usd-per-mtok-in and --usd-per-mtok-out")
    if not arguments.yes:
        try:
            return measure(workspace, child_arguments(arguments, price, agreed=False), arguments.json)
        except ConsentError as needed:
            if not can_ask():
                raise InputError(needed.message, "Agree with --yes; --max-usd sets a limit.") from None
            if not ask(question(needed.estimate, limit(arguments, price), price)):
                raise InputError("Nothing was sent.", "--yes agrees beforehand; --max-usd sets a limit.") from None
    return measure(workspace, child_arguments(arguments, price, agreed=True), arguments.json)


def limit(arguments: argparse.Namespace, price: ApiPrice | None) -> float | None:
    """Return the most money to spend: as given, else the default where a price lets the probe count it."""
    if arguments.max_usd is not None:
        return float(arguments.max_usd)
    return DEFAULT_MAX_USD if rates(arguments, price) else None


def rates(arguments: argparse.Namespace, price: ApiPrice | None) -> tuple[float, float] | None:
    """Return dollars per million tokens in and out: as given, else as listed; None where either is unknown."""
    listed = (None, None) if price is None else (price.input_usd_per_mtok, price.output_usd_per_mtok)
    given = (arguments.usd_per_mtok_in, arguments.usd_per_mtok_out)
    rate_in, rate_out = (known if typed is None else typed for typed, known in zip(given, listed, strict=True))
    return None if rate_in is None or rate_out is None else (rate_in, rate_out)


def child_arguments(arguments: argparse.Namespace, price: ApiPrice | None, agreed: bool) -> list[str]:
    """Return the arguments for the child process; a known price lets it count dollars.

    The limit goes along only once the person has agreed: to the child, a limit is consent.
    """
    out = ["endpoint", arguments.base_url, f"--model={arguments.model}"]
    for name in PASSED_ON:
        value = getattr(arguments, name)
        if value is not None:
            out.append(f"--{name.replace('_', '-')}={value}")
    if (found := rates(arguments, price)) is not None:
        out += [f"--usd-per-mtok-in={found[0]}", f"--usd-per-mtok-out={found[1]}"]
    if agreed:
        most = limit(arguments, price)
        out += ["--yes"] if most is None else ["--yes", f"--max-usd={most}"]
    return out


def price_at(library: Library, base_url: str, model: str) -> ApiPrice | None:
    """Return the dearest known price of a model among the providers whose name is part of the server's address."""
    from planner.domain.quant import fold  # pydantic is slow to import, and `--help` doesn't need it

    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:
        return None  # the child tells what is wrong with it
    found = [
        price
        for price in library.prices
        if fold(price.model) == fold(model)
        and price.provider.split("-")[0] in host
        and price.input_usd_per_mtok is not None
        and price.output_usd_per_mtok is not None
    ]
    return max(found, key=lambda price: price.output_usd_per_mtok or 0.0, default=None)


def question(estimate: dict[str, Any], most: float | None, price: ApiPrice | None) -> str:
    """Return what a person has to agree to: requests, tokens and money."""
    tokens = f"{estimate.get('input_tokens', 0):,} input and {estimate.get('output_tokens', 0):,} output tokens"
    usd = estimate.get("usd")
    cost = "at a price that is not known here" if usd is None else f"at most ${usd:.4f}"
    source = f" (price of {price.key}, {price.as_of})" if price else ""
    stop = "" if most is None else f"; it stops at ${most:.2f}"
    requests = estimate.get("requests", 0)
    return f"This server bills by the token: up to {requests} requests, {tokens}, {cost}{source}{stop}. Go on?"
