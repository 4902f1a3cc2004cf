"""A draft written out as an option: every figure with its label."""

from __future__ import annotations

from collections.abc import Sequence

from planner.domain.figures import Basis, unknown
from planner.domain.plan import Feasible, Option, OptionBasis, Slot
from planner.domain.workload import Workload
from planner.finance.cashflow import cash_flow
from planner.planning.drafts import Draft
from planner.planning.option_money import money_figures
from planner.planning.slots import option_batches, option_slots, speed_basis
from planner.planning.writing import Writing, money_basis

NOT_DRAWN = "only the best option of each path is drawn against the others"


def option(writing: Writing, draft: Draft) -> Option:
    """Return the whole option of a draft."""
    slots = tuple(option_slots(writing, draft))
    basis = OptionBasis(speed=speed_basis(slots), money=money_basis(draft), demand=writing.month.basis)
    flow = None if draft.unpriced or not draft.components else cash_flow(draft.components, writing.terms)
    money = money_figures(writing, draft)
    return Option(
        id=draft.id, path=draft.path, name=draft.name, feasible=_feasible(draft, slots, writing.workload),
        reasons=_reasons(draft, slots), priced=draft.unpriced is None, basis=basis, slots=slots,
        batch=tuple(option_batches(writing, draft)), cash_flow=flow,
        p_wins=unknown("probability", Basis.ASSUMED, NOT_DRAWN), **money,
    )  # fmt: skip


def _feasible(draft: Draft, slots: Sequence[Slot], workload: Workload) -> Feasible:
    """Return `yes` for a token option only where every slot has a known speed that meets the targets."""
    if draft.feasible != "unverified":
        return draft.feasible
    target = workload.target_decode_tok_s
    for slot in slots:
        speed, ttft = slot.decode_tok_s_per_request.value, slot.ttft_s.value
        if speed is not None and target is not None and speed < target:
            return "no"
        if speed is None or (ttft is None and workload.target_ttft_s is not None):
            return "unverified"
        if ttft is not None and workload.target_ttft_s is not None and ttft > workload.target_ttft_s:
            return "no"
    return "yes"


def _reasons(draft: Draft, slots: Sequence[Slot]) -> tuple[str, ...]:
    reasons = list(draft.reasons)
    if draft.unpriced:
        reasons.insert(0, draft.unpriced)
    reasons += [
        f"{slot.provider}: {slot.decode_tok_s_per_request.reason}"
        for slot in slots
        if slot.decode_tok_s_per_request.value is None
    ]
    return tuple(dict.fromkeys(reasons))
