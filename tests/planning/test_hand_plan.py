"""A plan small enough to be computed by hand, to the cent."""

import pytest

from planner.domain.prices import CloudOffer
from planner.planning import plan
from tests.planning import toy

# The machine: 3,600 USD, 100 W idle and under load, 0.10 USD/kWh, no other costs.
#   energy    100 W × 730 h = 73 kWh × 0.10                     =    7.30 USD a month
#   all-in    3,600 / 36 months + 7.30                          =  107.30 USD a month
# The API: 1 USD a million input tokens, 2 USD output; a task is 800 + 200 tokens.
#   a task    800 × 1e-6 + 200 × 2e-6                           =  0.0012 USD
#   a month   200,000 tasks × 0.0012                            =  240.00 USD for 200 M tokens
# Break-even:
#   month     3,600 / (240.00 - 7.30)                           =  15.4706 months
#   volume    107.30 / 1.20 USD a million tokens                =  89.4167 M tokens a month
#   users     200 × 89.4167 / 200                               =  89.4167


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    return plan(toy.workload(), toy.library(home), toy.TODAY)


def best(answer, path):
    found = answer.best(path)
    assert found is not None, [(o.id, o.feasible, o.reasons) for o in answer.options]
    return found


def test_demand(answer):
    demand = answer.demand
    assert demand.requests_per_month.value == pytest.approx(200_000)
    assert demand.tokens_per_month.input.value == pytest.approx(160e6)
    assert demand.tokens_per_month.output.value == pytest.approx(40e6)
    # 200,000 tasks in 200 h, no peak: 1,000 an hour.
    assert demand.peak_requests_per_second.value == pytest.approx(1000 / 3600)


def test_api_to_the_cent(answer):
    api = best(answer, "api")
    assert api.feasible == "unverified"
    assert api.usd_upfront.value == 0
    assert api.usd_per_month.value == pytest.approx(240.00, abs=0.005)
    assert api.usd_per_mtok.blended.value == pytest.approx(1.20)
    assert api.usd_per_mtok.input.value == pytest.approx(1.00)
    assert api.usd_per_mtok.output.value == pytest.approx(2.00)
    assert api.usd_per_task.value == pytest.approx(0.0012)


def test_owned_to_the_cent(answer):
    owned = best(answer, "owned")
    assert owned.slots[0].machines == 1
    assert owned.usd_upfront.value == pytest.approx(3600.00)
    assert owned.usd_per_month.value == pytest.approx(7.30, abs=0.005)
    assert owned.usd_per_month_all_in.value == pytest.approx(107.30, abs=0.005)
    assert owned.usd_per_mtok.blended.value == pytest.approx(107.30 / 200)
    # 73 kWh for 200 M tokens.
    assert owned.kwh_per_mtok.value == pytest.approx(0.365)


def test_break_even_month_and_volume(answer):
    (pair,) = [found for found in answer.break_even if found.to == best(answer, "owned").id]
    assert pair.from_ == best(answer, "api").id
    assert pair.month.value.value == pytest.approx(3600 / 232.7, abs=0.005)
    first = pair.tokens_per_month.crossings[0]
    assert first.value == pytest.approx(89.4167e6, rel=1e-4)
    assert first.winner_above == pair.to
    assert pair.users.value.value == pytest.approx(89.4167, rel=1e-4)


def test_the_verdict_buys_and_says_when_it_turns(answer):
    verdict = answer.verdict
    assert verdict.path == "owned"
    assert verdict.flips_at.value == pytest.approx(89.4167e6, rel=1e-4)
    assert "$107" in verdict.text
    assert "$240" in verdict.text


def test_at_a_tenth_of_the_use_the_verdict_stays_on_the_api(tmp_path):
    answer = plan(toy.workload(demand={"users": 20}), toy.library(tmp_path), toy.TODAY)
    assert answer.verdict.path == "api"
    assert answer.verdict.text.startswith("Stay on the API")
    # 89.4167 M over 20 M tokens today.
    assert "4.5 times today's" in answer.verdict.text


def test_cash_flow_rows_add_up_to_the_total(answer):
    flow = best(answer, "owned").cash_flow
    for month in flow.months:
        assert sum(row.values[month] for row in flow.rows) == pytest.approx(flow.total[month])
    # 3,600 and 36 months of 7.30.
    assert sum(flow.total) == pytest.approx(3600 + 36 * 7.30)


def test_a_missing_price_is_not_priced_and_never_cheap(tmp_path):
    unpriced = toy.device(id="free", name="Unpriced machine", prices=())
    answer = plan(toy.workload(), toy.library(tmp_path, hardware=(toy.device(), unpriced)), toy.TODAY)
    found = [option for option in answer.options if "free" in option.id]
    assert found
    assert all(not option.priced and option.usd_per_month_all_in.value is None for option in found)
    assert "free" not in answer.verdict.recommended_option


def test_without_an_output_price_the_api_is_not_priced(tmp_path):
    prices = (toy.price(output_usd_per_mtok=None),)
    answer = plan(toy.workload(), toy.library(tmp_path, prices=prices), toy.TODAY)
    api = [option for option in answer.options if option.path == "api"]
    assert api
    assert not any(option.priced for option in api)
    assert answer.best("api") is None


def test_data_that_may_not_leave_rules_out_what_is_bought_by_the_token(tmp_path):
    answer = plan(toy.workload(constraints={"data_may_leave": False}), toy.library(tmp_path), toy.TODAY)
    assert all(option.feasible == "no" for option in answer.options if option.path in ("api", "managed"))
    assert answer.verdict.path == "owned"


def test_a_budget_below_the_price_rules_buying_out(tmp_path):
    answer = plan(toy.workload(constraints={"budget_usd": 3000}), toy.library(tmp_path), toy.TODAY)
    assert answer.best("owned") is None
    reasons = [reason for option in answer.options if option.path == "owned" for reason in option.reasons]
    assert any("budget" in reason for reason in reasons)


def test_marginal_cost_leaves_the_price_of_the_machine_out(tmp_path):
    answer = plan(toy.workload(money={"cost_scope": "marginal"}), toy.library(tmp_path), toy.TODAY)
    assert best(answer, "owned").usd_per_month_all_in.value == pytest.approx(7.30, abs=0.005)


def test_calls_longer_than_the_model_reads_rule_everything_out(tmp_path):
    # llama-3.1-8b reads 131,072 tokens (its profile, from the published configuration).
    answer = plan(toy.workload(request={"input_tokens": 200_000}), toy.library(tmp_path), toy.TODAY)
    assert all(option.feasible == "no" for option in answer.options)
    (api,) = [option for option in answer.options if option.path == "api"]
    assert any("131,072" in reason and "200,200" in reason for reason in api.reasons)
    assert answer.verdict.recommended_option is None


def test_data_that_may_not_leave_rules_renting_out_too(tmp_path):
    offer = CloudOffer(
        provider="acme", instance="box", gpu="Toy", hardware="toy", count=1, usd_per_hour=0.01, price_type="on-demand",
        term="on-demand", **toy.LABEL,
    )  # fmt: skip
    library = toy.library(tmp_path, clouds=(offer,))
    assert plan(toy.workload(), library, toy.TODAY).best("rented") is not None
    answer = plan(toy.workload(constraints={"data_may_leave": False}), library, toy.TODAY)
    rented = [option for option in answer.options if option.path == "rented"]
    assert rented
    assert all(option.feasible == "no" and "data may not leave" in option.reasons[0] for option in rented)


def test_growth_is_told_beside_costs_at_todays_volume(tmp_path):
    answer = plan(toy.workload(demand={"users": 20, "monthly_growth": 0.1}), toy.library(tmp_path), toy.TODAY)
    assert answer.verdict.path == "api"
    # 24 USD a month growing 10 % for 36 months adds up to 24 × (1.1^36 - 1) / 0.1 = 7,179 USD; the machine costs
    # 3,600 + 36 × 7.30 = 3,863 USD as long as one is enough.
    (told,) = [warning for warning in answer.warnings if "a month over 36 months" in warning]
    assert "Toy machine" in told
    assert "$7,179" in told


def test_a_batch_run_costs_its_share_of_the_machine(tmp_path):
    batch = [{"name": "night", "documents": 1000, "input_tokens": 800, "output_tokens": 200, "deadline_hours": 8,
              "runs_per_month": 20}]  # fmt: skip
    answer = plan(toy.workload(demand={"users": 0}, batch=batch), toy.library(tmp_path), toy.TODAY)
    owned = best(answer, "owned")
    # The machine does nothing else: 20 runs pay all of its 107.30 USD a month.
    assert owned.batch[0].usd.value == pytest.approx(107.30 / 20, abs=0.005)
    # 20,000 documents of 0.0012 USD by the token, a run 1.20 USD.
    assert best(answer, "api").batch[0].usd.value == pytest.approx(1.20)
