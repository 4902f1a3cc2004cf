"""Every shipped workload gets an answer, with the keys and labels that others rely on."""

import datetime

import pytest

from planner.domain.plan import PATHS
from planner.report import json as as_json
from planner.workspace import Workspace

TODAY = datetime.date(2026, 12, 1)
NAMES = ("team-80-20", "night-batch", "voice-agent", "rag-long-documents", "coding-agents", "ten-calls-a-day")
PLAN_KEYS = {
    "schema", "as_of", "currency", "fx", "workload", "demand", "options", "break_even", "advice", "verdict", "warnings",
}  # fmt: skip
OPTION_KEYS = {
    "id", "path", "name", "feasible", "reasons", "basis", "slots", "usd_upfront", "usd_per_month", "usd_per_mtok",
    "usd_per_task", "usd_per_accepted_task", "batch", "cash_flow", "usd_npv", "irr", "payback_months",
    "usd_levelised_per_mtok", "p_wins", "kwh_per_mtok", "gco2e_per_mtok",
}  # fmt: skip
SLOT_KEYS = {
    "mix", "share", "model", "same_weights", "served_by", "hardware", "count", "engine", "quant",
    "decode_tok_s_per_request", "prefill_tok_s", "ttft_s", "task_s", "max_concurrency", "utilisation", "memory_gib",
}  # fmt: skip
BREAK_EVEN_KEYS = {
    "from", "to", "month", "month_discounted", "tokens_per_month", "utilisation", "users", "hours_per_day", "api_price",
}  # fmt: skip


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return Workspace(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def plans(workspace):
    return {name: workspace.plan(workspace.load_workload(name), TODAY) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_with_a_verdict_and_priced_options(plans, name):
    answer = plans[name]
    assert answer.verdict.recommended_option is not None
    assert answer.verdict.text.endswith(".")
    assert any(option.priced for option in answer.options)


@pytest.mark.parametrize("name", NAMES)
def test_keys_and_labels_are_those_of_the_contract(plans, name):
    document = as_json.document(plans[name])
    assert set(document) >= PLAN_KEYS
    for option in document["options"]:
        assert set(option) >= OPTION_KEYS
        for slot in option["slots"]:
            assert set(slot) >= SLOT_KEYS
    for pair in document["break_even"]:
        assert set(pair) >= BREAK_EVEN_KEYS
    found = list(as_json.figures(document))
    assert len(found) > 100
    for path, figure in found:
        assert figure["basis"] and figure["source"], path
        if figure["value"] is None:
            assert figure["reason"], path


def test_the_team_has_a_priced_option_with_its_own_models_on_every_path(plans):
    answer = plans["team-80-20"]
    for path in PATHS:
        options = [
            option for option in answer.options
            if option.path == path and option.priced and option.feasible != "no"
            and all(slot.same_weights for slot in option.slots)
        ]  # fmt: skip
        assert options, path
        assert {slot.mix for slot in options[0].slots} == {"routine", "hard"}
        if path in ("api", "managed"):
            assert all(option.feasible == "unverified" for option in options)


def test_what_does_not_do_is_listed_with_the_reason(plans):
    ruled_out = [option for option in plans["team-80-20"].options if option.feasible == "no"]
    assert ruled_out
    assert all(option.reasons for option in ruled_out)


def test_a_wide_team_costs_in_proportion_on_the_api(workspace):
    # Everything on the API scales with users, batch work apart, so a workload without batch doubles exactly.
    base = workspace.load_workload("ten-calls-a-day")
    double = workspace.apply_sets(base, [f"demand.users={base.demand.users * 2}"])
    one, two = (workspace.plan(found, TODAY).best("api") for found in (base, double))
    assert two.usd_per_month.value == pytest.approx(2 * one.usd_per_month.value)


def test_money_never_depends_on_a_missing_price(plans):
    for answer in plans.values():
        for option in answer.options:
            if not option.priced:
                assert option.usd_per_month_all_in.value is None
                assert option.usd_per_mtok.blended.value is None
