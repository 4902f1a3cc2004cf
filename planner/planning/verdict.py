"""The answer in one sentence, with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from planner.domain.figures import Basis, Figure, unknown
from planner.domain.plan import PATHS, BreakEven, Option, Path, Verdict

STAY: dict[Path, str] = {
    "api": "Stay on the API",
    "managed": "Use the managed cloud",
    "rented": "Rent",
    "owned": "Buy",
    "mixed": "Mix: buy one part and keep the API for the rest",
}
TOKENS_PATHS = ("api", "managed")
VERBS: dict[Path, str] = {
    "api": "the API", "managed": "the managed cloud", "rented": "renting", "owned": "owning", "mixed": "the mix",
}  # fmt: skip


def verdict(options: Sequence[Option], break_evens: Sequence[BreakEven], tokens_per_month: float) -> Verdict:
    """Return the verdict: the cheapest option that does the work, the best owned one, and where that turns."""
    usable = _usable(options)
    if not usable:
        return _nothing(options)
    best = min(usable, key=lambda option: option.usd_per_month_all_in.number)
    parts = [f"{STAY[best.path]}: {best.name} costs {usd_a_month(best)} a month all-in"]
    if best.feasible == "unverified":
        parts[0] += " (its speed is not verified)"
    if not same_weights(best):
        parts[0] += " (other weights than named: test their answers)"
    if best.path in TOKENS_PATHS:
        other = _cheapest(usable, ("owned",)) or _cheapest(usable, ("mixed",)) or _cheapest(usable, ("rented",))
        flips = _flip(break_evens, best, other)
        if other is None:
            parts.append(_without(options, best))
        else:
            verb = "machine that meets the targets" if other.path in ("owned", "rented") else "mix with a machine"
            parts.append(f"the cheapest {verb} ({other.name}) costs {usd_a_month(other)}")
            parts.append(_turning(flips, break_evens, best, other, tokens_per_month))
    else:
        other = _cheapest(usable, TOKENS_PATHS)
        flips = _flip(break_evens, other, best)
        if other is None:
            parts.append(_without(options, best))
        else:
            parts.append(f"the cheapest by the token ({other.name}) costs {usd_a_month(other)}")
            parts.append(_above(flips, tokens_per_month, best))
    text = "; ".join(part for part in parts if part) + "."
    return Verdict(text=text, recommended_option=best.id, path=best.path, flips_at=flips)


def _usable(options: Sequence[Option]) -> list[Option]:
    """Return what may win: on each path options with the named weights, the stand-ins where a path has none."""
    found: list[Option] = []
    for path in PATHS:
        mine = [option for option in options if option.path == path and option.feasible != "no" and option.priced]
        found += [option for option in mine if same_weights(option)] or mine
    return found


def same_weights(option: Option) -> bool:
    """Say whether every part is answered by the weights that the workload names."""
    return all(slot.same_weights for slot in option.slots)


def pair(break_evens: Sequence[BreakEven], start: str, end: str) -> BreakEven | None:
    """Return the break-even from one option to another."""
    return next((found for found in break_evens if found.from_ == start and found.to == end), None)


def _cheapest(options: Sequence[Option], paths: Sequence[str]) -> Option | None:
    found = [option for option in options if option.path in paths]
    return min(found, key=lambda option: option.usd_per_month_all_in.number, default=None)


def usd_a_month(option: Option) -> str:
    """Return an option's all-in cost a month for a sentence, with cents where they matter."""
    value = option.usd_per_month_all_in.number
    return f"${value:,.0f}" if value >= 10 else f"${value:,.2f}"


def _flip(break_evens: Sequence[BreakEven], start: Option | None, end: Option | None) -> Figure:
    if start is None or end is None:
        return unknown("tokens/month", Basis.ASSUMED, "there is no other option to turn to")
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
    verb = VERBS[other.path]
    if flips.value is not None:
        return f"{verb} wins above {_tokens(flips.value)} tokens a month, {_multiple(flips.value, today)}"
    found = pair(points, best.id, other.id)
    if found is None:
        return ""
    searched = found.tokens_per_month.searched
    limit = f" up to {_tokens(searched[1])}" if searched else ""
    price, now = found.api_price.value, best.usd_per_mtok.blended.value
    if price is None or price.value is None or not now:
        return f"{verb} wins at no volume{limit} tokens a month"
    ratio = price.value / now
    told = f"${price.value:,.2f} a million tokens instead of ${now:,.2g}"
    return f"{verb} wins at no volume{limit} tokens a month; it would at a price of {told} ({_times(ratio)} today's)"


def _above(flips: Figure, today: float, best: Option) -> str:
    if flips.value is None:
        return ""
    return f"{VERBS[best.path]} wins above {_tokens(flips.value)} tokens a month, {_multiple(flips.value, today)}"


def _tokens(tokens: float) -> str:
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if tokens >= size:
            return f"{tokens / size:,.0f} {letter}" if tokens >= 100 * size else f"{tokens / size:,.3g} {letter}"
    return f"{tokens:,.0f}"


def _multiple(value: float, today: float) -> str:
    return f"{_times(value / today)} today's" if today else ""


def _times(ratio: float) -> str:
    return f"{ratio:,.1f} times" if ratio < 10 else f"{ratio:,.0f} times"


def _without(options: Sequence[Option], best: Option) -> str:
    if best.path in TOKENS_PATHS:
        why = next((o.reasons[0] for o in options if o.path == "owned" and o.reasons), "none was found")
        return f"no machine meets the targets ({why})"
    return "nothing sold by the token does this work under these constraints"


def _nothing(options: Sequence[Option]) -> Verdict:
    why = next((option.reasons[0] for option in options if option.reasons), "no option was found")
    text = f"No option does this work: {why.rstrip('.')}."
    return Verdict(
        text=text, recommended_option=None, path=None,
        flips_at=unknown("tokens/month", Basis.ASSUMED, "there is no answer to flip"),
    )  # fmt: skip
