"""Figures as people read them in cells: the report's numbers, with the basis as mark and word."""

from __future__ import annotations

from planner.domain.figures import Basis, Figure
from planner.domain.plan import Option, Path, Plan, Slot
from planner.report.format import DASH, MARKS, Currency, big, number, short, spread

FEASIBLE = {"yes": "✓ yes", "no": "✗ no", "unverified": "? unverified"}
FEASIBLE_STYLE = {"yes": "$yes", "no": "$no", "unverified": "$maybe"}
PATH_LETTER: dict[Path, str] = {"api": "A", "managed": "M", "rented": "R", "owned": "O", "mixed": "X"}
PATH_STYLE = {path: f"$path-{path}" for path in PATH_LETTER}


def axis_money(value: float, currency: Currency) -> str:
    """Return an amount for an axis, in the shown currency: $950, $12k, $1.5M."""
    amount = value * currency.rate
    for limit, suffix in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if abs(amount) >= limit:
            return f"{currency.symbol}{amount / limit:.3g}{suffix}"
    return f"{currency.symbol}{amount:.3g}"


def money(figure: Figure, currency: Currency) -> str:
    """Return an amount, or a dash when it is unknown."""
    return DASH if figure.value is None else currency.money(figure.value)


def plain(figure: Figure) -> str:
    """Return the number without its unit, or a dash when it is unknown."""
    return DASH if figure.value is None else short(figure.value)


def full(figure: Figure, currency: Currency | None = None) -> str:
    """Return the number with interval, unit and basis, or the reason why there is none."""
    if figure.value is None:
        return f"{DASH} {figure.reason}"
    rate = currency.rate if currency else 1.0
    span = spread(figure, rate)
    shown = currency.money(figure.value) if currency else f"{number(figure.value)} {figure.unit}"
    return f"{shown}{f' ({span})' if span else ''}  {basis(figure.basis)}"


def basis(value: Basis) -> str:
    """Return a basis as mark and word."""
    return f"{MARKS[value]} {value.value}"


def percent(figure: Figure) -> str:
    """Return a share as a whole percentage."""
    return DASH if figure.value is None else f"{figure.value * 100:.0f} %"


def seconds(figure: Figure) -> str:
    """Return a time, in milliseconds below one second."""
    if figure.value is None:
        return DASH
    return f"{figure.value * 1000:.0f} ms" if figure.value < 1 else f"{short(figure.value)} s"


def tokens(value: float) -> str:
    """Return a token count with k, M, B or T."""
    return f"{short(value / 1e3)} k" if 1e4 <= abs(value) < 1e6 else big(value)


def slowest(option: Option) -> Slot | None:
    """Return the slot with the lowest known decode speed: what people will complain about."""
    known = [slot for slot in option.slots if slot.decode_tok_s_per_request.known]
    return min(known, key=lambda slot: slot.decode_tok_s_per_request.number, default=None)


def slowest_start(option: Option) -> Slot | None:
    """Return the slot with the longest known time to first token."""
    known = [slot for slot in option.slots if slot.ttft_s.known]
    return max(known, key=lambda slot: slot.ttft_s.number, default=None)


def busiest(option: Option) -> Slot | None:
    """Return the slot with the highest known utilisation."""
    known = [slot for slot in option.slots if slot.utilisation.known]
    return max(known, key=lambda slot: slot.utilisation.number, default=None)


def standing_for(plan: Plan, path: Path) -> Option | None:
    """Return the option that stands for a path: the best one, else the first that is listed with its reason."""
    return plan.best(path) or next((option for option in plan.options if option.path == path), None)
