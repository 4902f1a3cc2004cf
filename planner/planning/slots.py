"""Slots and batch jobs of an option: how each part of the mix is served, with labelled speeds and memory."""

from __future__ import annotations

from collections.abc import Sequence

from planner.domain.figures import Basis, Figure, unknown, weaker
from planner.domain.plan import BatchResult, MemoryFigures, Slot
from planner.finance.cashflow import all_in_monthly_usd
from planner.finance.costs import machines
from planner.performance.memory import memory
from planner.planning.drafts import Draft
from planner.planning.machine_ways import Job, MachineWay, Placement
from planner.planning.timing import task_time
from planner.planning.token_ways import token_batch, token_slot
from planner.planning.writing import Writing, component_of, labelled


def option_slots(writing: Writing, draft: Draft) -> list[Slot]:
    """Return one slot for each part of the mix, in its order."""
    found: dict[str, Slot] = {}
    for way in draft.tokens:
        found[way.demand.part.name] = token_slot(way, writing.library, writing.workload)
    for machine in draft.machines:
        for placement in machine.placements:
            found[placement.demand.part.name] = machine_slot(writing, draft, machine, placement)
    return [found[part.part.name] for part in writing.month.parts if part.part.name in found]


def machine_slot(writing: Writing, draft: Draft, machine: MachineWay, placement: Placement) -> Slot:
    """Return how a part is served on a machine, with memory and speeds at the peak."""
    served, setup = placement.served, placement.setup
    component = component_of(draft, machine)
    count = machines(component, 1.0) if component else max(1, round(machine.work.unit_load + 0.5))
    part = placement.demand
    used = memory(
        setup, context_tokens=part.longest_call, concurrency=max(1, round(served.concurrency_at_peak / count)),
        prompt_tokens=round(part.mean_prompt),
    )  # fmt: skip
    return Slot(
        mix=part.part.name, share=part.part.share, model=setup.model.id, same_weights=True,
        served_by="owned" if draft.path in ("owned", "mixed") else "rented", hardware=setup.hardware.id,
        count=setup.count, machines=count, engine=setup.engine.id, quant=setup.quant, kv_quant=setup.kv_quant,
        decode_tok_s_per_request=served.decode, prefill_tok_s=served.prefill, ttft_s=served.ttft_p95,
        task_s=task_time(served.ttft_p95, served.decode, part.request.generated_tokens, part.agent),
        max_concurrency=served.max_concurrency, utilisation=_utilisation(machine, served.utilisation, count),
        memory_gib=MemoryFigures(weights=used.weights, kv=used.kv, overhead=used.overhead, available=used.available),
    )  # fmt: skip


def _utilisation(machine: MachineWay, like: Figure, count: int) -> Figure:
    value = min(1.0, machine.work.unit_load / count)
    return Figure(
        value=value, low=value, high=value, unit="share of the busiest hour", basis=like.basis, source=like.source,
        as_of=like.as_of,
    )  # fmt: skip


def speed_basis(slots: Sequence[Slot]) -> Basis:
    """Return the weakest basis of the decode speeds."""
    bases = [slot.decode_tok_s_per_request.basis for slot in slots]
    return weaker(bases[0], *bases[1:]) if bases else Basis.ESTIMATED


def option_batches(writing: Writing, draft: Draft) -> list[BatchResult]:
    """Return what each batch job takes."""
    out = [token_batch(way, i, job) for way in draft.tokens for i, job in enumerate(way.demand.batches)]
    for machine in draft.machines:
        jobs = [job for placement in machine.placements for job in placement.jobs]
        out += [_machine_batch(writing, draft, machine, job) for job in jobs]
    return out


def _machine_batch(writing: Writing, draft: Draft, machine: MachineWay, job: Job) -> BatchResult:
    component = component_of(draft, machine)
    count = machines(component, 1.0) if component else 1
    rate = job.rate.tokens_per_hour
    hours = job.rate.documents_per_hour
    low, mid, high = (job.batch.documents / bound / count for bound in reversed(hours.range))
    finish = Figure(
        value=mid, low=low, high=high, unit="h", basis=hours.basis, source=hours.source, as_of=hours.as_of
    )
    if component is None:
        usd = unknown("USD", Basis.ASSUMED, draft.unpriced or "not priced")
    else:
        # The machines stand there for all of their work, so a run pays for its share of the busy hours.
        share = job.hours_per_run / machine.work.busy_hours_per_month
        usd = labelled(
            draft, all_in_monthly_usd((component,), writing.terms).times(share), "USD",
            "the run's share of the machines' busy hours in their all-in cost: ",
        )  # fmt: skip
    return BatchResult(
        name=job.batch.name, tokens_per_hour=rate.times(count), finish_hours=finish,
        meets_deadline=mid <= job.batch.deadline_hours, usd=usd,
    )  # fmt: skip
