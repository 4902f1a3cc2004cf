"""From people and documents to model calls, tokens and the peak: the demand that every option must meet."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.figures import Basis, Figure
from planner.domain.plan import DemandSummary, TokensPerMonth
from planner.domain.units import SECONDS_PER_HOUR
from planner.domain.workload import Agent, Batch, MixPart, Request, Workload
from planner.performance.agents import turn_contexts


@dataclass(frozen=True)
class Call:
    """One model call of a task, in tokens; `cached` is the part of the prompt a prefix cache can serve."""

    prompt: int
    cached: int
    generated: int


@dataclass(frozen=True)
class PartDemand:
    """What one part of the mix asks for in a month and in its busiest hour."""

    part: MixPart
    request: Request
    agent: Agent
    calls: tuple[Call, ...]
    tasks_per_month: float
    peak_calls_per_s: float
    batches: tuple[Batch, ...]

    @property
    def calls_per_month(self) -> float:
        """Return model calls a month, batch work apart."""
        return self.tasks_per_month * len(self.calls)

    @property
    def mean_prompt(self) -> float:
        """Return prompt tokens of an average call."""
        return sum(call.prompt for call in self.calls) / len(self.calls)

    @property
    def mean_cached(self) -> float:
        """Return cacheable prompt tokens of an average call."""
        return sum(call.cached for call in self.calls) / len(self.calls)

    @property
    def longest_call(self) -> int:
        """Return the longest context any call of this part reaches, batch included."""
        interactive = [call.prompt + call.generated for call in self.calls] if self.tasks_per_month else []
        batch = [job.input_tokens + job.output_tokens for job in self.batches]
        return max([*interactive, *batch], default=0)

    @property
    def input_per_month(self) -> float:
        """Return all prompt tokens a month, batch included."""
        chat = self.tasks_per_month * sum(call.prompt for call in self.calls)
        return chat + sum(job.documents * job.runs_per_month * job.input_tokens for job in self.batches)

    @property
    def cached_per_month(self) -> float:
        """Return prompt tokens a month that a prefix cache can serve."""
        chat = self.tasks_per_month * sum(call.cached for call in self.calls)
        return chat + sum(job.documents * job.runs_per_month * job.shared_prefix_tokens for job in self.batches)

    @property
    def output_per_month(self) -> float:
        """Return generated tokens a month, reasoning and batch included."""
        chat = self.tasks_per_month * sum(call.generated for call in self.calls)
        return chat + sum(job.documents * job.runs_per_month * job.output_tokens for job in self.batches)

    @property
    def tokens_per_month(self) -> float:
        """Return input and output tokens a month."""
        return self.input_per_month + self.output_per_month

    @property
    def documents_per_month(self) -> float:
        """Return batch documents a month."""
        return sum(job.documents * job.runs_per_month for job in self.batches)


@dataclass(frozen=True)
class MonthDemand:
    """The whole demand of the first month."""

    parts: tuple[PartDemand, ...]
    active_hours_per_month: float
    basis: Basis

    @property
    def tasks_per_month(self) -> float:
        """Return what people ask for in a month."""
        return sum(part.tasks_per_month for part in self.parts)

    @property
    def tokens_per_month(self) -> float:
        """Return input and output tokens of all parts a month."""
        return sum(part.tokens_per_month for part in self.parts)

    @property
    def things_per_month(self) -> float:
        """Return tasks and batch documents a month together."""
        return self.tasks_per_month + sum(part.documents_per_month for part in self.parts)


def task_calls(request: Request, agent: Agent) -> tuple[Call, ...]:
    """Return the model calls of one task; the context grows turn by turn and repeats are cacheable."""
    turns = turn_contexts(request, agent)
    return tuple(
        Call(prompt=round(prompt), cached=round(cached), generated=request.generated_tokens)
        for prompt, _new, cached in turns
    )


def month_demand(workload: Workload) -> MonthDemand:
    """Return the demand of the first month.

    Formula: tasks = users · hours/day · days/month · requests per user-hour; peak calls/s = tasks / active hours ·
    turns · peak factor / 3600.
    """
    demand = workload.demand
    active_hours = demand.hours_per_day * demand.days_per_month
    tasks = demand.users * active_hours * demand.requests_per_user_hour
    parts = []
    for index, part in enumerate(workload.mix):
        request = workload.request_of(part)
        calls = task_calls(request, workload.agent)
        share = tasks * part.share
        peak = share / active_hours * demand.peak_factor / SECONDS_PER_HOUR * len(calls)
        jobs = tuple(job for job in workload.batch if (job.mix or workload.mix[0].name) == part.name)
        parts.append(PartDemand(workload.mix[index], request, workload.agent, calls, share, peak, jobs))
    return MonthDemand(tuple(parts), active_hours, demand.basis)


def summary(month: MonthDemand, as_of: str) -> DemandSummary:
    """Return the demand as labelled figures."""

    def figure(value: float, unit: str) -> Figure:
        return Figure(value=value, low=value, high=value, unit=unit, basis=month.basis, source="workload", as_of=as_of)

    def total(name: str) -> float:
        return sum(float(getattr(part, name)) for part in month.parts)

    return DemandSummary(
        requests_per_month=figure(month.tasks_per_month, "requests/month"),
        model_calls_per_month=figure(total("calls_per_month"), "calls/month"),
        tokens_per_month=TokensPerMonth(
            input=figure(total("input_per_month"), "tokens/month"),
            cached_input=figure(total("cached_per_month"), "tokens/month"),
            output=figure(total("output_per_month"), "tokens/month"),
        ),
        peak_requests_per_second=figure(total("peak_calls_per_s"), "requests/s"),
    )
