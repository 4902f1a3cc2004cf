"""Measures one real model on this machine: prefill at several prompt lengths, decode at several depths."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import Any, Literal

from planner.domain.errors import ProbeError
from planner.domain.figures import Axes, Basis, Speed, unknown_speed
from planner.domain.probe import Measure, ProbeEngine, ProbeModel
from planner.domain.units import gib
from probes import environment, gpus, processors
from probes.cases import HEADROOM_TOKENS, Case, CaseRunner, choose_depths, choose_prompts
from probes.device_options import DeviceOptions
from probes.lifeline import InterruptGuard
from probes.llama import ContextSettings, Engine, load_bindings
from probes.machine import add_bandwidth
from probes.memory_use import peak_rss, rss
from probes.model_file import ModelFile, check_memory, open_model
from probes.repeat import Series
from probes.session import EndedBy, Session, Status


def run_device(
    options: DeviceOptions, session: Session, guard: InterruptGuard
) -> tuple[Status, EndedBy]:
    """Run the probe into `session`; raises InputError or RefusalError before loading, ProbeError after."""
    options.check()
    model = open_model(options.model)
    options.check_lengths(model)
    lib = load_bindings()
    offload = bool(lib.llama_supports_gpu_offload()) and options.gpu_layers != 0
    probe = _DeviceProbe(options, session, guard, model, offload)
    probe.prepare()
    session.start(model=session.model.id, file=str(model.path), max_seconds=options.max_seconds)
    session.progress("load", 0.0)
    before = rss()
    engine = Engine.load(lib, model.path, options.gpu_layers, options.verbose)
    try:
        guard.check()
        probe.describe_engine(engine)
        outcome = probe.measure(engine)
    finally:
        probe.look_back(before)
        engine.close()
    if options.machine:
        probe.machine()
    session.progress("done", 1.0)
    return outcome


@dataclass
class _DeviceProbe:
    options: DeviceOptions
    session: Session
    guard: InterruptGuard
    model: ModelFile
    offload: bool

    def __post_init__(self) -> None:
        self.threads = self.options.threads or processors.default_threads()

    def prepare(self) -> None:
        """Describe model and machine, and refuse a model that does not fit; nothing is loaded yet."""
        facts = self.model.facts()
        self.session.model = ProbeModel(
            id=self.options.model_id or self.model.id,
            hash=f"sha256:{self.model.sha256}",
            file=str(self.model.path),
            quant=facts["quant"],
            facts=facts,
        )
        self.session.environment = environment.environment()
        self.session.settings |= self.options.settings(self.threads)
        self.session.settings["memory"] = self._check_fit()
        self._warn_about_machine()
        self.guard.check()

    def describe_engine(self, engine: Engine) -> None:
        """Store build, flags and load time."""
        options = self.options
        self.session.environment["engine"] = engine.facts()
        flags = {
            "n_gpu_layers": options.gpu_layers if self.offload else 0,
            "gpu_offload": self.offload,
            "n_threads": self.threads,
            "n_batch": options.n_batch,
            "n_ubatch": options.n_ubatch,
            "kv_quant": options.kv_quant,
            "load_mode": "none",
            "repack": True,
        }
        self.session.engine = ProbeEngine(name="llama.cpp", build=engine.build(), flags=flags)
        self._add("load_time", engine.load_s, "s", "file to memory, no mmap")

    def measure(self, engine: Engine) -> tuple[Status, EndedBy]:
        """Run all cases in random order, each in a fresh context, and add their figures."""
        seed = self.options.seed if self.options.seed is not None else int.from_bytes(os.urandom(6))
        budget_s = max(1.0, self.options.model_seconds - self.session.elapsed())
        threads = None if self.offload else self.threads
        runner = CaseRunner(
            engine, self.session, self.guard, self._context_settings(), random.Random(seed), threads
        )
        rate = runner.calibrate()
        cases = self._cases(runner, rate, budget_s)
        self.session.settings |= {"seed": seed, "flash_attention": runner.base.flash_attention}
        flags = {**self.session.engine.flags, "flash_attention": runner.base.flash_attention}
        self.session.engine = self.session.engine.model_copy(update={"flags": flags})
        stops = [self._case(runner, cases, index, rate) for index in range(len(cases))]
        complete = all(stop != "skipped" for stop in stops)
        precise = all(stop == "precision" for stop in stops)
        return ("complete" if complete else "partial"), ("precision" if precise else "time_cap")

    def look_back(self, rss_before: int | None) -> None:
        """Store what the run did to the machine: peak memory, load, GPU state."""
        peak = peak_rss()
        if peak is not None and rss_before is not None and peak > rss_before:
            what = "growth of the process's resident memory to its peak (host memory only)"
            self._add("memory_total", gib(peak - rss_before), "GiB", what)
        self.session.environment["gpu_after"] = gpus.nvidia() or None
        self.session.environment["load_average_after"] = environment.load_average()

    def machine(self) -> None:
        """Measure the memory bandwidth, now that the model is gone."""
        self.guard.check()
        self.session.progress("memory bandwidth", 0.95)
        try:
            add_bandwidth(self.session, self.threads)
        except ProbeError as error:
            self.session.warn("no_bandwidth", error.message)

    def _context_settings(self) -> ContextSettings:
        return ContextSettings(
            n_ctx=512,
            n_threads=self.threads,
            n_batch=self.options.n_batch,
            n_ubatch=min(self.options.n_ubatch, self.options.n_batch),
            kv_quant=self.options.kv_quant,
            flash_attention=self.options.flash_attention,
        )

    def _cases(self, runner: CaseRunner, rate: float, budget_s: float) -> list[Case]:
        longest = self.model.header.facts()["max_context"]
        prompts = self.options.prompts or choose_prompts(rate, budget_s, longest)
        depths = self.options.depths or choose_depths(rate, budget_s, longest)
        cases = [Case("prefill", n) for n in prompts] + [Case("decode_per_request", n) for n in depths]
        runner.rng.shuffle(cases)
        order = [str(case) for case in cases]
        self.session.settings |= {"prompts": list(prompts), "depths": list(depths), "order": order}
        return cases

    def _case(self, runner: CaseRunner, cases: list[Case], index: int, rate: float) -> str:
        """Run one case in its share of the time left; return what stopped it, or `skipped`."""
        case = cases[index]
        left_s = self.options.model_seconds - self.session.elapsed()
        share = case.weight / sum(later.weight for later in cases[index:])
        self.session.progress(str(case), 0.05 + 0.9 * index / len(cases))
        series, reason = runner.run(
            case, precision=self.options.precision, cap_s=left_s * share, left_s=left_s, rate=rate
        )
        if series.steps:
            self.session.figures.append(self._speed(case, series))
            return series.stop
        figure = unknown_speed(case.kind, self._axes(case), Basis.MEASURED, reason, "device probe")
        self.session.figures.append(figure)
        return "skipped"

    def _check_fit(self) -> dict[str, float]:
        layers = (self.model.header.facts()["layers"] or 0) + 1
        gpu_bytes = gpus.free_bytes() if self.offload else None
        share = 1.0 if self.options.gpu_layers < 0 else min(1.0, self.options.gpu_layers / layers)
        return check_memory(
            self.model,
            tokens=self.options.longest + HEADROOM_TOKENS,
            kv_quant=self.options.kv_quant,
            # Where no tool tells the GPU's free memory it is the machine's own (unified) memory that counts.
            gpu_share=share if gpu_bytes is not None else 0.0,
            host_bytes=environment.available_memory(),
            gpu_bytes=gpu_bytes,
        )

    def _warn_about_machine(self) -> None:
        facts = self.session.environment
        if facts["power"] == "battery":
            self.session.warn("battery", "On battery many machines run slower; plug it in and repeat.")
        load, cpus = facts["load_average"], facts["logical_cpus"]
        if load is not None and load > 0.5 * cpus:
            self.session.warn("busy", f"Other programs use this machine (load {load} on {cpus} processors).")
        for gpu in facts["gpu"]:
            if (gpu.get("utilisation_percent") or 0) > 10:
                self.session.warn("gpu_busy", f"{gpu['name']} is {gpu['utilisation_percent']:.0f} % busy.")

    def _axes(self, case: Case) -> Axes:
        prefill = case.kind == "prefill"
        return Axes(
            context_tokens=0 if prefill else case.tokens,
            prompt_tokens=case.tokens if prefill else None,
            concurrency=1,
            model=self.session.model.id,
            quant=self.session.model.quant or "unknown",
            kv_quant=self.options.kv_quant,
            engine="llama.cpp",
            engine_build=self.session.engine.build,
            hardware="local",
        )

    def _speed(self, case: Case, series: Series) -> Speed:
        tokens = case.tokens if case.kind == "prefill" else 1
        value, low, high, notes = speed_interval(series, tokens)
        return Speed(
            value=value,
            low=low,
            high=high,
            unit="tok/s",
            kind=case.kind,
            axes=self._axes(case),
            basis=Basis.MEASURED,
            source=f"device probe {self.session.id}: {notes}",
            as_of=self.session.today,
        )

    def _add(self, kind: Literal["load_time", "memory_total"], value: float, unit: str, what: str) -> None:
        label: dict[str, Any] = {"basis": Basis.MEASURED, "as_of": self.session.today}
        source = f"device probe {self.session.id}: {what}"
        self.session.figures.append(Measure(kind=kind, value=value, unit=unit, source=source, **label))


def speed_interval(series: Series, tokens: int) -> tuple[float, float | None, float | None, str]:
    """Return tok/s with its interval and what the interval means.

    Formula: tokens / median seconds; the bounds are tokens over the bounds of the seconds.
    """
    summary = series.summary()
    low = tokens / summary.high if summary.high else None
    high = tokens / summary.low if summary.low else None
    notes = [f"{summary.n} samples, interval of the median within this launch; launches differ more"]
    if summary.n == 1:
        notes = ["a single sample, so no interval"]
    if series.busy and summary.n > 1:
        # A median taken among other programs says little; the spread of the steps is the honest interval.
        low, high = tokens / summary.p90, tokens / summary.p10
        notes = [f"{summary.n} samples on a busy machine, 80 % of them within the interval"]
    if series.drift is not None:
        notes.append(f"sustained, after {series.drift.ratio - 1:.0%} slow-down")
    return tokens / summary.median, low, high, "; ".join(notes)
