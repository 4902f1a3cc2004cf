"""How a figure came about, as text."""

from __future__ import annotations

from planner.domain.errors import InputError, nearest
from planner.domain.plan import Explanation, Plan
from planner.report.layout import labelled, wrap
from planner.report.safe import clean

KEYS_SHOWN = 12


def find(plan: Plan, key: str) -> Explanation:
    """Return the explanation of a figure by its key, or by an ending that only one key has.

    Raises InputError naming the nearest keys.
    """
    by_key = {explanation.key: explanation for explanation in plan.explanations}
    if key in by_key:
        return by_key[key]
    ending = [name for name in by_key if name.endswith(f".{key}")]
    if len(ending) == 1:
        return by_key[ending[0]]
    if ending:
        raise InputError(f"{key!r} names {len(ending)} figures.", f"Say which: {_some(ending)}.")
    hint = nearest(key, by_key) or f"Known: {_some(sorted(by_key))}."
    raise InputError(f"No figure has the key {key!r}.", hint)


def _some(keys: list[str]) -> str:
    more = f" … ({len(keys)} in all)" if len(keys) > KEYS_SHOWN else ""
    return ", ".join(keys[:KEYS_SHOWN]) + more


def render(explanation: Explanation, width: int = 80) -> str:
    """Return formula, inputs, result and the keys that change it, ending with a line break."""
    lines = [clean(explanation.key), *labelled("result", explanation.result, width)]
    lines += labelled("formula", explanation.formula, width)
    for index, (name, value) in enumerate(explanation.inputs):
        lines += labelled("from" if index == 0 else "", f"{name}: {value}", width)
    lines += labelled("source", explanation.source, width)
    if explanation.change_with:
        keys = ", ".join(f"--set {key}=…" for key in explanation.change_with)
        lines += wrap(keys, width, f"  {'change with':<13}")
    return "\n".join(lines) + "\n"
