"""The endpoint probe from checks to record."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

from planner.domain.errors import InputError, ProbeError
from planner.domain.probe import ProbeEngine, ProbeModel
from probes.endpoint.client import IGNORES_EOS, ChatClient
from probes.endpoint.counting import Counter
from probes.endpoint.figures import Label, figures
from probes.endpoint.hosts import Address, parse_address
from probes.endpoint.options import EndpointOptions
from probes.endpoint.prompts import PromptMaker
from probes.endpoint.reply import BUNDLED
from probes.endpoint.spending import Estimate, Meter
from probes.endpoint.sweep import Sweep
from probes.environment import environment
from probes.lifeline import Interrupted, InterruptGuard
from probes.session import EndedBy, RefusalError, Session, Status
from probes.statistics import quantile

LAG_STEP_S = 0.02
LAG_LIMIT_S = 0.005
LAG_SAMPLES = 20
_OWNERS = {"vllm": "vllm", "sglang": "sglang", "llamacpp": "llama.cpp", "library": "ollama"}


def run_endpoint(
    options: EndpointOptions, session: Session, guard: InterruptGuard
) -> tuple[Status, EndedBy]:
    """Run the probe into `session`; raises InputError or RefusalError before a request, ProbeError after."""
    options.check()
    address = parse_address(options.base_url)
    estimate = options.estimate()
    _ask_for_money(options, address, estimate)
    key = _key(options, address, session)
    session.emitter.secret = key
    session.hardware = address.host
    session.model = ProbeModel(id=options.model, quant=options.quant)
    session.engine = ProbeEngine(name=options.engine or "as served")
    session.environment = environment()
    session.settings |= options.settings() | {"estimate": _estimate_dict(options, estimate)}
    session.settings["provider"] = address.provider
    session.start(base_url=address.url, model=options.model, estimate=_estimate_dict(options, estimate))
    try:
        return asyncio.run(_probe(options, session, guard, address, key))
    except asyncio.CancelledError:
        raise Interrupted from None


async def _probe(
    options: EndpointOptions, session: Session, guard: InterruptGuard, address: Address, key: str | None
) -> tuple[Status, EndedBy]:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    guard.on_request = lambda: loop.call_soon_threadsafe(task.cancel)
    guard.check()
    client = ChatClient(address, options.model, key, options.timeout_s, max(options.concurrency))
    sweep = _sweep(options, session, client)
    lags: list[float] = []
    watcher = asyncio.create_task(_watch_lag(lags))
    try:
        session.settings["connect_ms"] = await _connect_ms(address)
        await _recognise(options, session, client)
        await sweep.run()
    finally:
        watcher.cancel()
        _conclude(options, session, sweep, lags)
        await client.close()
    return _outcome(session, sweep)


def _sweep(options: EndpointOptions, session: Session, client: ChatClient) -> Sweep:
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(6))
    session.settings["seed"] = seed
    estimate = options.estimate()
    # Twice the estimate bounds a server that miscounts or goes on beyond the asked length.
    bound = 2 * (estimate.input_tokens + estimate.output_tokens)
    meter = Meter(options.usd_per_mtok_in, options.usd_per_mtok_out, options.max_usd, bound)
    return Sweep(options, session, client, meter, PromptMaker(seed), Counter(options.output_tokens))


async def _recognise(options: EndpointOptions, session: Session, client: ChatClient) -> None:
    owner = await client.owner()
    session.settings["owned_by"] = owner
    if options.engine is None and owner and owner.casefold() in _OWNERS:
        session.engine = ProbeEngine(name=_OWNERS[owner.casefold()])
    # Servers that do not know it ignore it, as a rule; paid ones refuse what they do not know.
    client.dialect.min_tokens = client.address.paid is None
    client.dialect.ignore_eos = session.engine.name in IGNORES_EOS
    if client.address.paid == "api.openai.com":
        client.dialect.length_field, client.dialect.temperature = "max_completion_tokens", False


def _conclude(options: EndpointOptions, session: Session, sweep: Sweep, lags: list[float]) -> None:
    """Turn what was measured into figures and warnings, also after an interrupt."""
    axes = {
        "model": options.model, "quant": options.quant, "engine": session.engine.name, "hardware": session.hardware,
        "kv_quant": "unknown",
    }  # fmt: skip
    label = Label(session.id, session.today, axes)
    session.figures += figures(sweep.requests, label, options.output_tokens)
    session.settings["dialect"] = vars(sweep.client.dialect)
    session.settings["requests"] = {
        "sent": sweep.meter.requests, "failed": dict(sweep.meter.by_error),
        "input_tokens": sweep.meter.input_tokens, "output_tokens": sweep.meter.output_tokens,
        "usd": sweep.meter.usd,
    }  # fmt: skip
    if lags:
        session.settings["event_loop_lag_ms"] = {"p95": _ms(quantile(lags, 0.95)), "max": _ms(max(lags))}
        if len(lags) >= LAG_SAMPLES and quantile(lags, 0.95) > LAG_LIMIT_S:
            session.warn("client_busy", "This machine was too busy to stamp chunks exactly; times are too long.")
    _warn(session, sweep)


def _warn(session: Session, sweep: Sweep) -> None:
    ok = [request for request in sweep.requests if request.reply.ok]
    if sweep.counter.implausible:
        text = f"In {sweep.counter.implausible} replies the server's token count can't be right; chunks count."
        session.warn("usage_implausible", text)
    if any(request.reply.buffered for request in ok):
        session.warn("buffered", "The stream arrives in bursts: something on the way buffers it, so no TPOT.")
    counted = [request for request in ok if request.counted.source == "usage"]
    ratios = [request.reply.tokens_per_chunk(request.counted.n_out) for request in counted]
    bundled = [ratio for ratio in ratios if ratio is not None]
    if bundled and quantile(bundled, 0.5) > BUNDLED:
        text = f"{quantile(bundled, 0.5):.2f} tokens a chunk: the server bundles tokens or decodes speculatively."
        session.warn("bundled", text)
    if any((request.reply.n_cached or 0) > 0 for request in ok):
        session.warn("cached", "The server counts cached tokens even in new prompts; they are left out.")
    if any(request.reply.overrun for request in ok):
        session.warn("overrun", "The server ignores the length limit; its streams were cut.")
    short = sum(request.reply.finish_reason == "stop" and _short(request) for request in ok)
    if short:
        session.warn("short_output", f"{short} of {len(ok)} answers ended too early to give a speed.")
    _warn_cut(session, sweep)


def _short(request: Any) -> bool:
    return request.tpot[0] is None and (request.counted.n_out or 0) < 16


def _warn_cut(session: Session, sweep: Sweep) -> None:
    """Notice a server that silently shortens long prompts: its count stops growing."""
    by_length: dict[int, int] = {}
    for request in sweep.requests:
        if request.reply.ok and request.n_prompt:
            by_length[request.prompt_length] = request.n_prompt
    if len(by_length) < 2:
        return
    short, long = min(by_length), max(by_length)
    if by_length[long] < 0.7 * by_length[short] * long / short and by_length[long] < 0.8 * long:
        text = f"Of prompts of {long} tokens the server counts {by_length[long]}: it cuts them to its context."
        session.warn("prompt_cut", text)


def _outcome(session: Session, sweep: Sweep) -> tuple[Status, EndedBy]:
    ended: dict[str, EndedBy] = {"time_cap": "time_cap", "budget": "budget", "error": "error"}
    ended_by = ended[sweep.stopped] if sweep.stopped else "time_cap" if sweep.hurried else "precision"
    if not any(request.reply.ok for request in sweep.requests):
        if sweep.stopped == "budget":
            return "partial", "budget"
        if sweep.stopped == "time_cap":
            raise ProbeError("The time ran out before a request was answered.", "Raise --max-seconds.")
        raise ProbeError("No request was answered.", "See the errors above.")
    failed = any(not request.reply.ok for request in sweep.requests)
    return ("partial" if sweep.stopped or failed else "complete"), ended_by


def _ask_for_money(options: EndpointOptions, address: Address, estimate: Estimate) -> None:
    priced = options.usd_per_mtok_in is not None and options.usd_per_mtok_out is not None
    details = _estimate_dict(options, estimate)
    if options.max_usd is not None and not priced:
        raise InputError(
            "--max-usd needs the prices to count with.", "Add --usd-per-mtok-in and --usd-per-mtok-out."
        )
    if address.paid is None and not priced:
        return
    if not options.yes and options.max_usd is None:
        usd = "" if details["usd"] is None else f", at most about ${details['usd']:.4f}"
        raise RefusalError(
            "needs_yes",
            f"{address.host} costs money: {details['requests']} requests, {details['input_tokens']} input and "
            f"{details['output_tokens']} output tokens{usd}.",
            "Agree with --yes, or set a limit with --max-usd.",
            estimate=details,
        )


def _estimate_dict(options: EndpointOptions, estimate: Estimate) -> dict[str, Any]:
    return estimate.as_dict(options.usd_per_mtok_in, options.usd_per_mtok_out)


def _key(options: EndpointOptions, address: Address, session: Session) -> str | None:
    name = address.key_name(options.key_env)
    if name is None:
        if os.environ.get("OPENAI_API_KEY"):
            text = "The address is not encrypted, so no key is sent; name one with --key-env if it needs it."
            session.warn("no_key_sent", text)
        return None
    key = os.environ.get(name, "").strip()
    if not key and (options.key_env or address.paid):
        raise InputError(f"The environment variable {name} is not set.", "It must hold the endpoint's key.")
    if not key.isascii() or any(letter.isspace() for letter in key):
        raise InputError(f"The environment variable {name} holds no usable key.")
    return key or None


async def _connect_ms(address: Address) -> float | None:
    """Return the time of a TCP handshake, a measure of the network's round trip; None when it fails."""
    started = time.perf_counter()
    try:
        async with asyncio.timeout(3.0):
            _, writer = await asyncio.open_connection(address.host, address.port)
    except (OSError, TimeoutError):
        return None
    took = time.perf_counter() - started
    writer.close()
    return _ms(took)


async def _watch_lag(lags: list[float]) -> None:
    """Note how late this loop wakes up: the error of every time stamp."""
    while True:
        planned = time.perf_counter() + LAG_STEP_S
        await asyncio.sleep(LAG_STEP_S)
        lags.append(max(0.0, time.perf_counter() - planned))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 4)
