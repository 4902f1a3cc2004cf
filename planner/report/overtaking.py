"""When one path overtakes another, told in sentences for text and Markdown."""

from __future__ import annotations

from planner.domain.plan import BreakEven, BreakEvenPoint, Plan
from planner.report.format import big, number
from planner.report.layout import heading, labelled
from planner.report.safe import clean
from planner.report.sections import View
from planner.report.tables import PATH_NAMES


def break_even(view: View) -> list[str]:
    """Return month and volume at which one path overtakes another."""
    pairs = break_even_texts(view)
    if not pairs:
        return []
    lines = [heading("When one overtakes the other", "", view.room)]
    label_width = max(len(label) for label, _ in pairs) + 2
    return lines + [line for label, text in pairs for line in labelled(label, text, view.room, label_width)]


def break_even_texts(view: View) -> list[tuple[str, str]]:
    """Return (pair, what happens) for the pairs of the recommended option and those where something does happen.

    The paths that are dearer than one option whatever the volume share one text.
    """
    plan, out = view.plan, []
    dearer: dict[str, list[str]] = {}
    for pair in plan.break_even:
        happens = bool(pair.month.status == "reached" or pair.tokens_per_month.crossings)
        if not happens and _always_dearer(plan, pair):
            dearer.setdefault(pair.from_, []).append(_path_of(plan, pair.to))
        elif happens or plan.verdict.recommended_option in (pair.from_, pair.to):
            label = f"{_path_of(plan, pair.from_)} → {_path_of(plan, pair.to)}"
            texts = [_volume(plan, pair)]
            # Never, at today's volume as at any other: the second reason says it all.
            if pair.month.status != "never" or pair.tokens_per_month.crossings:
                texts.insert(0, _months(pair))
            out.append((label, "; ".join(texts)))
    always = [
        (_path_of(plan, option), f"cheaper than {', '.join(paths)} at every volume searched")
        for option, paths in dearer.items()
        if option == plan.verdict.recommended_option
    ]
    return always + out


def _always_dearer(plan: Plan, pair: BreakEven) -> bool:
    """Say whether the second option costs more today; without a crossing it then does at every volume searched."""
    first, second = plan.option(pair.from_), plan.option(pair.to)
    if first is None or second is None or pair.tokens_per_month.searched is None:
        return False
    costs = (first.usd_per_month_all_in.value, second.usd_per_month_all_in.value)
    return costs[0] is not None and costs[1] is not None and costs[0] < costs[1]


def _path_of(plan: Plan, option_id: str) -> str:
    option = plan.option(option_id)
    return PATH_NAMES[option.path] if option else clean(option_id, 20)


def _months(pair: BreakEven) -> str:
    plain, discounted = _month(pair.month), _month(pair.month_discounted)
    if plain is None:
        return "never at today's volume" if pair.month.status == "never" else clean(pair.month.reason)
    if plain == "0":
        return "from the first month"
    return f"pays after {plain} months" + (f", discounted {discounted}" if discounted else ", discounted not")


def _month(point: BreakEvenPoint) -> str | None:
    if point.status != "reached" or point.value is None or point.value.value is None:
        return None
    bounds = f" ({number(point.low, 2)}–{number(point.high, 2)})" if point.low and point.high else ""
    return f"{number(point.value.value, 3)}{bounds}"


def _volume(plan: Plan, pair: BreakEven) -> str:
    """Return all volumes at which the cheaper one changes, told from the side of the option that overtakes."""
    point = pair.tokens_per_month
    if not point.crossings:
        return clean(point.reason)
    parts = []
    for index, crossing in enumerate(point.crossings):
        wins = crossing.winner_above == pair.to
        if index == 0:
            parts.append(f"wins {'above' if wins else 'below'} {big(crossing.value, 3)} tokens a month")
        elif index == 1:
            parts.append(f"{'wins again above' if wins else 'loses again at'} {big(crossing.value, 3)}")
        else:
            parts.append(f"{'wins' if wins else 'loses'} at {big(crossing.value, 3)}")
    return f"{_path_of(plan, pair.to)} {', '.join(parts)}"
