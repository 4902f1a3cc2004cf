"""Ways to serve parts of the mix on machines one runs: which engine and precision fit, how many machines, why not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.domain.engine import Engine
from planner.domain.errors import NoAnswerError
from planner.domain.hardware import Hardware
from planner.domain.library import Library
from planner.domain.model import ModelSpec
from planner.domain.probe import ProbeRecord
from planner.domain.workload import Batch, Workload
from planner.performance.memory import weights_gib
from planner.performance.serving import BatchRate, Served, Traffic, batch, serve, serve_fast
from planner.performance.setup import Parallel, Setup
from planner.planning import candidates
from planner.planning.demand import MonthDemand, PartDemand
from planner.planning.machine_costs import Work

MOST_MACHINES = 64
"""Beyond this many machines an option is not a small team's any more."""
HOURS_PER_DAY = 24.0


@dataclass(frozen=True)
class Job:
    """A batch job on one machine."""

    batch: Batch
    rate: BatchRate
    hours_per_run: float
    """On one machine."""


@dataclass(frozen=True)
class Placement:
    """One part of the mix on a machine."""

    demand: PartDemand
    setup: Setup
    served: Served
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class MachineWay:
    """A machine type with an engine, and every part that it serves."""

    hardware: Hardware
    count: int
    placements: tuple[Placement, ...]
    work: Work
    reasons: tuple[str, ...]
    """Why it does not do; empty = it does."""

    @property
    def feasible(self) -> bool:
        """Say whether every part meets its targets."""
        return not self.reasons

    @property
    def key(self) -> str:
        """Return what makes this way different from others: machine, engine, precisions."""
        quants = "+".join(placement.setup.quant for placement in self.placements)
        return f"{self.count}x{self.hardware.id}/{self.placements[0].setup.engine.id}/{quants}"


@dataclass(frozen=True)
class NoWay:
    """A machine type that cannot hold or run the parts at all."""

    hardware: Hardware
    count: int
    reason: str


def machine_way(
    workload: Workload,
    library: Library,
    month: MonthDemand,
    parts: Sequence[PartDemand],
    hardware: Hardware,
    count: int,
) -> MachineWay | NoWay:
    """Return the best way of serving parts together on one machine type: feasible first, then least load."""
    models = [library.find_model(part.part.model) for part in parts]
    engines = candidates.engines(workload, library, hardware, count)
    if not engines:
        return NoWay(hardware, count, f"no engine with measurements runs on {hardware.name}")
    trials: list[tuple[tuple[int, float], Engine, tuple[str, ...]]] = []
    why: dict[str, None] = {}
    unfit = "no engine runs these models here"
    for engine in engines:
        choices = [
            candidates.measured_quants(workload, library, part.part, model, engine, hardware)
            or candidates.quants(workload, part.part, model, engine, hardware)
            for part, model in zip(parts, models, strict=True)
        ]
        for chosen in itertools.product(*choices):
            setups = _setups(parts, models, hardware, count, engine, chosen)
            screened = setups if isinstance(setups, str) else _screen(workload, parts, setups, library.probes)
            if isinstance(screened, str):
                why[screened] = None
            else:
                trials.append((screened, engine, chosen))
        if not all(choices):
            unfit = f"{engine.name} runs no precision that the workload asks for"
    for _rank, engine, chosen in sorted(trials, key=lambda trial: trial[0]):
        way = _try(workload, month, parts, models, hardware, count, engine, chosen, library)
        if not isinstance(way, str):
            return way
        why[way] = None
    return NoWay(hardware, count, next(iter(why), unfit))


def _screen(
    workload: Workload, parts: Sequence[PartDemand], setups: Sequence[Setup], probes: Sequence[ProbeRecord]
) -> tuple[int, float] | str:
    """Return (parts that miss their targets, load) by bare numbers, so that only the best trial is worked out whole."""
    misses, load = 0, 0.0
    for part, setup in zip(parts, setups, strict=True):
        targets = {
            "target_decode_tok_s": workload.target_decode_tok_s, "target_ttft_s": workload.target_ttft_s,
        }  # fmt: skip
        try:
            if part.tasks_per_month <= 0:
                load += sum(job.hours_per_run / job.batch.deadline_hours for job in _jobs(part, setup, probes))
                continue
            # Measurements count on the device they were made on; elsewhere the quicker arithmetic is the same.
            measured = any(record.hardware == setup.hardware.id for record in probes)
            traffic = _traffic(part, setup)
            if measured:
                served = serve(setup, traffic, probes=probes, **targets)
                feasible, more = served.feasible, served.load
            else:
                quick = serve_fast(setup, traffic, **targets)
                feasible, more = quick.feasible, quick.load
            misses += 0 if feasible else 1
            load += more
        except NoAnswerError as error:
            return error.message
    return misses, load


def _try(
    workload: Workload,
    month: MonthDemand,
    parts: Sequence[PartDemand],
    models: Sequence[ModelSpec],
    hardware: Hardware,
    count: int,
    engine: Engine,
    quants: Sequence[str],
    library: Library,
) -> MachineWay | str:
    setups = _setups(parts, models, hardware, count, engine, quants)
    if isinstance(setups, str):
        return setups
    placements = []
    for part, setup in zip(parts, setups, strict=True):
        try:
            placements.append(_place(workload, part, setup, library))
        except NoAnswerError as error:
            return error.message
    way = _combine(workload, month, hardware, count, tuple(placements))
    # Without any capacity there is no number of machines, so nothing to price either.
    return way if math.isfinite(way.work.unit_load) else "; ".join(way.reasons)


def _setups(
    parts: Sequence[PartDemand],
    models: Sequence[ModelSpec],
    hardware: Hardware,
    count: int,
    engine: Engine,
    quants: Sequence[str],
) -> list[Setup] | str:
    """Return one setup a part with the memory the others take, or why the weights alone don't fit."""
    sizes = [weights_gib(model, quant) for model, quant in zip(models, quants, strict=True)]
    room = (hardware.memory_gb or 0.0) * count
    if sum(sizes) > room:
        names = " + ".join(f"{model.id} {quant}" for model, quant in zip(models, quants, strict=True))
        return f"does not fit: {names} needs {sum(sizes):.0f} GiB for weights alone, {count}× has {room:.0f} GiB"
    split: Parallel = "none" if count == 1 else ("tensor" if engine.tensor_parallel else "layer")
    return [
        Setup(
            hardware=hardware, model=model, engine=engine, quant=quant, count=count, parallel=split,
            reserved_gib=_reserved(index, sizes, parts, room),
        )
        for index, (model, quant) in enumerate(zip(models, quants, strict=True))
    ]  # fmt: skip


def _reserved(index: int, sizes: Sequence[float], parts: Sequence[PartDemand], room: float) -> float:
    """Return the memory that the other models take: their weights, and of the rest a share by their tokens."""
    if len(sizes) == 1:
        return 0.0
    others = sum(size for place, size in enumerate(sizes) if place != index)
    total = sum(part.tokens_per_month for part in parts)
    mine = parts[index].tokens_per_month / total if total else 1 / len(parts)
    spare = max(0.0, room * 0.9 - sum(sizes))
    return others + spare * (1 - mine)


def _traffic(part: PartDemand, setup: Setup) -> Traffic:
    generated = part.request.generated_tokens
    return Traffic(
        calls_per_second=part.peak_calls_per_s,
        prompt_tokens=round(part.mean_prompt),
        cached_prefix_tokens=round(part.mean_cached if setup.engine.prefix_cache else 0.0),
        output_tokens=generated,
        context_tokens=part.longest_call if not part.batches else round(part.mean_prompt) + generated,
    )


def _place(workload: Workload, part: PartDemand, setup: Setup, library: Library) -> Placement:
    served = serve(
        setup, _traffic(part, setup), target_decode_tok_s=workload.target_decode_tok_s,
        target_ttft_s=workload.target_ttft_s, probes=library.probes,
    )  # fmt: skip
    return Placement(part, setup, served, _jobs(part, setup, library.probes))


def _jobs(part: PartDemand, setup: Setup, probes: Sequence[ProbeRecord]) -> tuple[Job, ...]:
    """Return what the batch jobs of a part take on one machine; raises NoAnswerError where it can't do one."""
    jobs = []
    for job in part.batches:
        prefix = job.shared_prefix_tokens if setup.engine.prefix_cache else 0
        rate = batch(
            setup, input_tokens=job.input_tokens, output_tokens=job.output_tokens, cached_prefix_tokens=prefix,
            probes=probes,
        )  # fmt: skip
        per_hour = rate.documents_per_hour
        if not per_hour.value:
            raise NoAnswerError(f"{setup.model.id} for {job.name}: {per_hour.reason or 'no throughput'}")
        jobs.append(Job(job, rate, job.documents / per_hour.value))
    return tuple(jobs)


def _combine(
    workload: Workload, month: MonthDemand, hardware: Hardware, count: int, placements: tuple[Placement, ...]
) -> MachineWay:
    chat = sum(placement.served.load for placement in placements)
    jobs = [job for placement in placements for job in placement.jobs]
    work = _work(workload, month, chat, jobs)
    reasons = [
        f"{placement.setup.model.id}: {placement.served.reason}"
        for placement in placements
        if not placement.served.feasible and (placement.demand.tasks_per_month > 0)
    ]
    if MOST_MACHINES < work.unit_load < math.inf:
        reasons.append(f"would need {work.unit_load:.0f} machines for the busiest hour")
    reasons += _context_reasons(workload, placements)
    return MachineWay(hardware, count, placements, work, tuple(dict.fromkeys(reasons)))


def _work(workload: Workload, month: MonthDemand, chat_load: float, jobs: Sequence[Job]) -> Work:
    """Return the load; a batch that ends before people come back shares the machines, otherwise it adds to them."""
    demand = workload.demand
    night = max((job.hours_per_run / job.batch.deadline_hours for job in jobs), default=0.0)
    together = sum(job.hours_per_run / job.batch.deadline_hours for job in jobs)
    batch_load = max(night, together)
    longest = max((job.batch.deadline_hours for job in jobs), default=0.0)
    apart = demand.hours_per_day + longest <= HOURS_PER_DAY
    has_chat = month.tasks_per_month > 0
    unit_load = max(chat_load, batch_load) if apart or not has_chat else chat_load + batch_load
    batch_hours = sum(job.hours_per_run * job.batch.runs_per_month for job in jobs)
    busy = chat_load / demand.peak_factor * month.active_hours_per_month + batch_hours
    open_hours = month.active_hours_per_month if has_chat else 0.0
    per_machine = batch_hours / max(1.0, unit_load)
    return Work(unit_load=unit_load, busy_hours_per_month=busy, active_hours_per_month=open_hours + per_machine)


def _context_reasons(workload: Workload, placements: Sequence[Placement]) -> list[str]:
    longest = workload.constraints.longest_context_tokens
    reasons = []
    for placement in placements:
        need = max(longest or 0, placement.demand.longest_call)
        limit = placement.setup.model.max_context
        if limit is not None and need > limit:
            reasons.append(f"{placement.setup.model.id} reads at most {limit:,} tokens, the workload needs {need:,}")
        room = placement.served.max_context_tokens
        if longest and room is not None and longest > room:
            held = f"memory holds {room:,} tokens of context, {longest:,} are needed"
            reasons.append(f"{placement.setup.model.id}: {held}")
    return reasons
