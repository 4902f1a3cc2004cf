"""The answer in one sentence, with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from planner.domain.figures import Basis, Figure, unknown
from planner.domain.plan import BreakEven, Option, Path, Verdict
from planner.domain.units import TOKENS_PER_MTOK

STAY: dict[Path, str] = {
    "api": "Stay on the API",
    "managed": "Use the managed cloud",
    "rented": "Rent",
    "owned": "Buy",
    "mixed": "Mix: buy one part and keep the API for the rest",
}
TOKENS_PATHS = ("api", "managed")


def verdict(options: Sequence[Option], break_evens: Sequence[BreakEven], tokens_per_month: float) -> Verdict:
    """Return the verdict: the cheapest option that does the work, the best owned one, and where that turns."""
    usable = [option for option in options if option.feasible != "no" and option.priced and same_weights(option)]
    if not usable:
        usable = [option for option in options if option.feasible != "no" and option.priced]
    if not usable:
        return _nothing(options)
    best = min(usable, key=lambda option: option.usd_per_month_all_in.number)
    owned = _cheapest(usable, ("owned", "mixed") if best.path in TOKENS_PATHS else ("owned",))
    tokens = _cheapest(usable, TOKENS_PATHS)
    other = tokens if best.path in ("owned", "mixed", "rented") else owned
    parts = [f"{STAY[best.path]}: {best.name} costs {_usd(best)} a month all-in"]
    if best.feasible == "unverified":
        parts[0] += " (its speed is not verified)"
    flips = unknown("tokens/month", Basis.ASSUMED, "no other option to turn to")
    if other is None:
        parts.append(_without(options, best))
    elif best.path in TOKENS_PATHS:
        flips = _flip(break_evens, best, other)
        verb = "the cheapest machine that meets the targets" if other.path == "owned" else "the best mix with a machine"
        turning = _turning(flips, break_evens, best, other, tokens_per_month)
        parts += [f"{verb} ({other.name}) costs {_usd(other)}", turning]
    else:
        flips = _flip(break_evens, other, best)
        parts += [f"{other.name} costs {_usd(other)}", _below(flips, tokens_per_month, best)]
    text = "; ".join(part for part in parts if part) + "."
    return Verdict(text=text, recommended_option=best.id, path=best.path, flips_at=flips)


def same_weights(option: Option) -> bool:
    """Say whether every part is answered by the weights that the workload names."""
    return all(slot.same_weights for slot in option.slots)


def pair(break_evens: Sequence[BreakEven], start: str, end: str) -> BreakEven | None:
    """Return the break-even from one option to another."""
    return next((found for found in break_evens if found.from_ == start and found.to == end), None)


def _cheapest(options: Sequence[Option], paths: Sequence[str]) -> Option | None:
    found = [option for option in options if option.path in paths]
    return min(found, key=lambda option: option.usd_per_month_all_in.number, default=None)


def _usd(option: Option) -> str:
    value = option.usd_per_month_all_in.number
    return f"${value:,.0f}" if value >= 10 else f"${value:,.2f}"


def _flip(break_evens: Sequence[BreakEven], start: Option, end: Option) -> Figure:
    found = pair(break_evens, start.id, end.id)
    if found is None:
        return unknown("tokens/month", Basis.ASSUMED, "no break-even was computed for this pair")
    point = found.tokens_per_month
    wins = [crossing for crossing in point.crossings or () if crossing.winner_above == end.id]
    if point.status != "reached" or not wins:
        return unknown("tokens/month", Basis.ASSUMED, point.reason)
    first = wins[0]
    return Figure(
        value=first.value, low=min(first.low or first.value, first.value),
        high=max(first.high or first.value, first.value),
        unit="tokens/month", basis=start.basis.money, source=f"break-even {start.id} → {end.id}",
        as_of=start.usd_per_month_all_in.as_of,
    )  # fmt: skip


def _turning(flips: Figure, points: Sequence[BreakEven], best: Option, other: Option, today: float) -> str:
    verb = "owning" if other.path == "owned" else "the mix"
    if flips.value is None:
        found = pair(points, best.id, other.id)
        searched = found.tokens_per_month.searched if found else None
        if found and found.tokens_per_month.status == "never":
            return f"{verb} never wins: {flips.reason}"
        limit = f" up to {searched[1] / TOKENS_PER_MTOK:,.0f} M tokens a month" if searched else ""
        return f"{verb} does not win{limit}"
    return f"{verb} wins above {flips.value / TOKENS_PER_MTOK:,.0f} M tokens a month, {_multiple(flips.value, today)}"


def _below(flips: Figure, today: float, best: Option) -> str:
    if flips.value is None:
        return ""
    verb = {"owned": "owning", "mixed": "the mix", "rented": "renting"}[best.path]
    return f"{verb} wins above {flips.value / TOKENS_PER_MTOK:,.0f} M tokens a month, {_multiple(flips.value, today)}"


def _multiple(value: float, today: float) -> str:
    ratio = value / today if today else float("inf")
    return f"{ratio:,.1f} times today's" if ratio < 10 else f"{ratio:,.0f} times today's"


def _without(options: Sequence[Option], best: Option) -> str:
    if best.path in TOKENS_PATHS:
        why = next((o.reasons[0] for o in options if o.path == "owned" and o.reasons), "none was found")
        return f"no machine meets the targets ({why})"
    return "nothing sold by the token does this work under these constraints"


def _nothing(options: Sequence[Option]) -> Verdict:
    why = next((option.reasons[0] for option in options if option.reasons), "no option was found")
    text = f"No option does this work: {why}."
    return Verdict(
        text=text, recommended_option=None, path=None,
        flips_at=unknown("tokens/month", Basis.ASSUMED, "there is no answer to flip"),
    )  # fmt: skip
