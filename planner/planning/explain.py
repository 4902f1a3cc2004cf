"""How the key figures came about: formula, inputs with their sources, and the keys that change them."""

from __future__ import annotations

from collections.abc import Sequence

from planner.domain.figures import Figure, Speed
from planner.domain.plan import Explanation, Option, Slot, Verdict
from planner.finance.costs import Amount, machines
from planner.planning.drafts import Draft
from planner.planning.writing import Writing


def explanations(
    writing: Writing, best: Sequence[tuple[Draft, Option]], options: Sequence[Option], answer: Verdict
) -> tuple[Explanation, ...]:
    """Return explanations of the demand and of the best option of each path, by keys such as `owned.usd_upfront`."""
    written = {option.id: option for option in options}
    out = [_demand(writing)]
    for draft, _ in best:
        option = written[draft.id]
        out += [_upfront(draft, option), _month(draft, option)]
        out += [_all_in(writing, draft, option), _blended(writing, option)]
        out += [_speed(option, slot) for slot in option.slots]
        out += [_ttft(option, slot) for slot in option.slots]
    return (*out, _verdict(answer, [written[draft.id] for draft, _ in best]))


def _verdict(answer: Verdict, best: Sequence[Option]) -> Explanation:
    inputs = [
        (option.name, f"{option.path}, {option.feasible}, {_figure(option.usd_per_month_all_in)}") for option in best
    ]
    return Explanation(
        key="verdict", inputs=tuple(inputs), result=answer.text,
        source="the cheapest all-in option that is not ruled out",
        formula="argmin over feasible and unverified options with the named weights of the all-in cost a month",
        change_with=("demand.users", "constraints.providers", "targets.ttft_s", "money.horizon_months"),
    )  # fmt: skip


def _demand(writing: Writing) -> Explanation:
    demand, month = writing.workload.demand, writing.month
    inputs = (
        ("users", f"{demand.users:g}"), ("hours per day", f"{demand.hours_per_day:g}"),
        ("days per month", f"{demand.days_per_month:g}"),
        ("requests per user-hour", f"{demand.requests_per_user_hour:g}"),
        *((f"tokens of {part.part.name}", f"{part.tokens_per_month:,.0f} a month") for part in month.parts),
    )  # fmt: skip
    return Explanation(
        key="demand.tokens_per_month", inputs=inputs, source=f"workload, {month.basis}",
        formula="tasks = users × hours × days × requests per user-hour; tokens = Σ tasks × (prompts + outputs) + batch",
        result=f"{month.tokens_per_month:,.0f} tokens/month",
        change_with=("demand.users", "demand.requests_per_user_hour", "request.input_tokens", "request.output_tokens"),
    )  # fmt: skip


def _upfront(draft: Draft, option: Option) -> Explanation:
    inputs = [
        (amount.name, f"{machines(component, 1.0)} × {_amount(amount)}")
        for component in draft.components
        for amount in component.upfront_per_machine
    ]
    return _explanation(
        option, "usd_upfront", option.usd_upfront, "Σ machines × (hardware + host + installation)", inputs,
        ("money.host_price_usd", "money.install_usd", "constraints.hardware"),
    )  # fmt: skip


def _month(draft: Draft, option: Option) -> Explanation:
    inputs = [(amount.name, _amount(amount)) for component in draft.components for amount in component.variable]
    for component in draft.components:
        count = machines(component, 1.0)
        inputs += [(amount.name, f"{count} × {_amount(amount)}") for amount in component.monthly_per_machine]
        inputs += [(amount.name, _amount(amount)) for amount in component.monthly_fixed]
    return _explanation(
        option, "usd_per_month", option.usd_per_month,
        "Σ machines × monthly amounts + fixed amounts + amounts that follow demand", inputs,
        ("money.tariff_usd_per_kwh", "money.people_hours_per_month", "money.rented_billing", "demand.users"),
    )  # fmt: skip


def _all_in(writing: Writing, draft: Draft, option: Option) -> Explanation:
    terms = writing.terms
    worth = terms.residual_fraction
    inputs = [
        ("up front", _figure(option.usd_upfront)), ("running, first month", _figure(option.usd_per_month)),
        ("horizon", f"{terms.horizon_months} months"), ("discount rate", f"{terms.discount_rate_per_year:.1%} a year"),
        ("resale after 36 months", f"{worth.low:.0%} / {worth.mid:.0%} / {worth.high:.0%} of the price"),
    ]  # fmt: skip
    return _explanation(
        option, "usd_per_month_all_in", option.usd_per_month_all_in,
        "(up front − discounted resale) × annuity factor + running costs, all at today's volume", inputs,
        ("money.horizon_months", "money.discount_rate_per_year", "money.residual_fraction"),
    )  # fmt: skip


def _blended(writing: Writing, option: Option) -> Explanation:
    inputs = [
        ("all-in cost", _figure(option.usd_per_month_all_in)),
        ("tokens a month", f"{writing.month.tokens_per_month:,.0f}"),
    ]
    return _explanation(
        option, "usd_per_mtok.blended", option.usd_per_mtok.blended, "all-in cost a month / million tokens a month",
        inputs,
        ("demand.users", "request.input_tokens", "request.output_tokens"),
    )  # fmt: skip


def _speed(option: Option, slot: Slot) -> Explanation:
    speed: Speed = slot.decode_tok_s_per_request
    axes = speed.axes
    inputs = [
        ("model", f"{axes.model}, {axes.quant}"), ("engine", f"{axes.engine} {axes.engine_build or ''}".strip()),
        ("hardware", f"{axes.count}× {axes.hardware}"), ("context", f"{axes.context_tokens:,} tokens"),
        ("concurrency", f"{axes.concurrency}"), ("KV cache", axes.kv_quant),
    ]  # fmt: skip
    return _explanation(
        option, f"{slot.mix}.decode_tok_s_per_request", speed,
        "1 / step time; step = max(bytes / (bandwidth × e_b), FLOPs / (peak × e_f)) + overheads", inputs,
        ("constraints.engines", "constraints.precision", "request.input_tokens"),
    )  # fmt: skip


def _ttft(option: Option, slot: Slot) -> Explanation:
    inputs = [("prefill", _figure(slot.prefill_tok_s)), ("utilisation", _figure(slot.utilisation))]
    return _explanation(
        option, f"{slot.mix}.ttft_s", slot.ttft_s,
        "uncached prompt tokens / prefill speed + waiting in the busiest hour", inputs,
        ("request.shared_prefix_tokens", "demand.peak_factor"),
    )  # fmt: skip


def _explanation(
    option: Option, name: str, figure: Figure, formula: str, inputs: Sequence[tuple[str, str]], keys: tuple[str, ...]
) -> Explanation:
    return Explanation(
        key=f"{option.path}.{name}", formula=formula, inputs=tuple(inputs), result=_figure(figure),
        source=figure.source, change_with=keys,
    )  # fmt: skip


def _amount(amount: Amount) -> str:
    usd = amount.usd
    return f"{usd.mid:,.2f} USD ({usd.low:,.2f}–{usd.high:,.2f}; {amount.basis}, {amount.as_of}: {amount.source})"


def _figure(figure: Figure) -> str:
    if figure.value is None:
        return f"unknown: {figure.reason}"
    low, mid, high = figure.range
    return f"{mid:,.4g} {figure.unit} ({low:,.4g}–{high:,.4g}, {figure.basis})"
