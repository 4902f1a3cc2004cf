"""Ways to serve a part of the mix by the token: who sells the model, and what a month costs there."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from planner.domain.figures import Axes, Basis, Figure, Speed, unknown, unknown_speed
from planner.domain.library import Library
from planner.domain.model import ModelSpec
from planner.domain.plan import BatchResult, Path, Slot
from planner.domain.prices import ApiPrice, PublishedSpeed, Retirement
from planner.domain.quant import fold
from planner.domain.workload import Batch, Workload
from planner.finance.costs import Component
from planner.finance.ranges import total
from planner.finance.tokens import Calls, MonthlyTokens, Usage, monthly_variable
from planner.planning.demand import PartDemand
from planner.planning.timing import task_time

PROBE_HINT = "no speed is published by the provider: run `planner probe endpoint`"


@dataclass(frozen=True)
class TokenWay:
    """One provider's model for one part, with the component that pays for it."""

    demand: PartDemand
    price: ApiPrice
    model: str
    same_weights: bool
    component: Component
    notes: tuple[str, ...]
    batch_usd: tuple[float | None, ...]
    """US dollars a run of each batch job of the part; None where the job isn't priced."""
    unpriced: str | None = None
    too_long: str | None = None
    """Why the model cannot read the longest call, if so."""

    @property
    def buyable(self) -> bool:
        """Say whether the named weights are sold here, at a known price and for long enough calls."""
        return self.same_weights and self.unpriced is None and self.too_long is None

    @property
    def path(self) -> Path:
        """Return `api` or `managed`."""
        return self.price.channel

    @property
    def usd_per_month(self) -> float:
        """Return the first month's money."""
        return total(tuple(amount.usd for amount in self.component.variable)).mid


def token_ways(workload: Workload, library: Library, demand: PartDemand, today: datetime.date) -> list[TokenWay]:
    """Return all ways to buy this part by the token, cheapest first, unpriced ones last."""
    model = library.find_model(demand.part.model)
    found: dict[str, TokenWay] = {}
    for price, same in _sellers(workload, library, demand, model, today):
        if price.key not in found:
            name = model.id if same else price.model
            limit = price.max_context or (model.max_context if same else None)
            way = _way(workload, demand, price, name, same, today)
            found[price.key] = replace(way, too_long=_too_long(price, limit, demand.longest_call))
    return sorted(found.values(), key=lambda way: (bool(way.too_long), bool(way.unpriced), way.usd_per_month))


def _too_long(price: ApiPrice, limit: int | None, longest: int) -> str | None:
    if limit is None or longest <= limit:
        return None
    return f"{price.key} reads at most {limit:,} tokens, the workload needs {longest:,}"


def token_slot(way: TokenWay, library: Library, workload: Workload) -> Slot:
    """Return the slot of a way; its speed comes from an endpoint probe or a published measurement, else is unknown."""
    decode, ttft, prefill = _speeds(way, library)
    request = way.demand.request
    return Slot(
        mix=way.demand.part.name,
        share=way.demand.part.share,
        model=way.model,
        same_weights=way.same_weights,
        served_by=way.path,
        provider=way.price.key,
        decode_tok_s_per_request=decode,
        prefill_tok_s=prefill,
        ttft_s=ttft,
        task_s=task_time(ttft, decode, request.generated_tokens, workload.agent),
        max_concurrency=unknown("requests", Basis.ESTIMATED, "the provider's rate limits decide; none entered"),
        utilisation=unknown("share", Basis.ESTIMATED, "the provider's machines are shared"),
    )


def token_batch(way: TokenWay, index: int, job: Batch) -> BatchResult:
    """Return what a batch job takes at a provider: its completion window, where it states one."""
    usd = way.batch_usd[index]
    window = way.price.batch_window_hours if way.price.batch else None
    reason = "the provider states no completion window: enter rate limits or run `planner probe endpoint`"
    label = {"source": way.price.source, "as_of": way.price.as_of}
    money = (
        unknown("USD", Basis.LISTED, way.unpriced or "no rate for this job", **label)
        if usd is None
        else Figure(value=usd, low=usd, high=usd, unit="USD", basis=Basis.LISTED, **label)
    )
    if window is None:
        hours = unknown("h", Basis.PUBLISHED, reason)
        rate = unknown("tok/h", Basis.PUBLISHED, reason)
    else:
        hours = Figure(value=window, low=0.0, high=window, unit="h", basis=Basis.PUBLISHED, **label)
        tokens = job.documents * (job.input_tokens + job.output_tokens)
        rate = Figure(value=tokens / window, low=tokens / window, unit="tok/h", basis=Basis.PUBLISHED, **label)
    meets = None if window is None else window <= job.deadline_hours
    return BatchResult(name=job.name, tokens_per_hour=rate, finish_hours=hours, meets_deadline=meets, usd=money)


def _sellers(
    workload: Workload, library: Library, demand: PartDemand, model: ModelSpec, today: datetime.date
) -> Iterable[tuple[ApiPrice, bool]]:
    served = {(entry.provider, fold(entry.model)) for entry in model.served_as}
    stand_ins = {fold(name.partition("@")[0]) for name in demand.part.stand_ins}
    allowed = {fold(name) for name in workload.constraints.providers}
    for price in library.prices:
        if allowed and fold(price.provider) not in allowed:
            continue
        same = (price.provider, fold(price.model)) in served
        other = bool(stand_ins) and fold(f"{price.provider}/{price.model}") in stand_ins
        if (same or other) and not ended(library, price, today):
            yield price, same


def retirements_of(library: Library, provider: str, model: str) -> list[Retirement]:
    """Return the announced ends of a provider's model."""
    found = []
    for row in library.retirements:
        names = {fold(row.model), *(fold(name) for name in row.matched_id.split())}
        if fold(row.provider).startswith(fold(provider)) and fold(model) in names:
            found.append(row)
    return found


def ended(library: Library, price: ApiPrice, today: datetime.date) -> bool:
    """Say whether a hosted model is gone already; sources disagree at times, so all of them must say so."""
    dates = [row.retirement_date for row in retirements_of(library, price.provider, price.model)]
    dates += [price.retirement_date] if price.retirement_date else []
    return bool(dates) and max(dates) < today.isoformat()


def _way(
    workload: Workload, demand: PartDemand, price: ApiPrice, model: str, same: bool, today: datetime.date
) -> TokenWay:
    horizon = workload.money.horizon_months
    hit = demand.request.cache_hit_rate
    writes = price.cache_write_usd_per_mtok is not None
    per_call = demand.tasks_per_month
    calls = tuple(
        Calls(per_call, _usage(call.prompt, call.cached, call.generated, hit, writes)) for call in demand.calls
    )
    chat = monthly_variable(price, calls, start=today, horizon_months=horizon) if per_call else MonthlyTokens(())
    jobs = [_job_money(price, job, today, horizon) for job in demand.batches]
    reason = chat.reason or next((money.reason for money, _usd in jobs if money.reason), None)
    amounts = [*chat.amounts, *(amount for money, _usd in jobs for amount in money.amounts)]
    component = Component(name=price.key, path=price.channel, variable=() if reason else tuple(amounts))
    notes = (*chat.notes, *(note for money, _usd in jobs for note in money.notes))
    return TokenWay(
        demand, price, model, same, component, tuple(dict.fromkeys(notes)), tuple(usd for _money, usd in jobs), reason
    )


def _usage(prompt: int, cached: int, generated: int, hit: float, writes: bool) -> Usage:
    """Return a call's usage; where writing the cache is billed, the misses of the shared part are writes."""
    missed = cached * (1 - hit) / hit if hit > 0 else 0.0
    written = min(missed, prompt - cached) if writes else 0.0
    return Usage(input_tokens=prompt, output_tokens=generated, cached_tokens=cached, cache_write_tokens=written)


def _job_money(
    price: ApiPrice, job: Batch, today: datetime.date, horizon: int
) -> tuple[MonthlyTokens, float | None]:
    usage = Usage(input_tokens=job.input_tokens, output_tokens=job.output_tokens)
    calls = (Calls(job.documents * job.runs_per_month, usage),)
    fits = price.batch is not None and (price.batch_window_hours or 24.0) <= job.deadline_hours
    money = monthly_variable(price, calls, start=today, horizon_months=horizon, batch=fits)
    if money.reason:
        return money, None
    return money, total(tuple(amount.usd for amount in money.amounts)).mid / job.runs_per_month


def _speeds(way: TokenWay, library: Library) -> tuple[Speed, Figure, Speed]:
    axes = Axes(model=way.price.model, quant="as served", engine="as served", hardware=way.price.provider)
    probed = _probed(way, library)
    if probed:
        return probed
    found = _published(way.price, library.published_speeds)
    prefill = unknown_speed("prefill", axes, Basis.ESTIMATED, PROBE_HINT)
    if found is None or found.output_tok_per_s is None:
        decode = unknown_speed("decode_per_request", axes, Basis.ESTIMATED, PROBE_HINT)
        return decode, unknown("s", Basis.ESTIMATED, PROBE_HINT), prefill
    value = found.output_tok_per_s
    decode = Speed(
        value=value, low=value / 1.5, high=value * 1.5, kind="decode_per_request", axes=axes, basis=Basis.PUBLISHED,
        source=f"{found.source} ({found.metric or 'output speed'})", as_of=found.as_of,
    )  # fmt: skip
    if found.ttft_s is None:
        return decode, unknown("s", Basis.PUBLISHED, PROBE_HINT), prefill
    ttft = Figure(value=found.ttft_s, unit="s", basis=Basis.PUBLISHED, source=found.source, as_of=found.as_of)
    return decode, ttft, prefill


def _published(price: ApiPrice, speeds: Sequence[PublishedSpeed]) -> PublishedSpeed | None:
    matches = [row for row in speeds if row.provider == price.provider and fold(row.model) == fold(price.model)]
    return max(matches, key=lambda row: row.as_of, default=None)


def _probed(way: TokenWay, library: Library) -> tuple[Speed, Figure, Speed] | None:
    for record in library.probes:
        if record.kind != "endpoint" or fold(record.model.id) not in (fold(way.price.model), fold(way.model)):
            continue
        host = str(record.settings.get("provider") or record.hardware)
        if fold(way.price.provider) not in fold(host):
            continue
        decode = _single(record.figures, "decode_per_request")
        prefill = _single(record.figures, "prefill")
        times = [f for f in record.figures if not isinstance(f, Speed) and f.unit == "s"]
        ttft = next((f for f in times if "TTFT" in f.source), None)
        if decode is None:
            continue
        axes = decode.axes
        return (
            decode,
            ttft or unknown("s", Basis.MEASURED, "the probe record holds no TTFT"),
            prefill or unknown_speed("prefill", axes, Basis.MEASURED, "the probe record holds no prefill speed"),
        )
    return None


def _single(figures: Sequence[Speed | Figure], kind: str) -> Speed | None:
    return next(
        (f for f in figures if isinstance(f, Speed) and f.kind == kind and f.axes.concurrency == 1 and f.known), None
    )
