"""The month at which one option's cumulative money overtakes another's."""

from __future__ import annotations

import numpy as np

from planner.domain.plan import BreakEvenPoint
from planner.finance import months
from planner.finance.cashflow import case_rows, is_resale, paid_machines
from planner.finance.costs import Component, Terms
from planner.finance.crossings import SignChanges, sign_changes
from planner.finance.ranges import Array
from planner.finance.sides import Pair

LOW, MID, HIGH = 0, 1, 2


def month_point(pair: Pair, *, discounted: bool, with_resale: bool = False) -> BreakEvenPoint:
    """Return the first month in which `b` has cost no more than `a` in all, interpolated within the month.

    Running costs of a month are spread evenly over it, purchases count at once at the start of the month they
    serve. Resale is left out unless asked for; then hardware counts at each moment for what it would bring.
    """
    terms = pair.terms
    a = cumulative(pair.a.components, terms, discounted=discounted, with_resale=with_resale)
    b = cumulative(pair.b.components, terms, discounted=discounted, with_resale=with_resale)
    likely = _changes(a, b, MID, MID)
    searched = (0.0, float(terms.horizon_months))
    if likely.first_sign >= 0:
        told = _from_the_start(pair, likely)
        return pair.reached(0.0, "months", told, searched, low=0.0, high=_first_up(a, b, LOW, HIGH))
    up = [change.at for change in likely.changes if change.upward]
    low = _first_up(a, b, HIGH, LOW)
    if not up:
        return _missed(pair, a, b, searched, low)
    reason = f"{pair.b.name} has then cost no more in all than {pair.a.name}" + _lost_again(likely, up[0])
    return pair.reached(up[0], "months", reason, searched, low=low, high=_first_up(a, b, LOW, HIGH))


def cumulative(
    components: tuple[Component, ...], terms: Terms, *, discounted: bool, with_resale: bool = False
) -> tuple[Array, Array]:
    """Return cumulative money at the start and at the end of months 1..H, each of shape (3, H).

    The start of a month already holds the purchases made for it.
    """
    rate = terms.discount_rate_per_year if discounted else 0.0
    weights = months.discount_factors(rate, terms.horizon_months)
    paid = np.zeros((3, terms.horizon_months + 1))
    ran = np.zeros((3, terms.horizon_months + 1))
    for component in components:
        bought = _purchases(component, terms)
        paid[:, :-1] += bought
        ran[:, :-1] -= bought
        for name, row in case_rows((component,), terms).items():
            if not is_resale(name):
                ran += row
    paid, ran = np.cumsum(paid * weights, axis=1), np.cumsum(ran * weights, axis=1)
    at_start, at_end = paid[:, :-1] + ran[:, :-1], paid[:, :-1] + ran[:, 1:]
    if with_resale:
        got, held_start, held_end = _resale(components, terms, weights)
        return at_start - got[:, :-1] - held_start, at_end - got[:, :-1] - held_end
    return at_start, at_end


def _purchases(component: Component, terms: Terms) -> Array:
    """Return what is paid for machines in months 0..H - 1, shape (3, H)."""
    growth = months.demand_factors(terms.monthly_growth, terms.horizon_months)
    first = months.first_purchases(months.machine_counts(component, growth))
    replaced = months.with_replacements(first, terms.life_months) - first
    paid = paid_machines(component, terms)
    once = sum((a.usd.array for a in component.upfront_per_machine if not a.hardware), np.zeros(3))
    hardware = months.hardware_price(component)
    return np.asarray(hardware[:, None] * paid + once[:, None] * (paid - replaced), dtype=np.float64)


def _resale(components: tuple[Component, ...], terms: Terms, weights: Array) -> tuple[Array, Array, Array]:
    """Return resale got by months 0..H, and the value held at the start and the end of months 1..H."""
    horizon, curve = terms.horizon_months, months.resale_cases(terms)
    got = np.zeros((3, horizon + 1))
    held_start, held_end = np.zeros((3, horizon)), np.zeros((3, horizon))
    for component in components:
        price, paid = months.hardware_price(component)[:, None], paid_machines(component, terms)
        sold = months.resold_at_life_end(paid, terms.life_months, curve)
        ends = range(1, horizon + 1)
        held = np.stack([months.value_in_service(paid, terms.life_months, curve, m) for m in ends], axis=1)
        before = np.concatenate((np.zeros((3, 1)), held[:, :-1]), axis=1)
        got += price * sold
        held_start += price * (before - sold[:, :-1] + paid) * weights[:-1]
        held_end += price * held * weights[1:]
    return np.cumsum(got * weights, axis=1), held_start, held_end


def _changes(a: tuple[Array, Array], b: tuple[Array, Array], case_a: int, case_b: int) -> SignChanges:
    at_left, at_right = a[0][case_a] - b[0][case_b], a[1][case_a] - b[1][case_b]
    size = np.maximum(np.abs(a[1][case_a]), np.abs(b[1][case_b]))
    month = np.arange(at_left.shape[0] + 1, dtype=np.float64)
    return sign_changes(month[:-1], month[1:], at_left, at_right, size)


def _first_up(a: tuple[Array, Array], b: tuple[Array, Array], case_a: int, case_b: int) -> float | None:
    found = _changes(a, b, case_a, case_b)
    if found.first_sign >= 0:
        return 0.0
    return next((change.at for change in found.changes if change.upward), None)


def _from_the_start(pair: Pair, found: SignChanges) -> str:
    if found.first_sign == 0:
        return f"{pair.b.name} and {pair.a.name} cost the same throughout"
    lost = next((change.at for change in found.changes), None)
    start = f"{pair.b.name} is cheaper than {pair.a.name} from the first month"
    return start if lost is None else f"{start}, until month {lost:.1f}"


def _lost_again(found: SignChanges, reached_at: float) -> str:
    later = next((change for change in found.changes if change.at > reached_at and not change.upward), None)
    return f"; it loses that again in month {later.at:.1f}" if later else ""


def _missed(
    pair: Pair,
    a: tuple[Array, Array],
    b: tuple[Array, Array],
    searched: tuple[float, float],
    low: float | None,
) -> BreakEvenPoint:
    """Say how far away a break-even is that the horizon doesn't reach."""
    saving = (a[1] - a[0])[MID] - (b[1] - b[0])[MID]
    gap = float(b[1][MID, -1] - a[1][MID, -1])
    names = f"{pair.b.name} costs at least as much to run each month as {pair.a.name}"
    if saving[-1] <= 0 and saving[-1] <= saving[0]:
        return pair.missed("never", f"{names}, and that gets no better", searched, low)
    horizon = f"not within the horizon of {pair.terms.horizon_months} months"
    if saving[-1] <= 0:
        return pair.missed("not_reached", f"{horizon}: {names} by then still", searched, low)
    more = f"at the last month's saving it would take {gap / saving[-1]:.0f} months more"
    return pair.missed("not_reached", f"{horizon}; {more}", searched, low)
