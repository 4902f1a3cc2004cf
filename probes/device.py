"""Measures one real model on this machine: prefill at several prompt lengths, decode at several depths."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from planner.domain.errors import InputError, ProbeError
from planner.domain.figures import Axes, Basis, Speed, unknown_speed
from planner.domain.probe import Measure, ProbeEngine, ProbeModel
from planner.domain.units import gib
from probes import environment, gpus, processors
from probes.cases import Case, CaseRunner, choose_depths, choose_prompts
from probes.lifeline import InterruptGuard
from probes.llama import ContextSettings, Engine, load_bindings
from probes.machine import add_bandwidth
from probes.memory_use import peak_rss, rss
from probes.model_file import KV_TYPES, ModelFile, check_memory, open_model
from probes.repeat import Series
from probes.session import EndedBy, Session, Status

MAX_TOKENS = 1 << 20


@dataclass(frozen=True)
class DeviceOptions:
    """What a person can choose for a device probe. Empty prompts or depths: chosen to fit the time."""

    model: Path
    model_id: str | None = None
    prompts: tuple[int, ...] = ()
    depths: tuple[int, ...] = ()
    threads: int | None = None
    gpu_layers: int = -1
    kv_quant: str = "f16"
    flash_attention: bool = True
    n_batch: int = 2048
    n_ubatch: int = 512
    precision: float = 0.03
    max_seconds: float = 40.0
    seed: int | None = None
    machine: bool = True
    """Also measure the memory bandwidth, after the model is gone."""
    verbose: bool = False


def run_device(options: DeviceOptions, session: Session, guard: InterruptGuard) -> tuple[Status, EndedBy]:
    """Run the probe into `session`; raises InputError or Refusal before loading, ProbeError after."""
    _check(options)
    model = open_model(options.model)
    _check_lengths(options, model)
    lib = load_bindings()
    offload = bool(lib.llama_supports_gpu_offload()) and options.gpu_layers != 0
    _describe(options, session, model)
    session.environment = environment.environment()
    threads = options.threads or processors.default_threads()
    session.settings |= _settings(options, threads)
    tokens = max((*options.prompts, *options.depths, 512)) + 256
    session.settings["memory"] = _check_fit(options, model, tokens, offload)
    _warn_about_machine(session)
    guard.check()

    session.start(model=session.model.id, file=str(model.path), max_seconds=options.max_seconds)
    session.progress("load", 0.0)
    before = rss()
    engine = Engine.load(lib, model.path, options.gpu_layers, options.verbose)
    guard.check()
    session.environment |= {"engine": engine.facts()}
    session.engine = _engine(session, options, engine, offload, threads)
    session.figures.append(_measure(session, "load_time", engine.load_s, "s", "file to memory, no mmap"))
    try:
        outcome = _measure_cases(options, session, guard, engine, model, threads, offload)
    finally:
        _memory_figure(session, before)
        session.environment["gpu_after"] = gpus.nvidia() or None
        session.environment["load_average_after"] = environment.load_average()
        engine.close()
    if options.machine:
        _machine(session, threads)
    session.progress("done", 1.0)
    return outcome


def _machine(session: Session, threads: int) -> None:
    session.progress("memory bandwidth", 0.95)
    try:
        add_bandwidth(session, threads)
    except ProbeError as error:
        session.warn("no_bandwidth", error.message)


def _measure_cases(
    options: DeviceOptions,
    session: Session,
    guard: InterruptGuard,
    engine: Engine,
    model: ModelFile,
    threads: int,
    offload: bool,
) -> tuple[Status, EndedBy]:
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(6))
    session.settings["seed"] = seed
    base = ContextSettings(
        n_ctx=512,
        n_threads=threads,
        n_batch=options.n_batch,
        n_ubatch=min(options.n_ubatch, options.n_batch),
        kv_quant=options.kv_quant,
        flash_attention=options.flash_attention,
    )
    budget_s = max(1.0, options.max_seconds - session.elapsed())
    runner = CaseRunner(engine, session, guard, base, random.Random(seed), None if offload else threads)
    rate = runner.calibrate()
    facts = model.header.facts()
    prompts = options.prompts or choose_prompts(rate, budget_s, facts["max_context"])
    depths = options.depths or choose_depths(rate, budget_s, facts["max_context"])
    cases = [*(Case("prefill", n) for n in prompts), *(Case("decode_per_request", n) for n in depths)]
    runner.rng.shuffle(cases)
    session.settings |= {"prompts": list(prompts), "depths": list(depths), "order": [str(case) for case in cases]}
    session.settings |= {"flash_attention": runner.base.flash_attention, "metrics": []}
    session.engine = replace_flags(session.engine, flash_attention=runner.base.flash_attention)

    complete, precise = True, True
    for index, case in enumerate(cases):
        remaining = options.max_seconds - session.elapsed()
        weight = case.weight / sum(later.weight for later in cases[index:])
        session.progress(str(case), 0.05 + 0.9 * index / len(cases))
        series, reason = runner.run(case, precision=options.precision, cap_s=remaining * weight, rate=rate)
        if series.steps:
            session.figures.append(_speed(session, case, series, options))
            precise = precise and series.stop == "precision"
        else:
            complete = False
            axes = _axes(session, case, options)
            session.figures.append(unknown_speed(case.kind, axes, Basis.MEASURED, reason, "device probe"))
    return ("complete" if complete else "partial"), ("precision" if complete and precise else "time_cap")


def replace_flags(engine: ProbeEngine, **flags: Any) -> ProbeEngine:
    """Return the engine with more flags."""
    return engine.model_copy(update={"flags": {**engine.flags, **flags}})


def _check(options: DeviceOptions) -> None:
    positive = {"--threads": options.threads, "--batch": options.n_batch, "--ubatch": options.n_ubatch}
    for flag, value in positive.items():
        if value is not None and not 1 <= value <= 65_536:
            raise InputError(f"{flag} is {value}; it must lie between 1 and 65536.")
    if not 0.001 <= options.precision <= 0.5:
        raise InputError(f"--precision is {options.precision}; give a fraction such as 0.03.")
    if not 1 <= options.max_seconds <= 86_400:
        raise InputError(f"--max-seconds is {options.max_seconds}; it must lie between 1 and 86400.")
    if options.gpu_layers < -1:
        raise InputError(f"--gpu-layers is {options.gpu_layers}; -1 means all layers.")
    if options.kv_quant not in KV_TYPES:
        raise InputError(f"--kv-quant {options.kv_quant!r} is unknown.", f"Known: {', '.join(KV_TYPES)}.")
    if options.kv_quant not in ("f16", "f32", "bf16") and not options.flash_attention:
        raise InputError("A quantised KV cache needs flash attention.", "Leave out --no-flash-attention.")


def _check_lengths(options: DeviceOptions, model: ModelFile) -> None:
    longest = model.header.facts()["max_context"] or MAX_TOKENS
    for flag, values, least in (("--prompts", options.prompts, 1), ("--depths", options.depths, 0)):
        for value in values:
            if not least <= value <= min(longest, MAX_TOKENS) - 1:
                raise InputError(f"{flag} has {value}; this model takes {least} to {min(longest, MAX_TOKENS) - 1}.")


def _check_fit(options: DeviceOptions, model: ModelFile, tokens: int, offload: bool) -> dict[str, float]:
    layers = (model.header.facts()["layers"] or 0) + 1
    gpu_bytes = gpus.free_bytes() if offload else None
    share = 1.0 if options.gpu_layers < 0 else min(1.0, options.gpu_layers / layers)
    return check_memory(
        model,
        tokens=tokens,
        kv_quant=options.kv_quant,
        gpu_share=share if gpu_bytes is not None else 0.0,
        host_bytes=environment.available_memory(),
        gpu_bytes=gpu_bytes,
    )


def _describe(options: DeviceOptions, session: Session, model: ModelFile) -> None:
    facts = model.facts()
    session.model = ProbeModel(
        id=options.model_id or model.id,
        hash=f"sha256:{model.sha256}",
        file=str(model.path),
        weights="real",
        quant=facts["quant"],
        facts=facts,
    )


def _settings(options: DeviceOptions, threads: int) -> dict[str, Any]:
    return {
        "precision": options.precision,
        "max_seconds": options.max_seconds,
        "threads": threads,
        "threads_chosen_by": "user" if options.threads else "physical cores, affinity and quota",
        "gpu_layers": options.gpu_layers,
        "kv_quant": options.kv_quant,
        "flash_attention_requested": options.flash_attention,
        "definitions": "prefill = prompt tokens / wall time; decode = 1 / median step; no sampling; random tokens",
    }


def _engine(
    session: Session, options: DeviceOptions, engine: Engine, offload: bool, threads: int
) -> ProbeEngine:
    flags = {
        "n_gpu_layers": options.gpu_layers if offload else 0,
        "gpu_offload": offload,
        "n_threads": threads,
        "n_batch": options.n_batch,
        "n_ubatch": options.n_ubatch,
        "kv_quant": options.kv_quant,
        "load_mode": "none",
        "repack": True,
    }
    return ProbeEngine(name="llama.cpp", build=engine.build(), flags=flags)


def _axes(session: Session, case: Case, options: DeviceOptions) -> Axes:
    return Axes(
        context_tokens=0 if case.kind == "prefill" else case.tokens,
        prompt_tokens=case.tokens if case.kind == "prefill" else None,
        concurrency=1,
        model=session.model.id,
        quant=session.model.quant or "unknown",
        kv_quant=options.kv_quant,
        engine="llama.cpp",
        engine_build=session.engine.build,
        hardware="local",
    )


def _speed(session: Session, case: Case, series: Series, options: DeviceOptions) -> Speed:
    summary = series.summary()
    tokens = case.tokens if case.kind == "prefill" else 1
    low = tokens / summary.high if summary.high else None
    high = tokens / summary.low if summary.low else None
    notes = [f"{summary.n} samples", "interval of the median within this launch; launches differ more"]
    if series.busy:
        # A median among other programs says little; the spread of the steps is the honest interval.
        low, high = tokens / summary.p90, tokens / summary.p10
        notes = [f"{summary.n} samples on a busy machine, 80 % of them within the interval"]
    if series.drift is not None:
        notes.append(f"sustained, after {(series.drift.ratio - 1):.0%} slow-down")
    return Speed(
        value=tokens / summary.median,
        low=low,
        high=high,
        unit="tok/s",
        kind=case.kind,
        axes=_axes(session, case, options),
        basis=Basis.MEASURED,
        source=f"device probe {session.id}: {'; '.join(notes)}",
        as_of=session.today,
    )


def _measure(
    session: Session, kind: Literal["load_time", "memory_total"], value: float, unit: str, what: str
) -> Measure:
    source = f"device probe {session.id}: {what}"
    return Measure(kind=kind, value=value, unit=unit, basis=Basis.MEASURED, source=source, as_of=session.today)


def _memory_figure(session: Session, before: int | None) -> None:
    peak = peak_rss()
    if peak is not None and before is not None and peak > before:
        what = "growth of this process's resident memory to its peak (host memory only)"
        session.figures.append(_measure(session, "memory_total", gib(peak - before), "GiB", what))


def _warn_about_machine(session: Session) -> None:
    facts = session.environment
    if facts["power"] == "battery":
        session.warn("battery", "On battery: many machines run slower. Plug it in for a figure to plan with.")
    load, cpus = facts["load_average"], facts["logical_cpus"]
    if load is not None and load > 0.5 * cpus:
        session.warn("busy", f"Other programs use this machine (load {load} on {cpus} processors).")
    for gpu in facts["gpu"]:
        if (gpu.get("utilisation_percent") or 0) > 10:
            session.warn("gpu_busy", f"{gpu['name']} is already {gpu['utilisation_percent']:.0f} % busy.")
