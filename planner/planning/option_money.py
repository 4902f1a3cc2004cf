"""Money and energy figures of an option."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from planner.domain.errors import NoAnswerError
from planner.domain.figures import Basis, Figure, unknown
from planner.domain.plan import UsdPerMtok
from planner.domain.units import TOKENS_PER_MTOK, mtok
from planner.finance.cashflow import all_in_monthly_usd, monthly_usd, total_cases, upfront_usd
from planner.finance.metrics import irr, levelised_usd_per_mtok, npv, payback_months
from planner.finance.months import demand_factors
from planner.finance.ranges import Array, Range3
from planner.planning.drafts import Draft
from planner.planning.writing import Writing, labelled, money_basis


def money_figures(writing: Writing, draft: Draft) -> dict[str, Any]:
    """Return every money and energy figure of an option by its key; all unknown where it is not priced."""
    if draft.unpriced or not draft.components:
        return _unpriced(draft)
    components, terms, month = draft.components, writing.terms, writing.month
    all_in = all_in_monthly_usd(components, terms)
    tokens = mtok(month.tokens_per_month)
    per_task = all_in.times(1 / month.things_per_month)
    thing = "per task or document, " if month.tasks_per_month and month.things_per_month > month.tasks_per_month else ""
    return {
        "usd_upfront": labelled(draft, upfront_usd(components, terms), "USD"),
        "usd_per_month": labelled(draft, monthly_usd(components, terms), "USD/month"),
        "usd_per_month_all_in": labelled(
            draft, all_in, "USD/month", "at today's volume, up-front money spread over the horizon; "
        ),
        "usd_per_mtok": _per_mtok(writing, draft, all_in, tokens),
        "usd_per_task": labelled(draft, per_task, "USD/task", thing),
        "usd_per_accepted_task": labelled(draft, per_task, "USD/task", "every answer counted as accepted; "),
        **_measures(writing, draft, tokens),
        **_energy(writing, draft, tokens),
    }


def _per_mtok(writing: Writing, draft: Draft, all_in: Range3, tokens: float) -> UsdPerMtok:
    blended = labelled(draft, all_in.times(1 / tokens), "USD/Mtok", "all tokens, input and output; ")
    paid = {"input": 0.0, "output": 0.0}
    for way in draft.tokens:
        for amount in way.component.variable:
            paid["output" if amount.name == "Output tokens" else "input"] += amount.usd.mid
    parts = writing.month.parts
    total_in, total_out = sum(p.input_per_month for p in parts), sum(p.output_per_month for p in parts)
    own = all_in.mid - paid["input"] - paid["output"]
    seconds_in, seconds_out = _seconds(draft)
    if own > 0 and seconds_in + seconds_out > 0:
        share = seconds_in / (seconds_in + seconds_out)
        paid["input"] += own * share
        paid["output"] += own * (1 - share)
    how = "a machine's money is split by the time input and output take; " if draft.machines else ""
    spread = (all_in.low / all_in.mid, all_in.high / all_in.mid) if all_in.mid else (1.0, 1.0)

    def figure(usd: float, count: float) -> Figure:
        if count <= 0:
            return unknown("USD/Mtok", money_basis(draft), "the workload has no such tokens")
        price = usd / mtok(count)
        return labelled(draft, Range3(price * spread[0], price, price * spread[1]), "USD/Mtok", how)

    return UsdPerMtok(blended=blended, input=figure(paid["input"], total_in), output=figure(paid["output"], total_out))


def _seconds(draft: Draft) -> tuple[float, float]:
    """Return machine seconds a month spent on input and on output."""
    total_in = total_out = 0.0
    for machine in draft.machines:
        for placement in machine.placements:
            prefill, decode = placement.served.prefill.value, placement.served.decode.value
            part = placement.demand
            if not prefill or not decode:
                continue
            shared = part.cached_per_month if placement.setup.engine.prefix_cache else 0.0
            total_in += (part.input_per_month - shared) / prefill
            total_out += part.output_per_month / decode / max(1.0, placement.served.concurrency_at_peak)
    return total_in, total_out


def _measures(writing: Writing, draft: Draft, tokens: float) -> dict[str, Figure]:
    terms = writing.terms
    flow = total_cases(draft.components, terms)
    factors = demand_factors(terms.monthly_growth, terms.horizon_months)
    by_month = [0.0, *(tokens * TOKENS_PER_MTOK * float(factor) for factor in factors)]
    present = Range3.from_array(_apply(npv, flow, terms.discount_rate_per_year))
    price = Range3.from_array(
        _apply(lambda row, rate: levelised_usd_per_mtok(row, by_month, rate), flow, terms.discount_rate_per_year)
    )
    return {
        "usd_npv": labelled(draft, present, "USD", "present value of all money paid, resale taken off; "),
        "usd_levelised_per_mtok": labelled(draft, price, "USD/Mtok", "present value over the horizon; "),
        **_against_tokens(writing, draft, flow),
    }


def _against_tokens(writing: Writing, draft: Draft, flow: Array) -> dict[str, Figure]:
    basis = money_basis(draft)
    if writing.reference is None:
        reason = "no priced option by the token to compare with"
    elif writing.reference_id == draft.id:
        reason = "this is the option by the token that others are compared with"
    elif flow[1][0] <= 0:
        reason = "no money is paid up front"
    else:
        return _returns(writing, draft, writing.reference[1] - flow[1])
    return {"irr": unknown("1/year", basis, reason), "payback_months": unknown("months", basis, reason)}


def _returns(writing: Writing, draft: Draft, saved: Array) -> dict[str, Figure]:
    basis = money_basis(draft)
    against = f"against {writing.reference_id}; "
    rate = irr(saved)
    out: dict[str, Figure] = {}
    if rate.value is None:
        out["irr"] = unknown("1/year", basis, rate.reason or "several rates fit")
    else:
        out["irr"] = labelled(draft, Range3.of(rate.value), "1/year", against)
    try:
        out["payback_months"] = labelled(draft, Range3.of(payback_months(saved)), "months", against)
    except NoAnswerError as error:
        out["payback_months"] = unknown("months", basis, error.message)
    return out


def _energy(writing: Writing, draft: Draft, tokens: float) -> dict[str, Figure]:
    country = writing.workload.money.country.casefold()
    tariff = writing.library.tariffs.get(country)
    if draft.kwh_per_month is None:
        reason = "the provider's energy use is not published"
        return {
            "kwh_per_mtok": unknown("kWh/Mtok", Basis.ASSUMED, reason),
            "gco2e_per_mtok": unknown("gCO2e/Mtok", Basis.ASSUMED, reason),
        }
    own = mtok(sum(p.demand.tokens_per_month for m in draft.machines for p in m.placements)) or tokens
    kwh = draft.kwh_per_month.times(1 / own)
    energy = kwh.figure("kWh/Mtok", Basis.ASSUMED, "idle and load watts of the machines, PUE included")
    if tariff is None or tariff.grid_gco2e_per_kwh is None:
        carbon = unknown("gCO2e/Mtok", Basis.ASSUMED, f"no grid carbon is known for {country!r}")
    else:
        carbon = kwh.times(tariff.grid_gco2e_per_kwh).figure(
            "gCO2e/Mtok", Basis.ASSUMED, f"grid of {tariff.country} {tariff.grid_data_year}: {tariff.grid_source}",
            tariff.as_of,
        )  # fmt: skip
    return {"kwh_per_mtok": energy, "gco2e_per_mtok": carbon}


def _unpriced(draft: Draft) -> dict[str, Any]:
    reason = draft.unpriced or "not priced"

    def none(unit: str) -> Figure:
        return unknown(unit, Basis.ASSUMED, reason)

    mtok_price = UsdPerMtok(blended=none("USD/Mtok"), input=none("USD/Mtok"), output=none("USD/Mtok"))
    names = {
        "usd_upfront": "USD", "usd_per_month": "USD/month", "usd_per_month_all_in": "USD/month",
        "usd_per_task": "USD/task", "usd_per_accepted_task": "USD/task", "usd_npv": "USD", "irr": "1/year",
        "payback_months": "months", "usd_levelised_per_mtok": "USD/Mtok", "kwh_per_mtok": "kWh/Mtok",
        "gco2e_per_mtok": "gCO2e/Mtok",
    }  # fmt: skip
    return {"usd_per_mtok": mtok_price, **{name: none(unit) for name, unit in names.items()}}


def _apply(measure: Callable[[Array, float], float], cases: Array, rate: float) -> Array:
    return np.array([measure(row, rate) for row in cases])
