import json as stdlib_json

import pytest
import sample_plan

from planner.domain.errors import NoAnswerError
from planner.domain.figures import Figure
from planner.report import json

DOCUMENT = stdlib_json.loads(json.render(sample_plan.plan()))
DECODE = DOCUMENT["options"][0]["slots"][0]["decode_tok_s_per_request"]
# The keys that the README promises to scripts.
TOP = "schema as_of currency fx workload demand options break_even advice verdict warnings"
OPTION = (
    "id path name feasible reasons basis slots usd_upfront usd_per_month usd_per_mtok usd_per_task "
    "usd_per_accepted_task batch cash_flow usd_npv irr payback_months usd_levelised_per_mtok p_wins "
    "kwh_per_mtok gco2e_per_mtok"
)
SLOT = (
    "mix share model same_weights served_by hardware count engine quant decode_tok_s_per_request prefill_tok_s ttft_s "
    "task_s max_concurrency utilisation memory_gib"
)
AXES = (
    "context_tokens prompt_tokens output_tokens concurrency cached_prefix_tokens model quant kv_quant engine "
    "engine_build speculative hardware count"
)
POINTS = "month month_discounted tokens_per_month utilisation users hours_per_day api_price"


@pytest.mark.parametrize(
    ("part", "keys"),
    [
        (DOCUMENT, TOP),
        (DOCUMENT["demand"], "requests_per_month tokens_per_month peak_requests_per_second"),
        (DOCUMENT["demand"]["tokens_per_month"], "input cached_input output"),
        (DOCUMENT["verdict"], "text recommended_option path flips_at"),
        (DOCUMENT["options"][0], OPTION),
        (DOCUMENT["options"][0]["basis"], "speed money demand"),
        (DOCUMENT["options"][0]["usd_per_mtok"], "blended input output"),
        (DOCUMENT["options"][0]["slots"][0], SLOT),
        (DOCUMENT["options"][0]["slots"][0]["memory_gib"], "weights kv overhead available"),
        (DECODE, "value low high unit basis source as_of kind axes"),
        (DECODE["axes"], AXES),
        (DOCUMENT["options"][0]["batch"][0], "name tokens_per_hour finish_hours meets_deadline usd"),
        (DOCUMENT["options"][0]["cash_flow"], "months rows total"),
        (DOCUMENT["break_even"][0], f"from to {POINTS}"),
        (DOCUMENT["break_even"][0]["tokens_per_month"], "status reason searched crossings"),
        (DOCUMENT["break_even"][0]["tokens_per_month"]["crossings"][0], "value low high winner_above"),
        (DOCUMENT["break_even"][0]["month"], "status reason searched value low high p10 p50 p90"),
    ],
)
def test_the_promised_keys_are_there(part, keys):
    assert set(keys.split()) <= part.keys()


def test_the_schema_is_named():
    assert DOCUMENT["schema"] == "planner.plan/1"


def test_every_figure_has_basis_unit_and_source_and_an_unknown_one_its_reason():
    found = dict(json.figures(DOCUMENT))
    # 4 options × 14 figures of the option itself, and more in slots, batches and demand.
    assert len(found) > 4 * 14
    for path, figure in found.items():
        assert figure["basis"], path
        assert figure["unit"], path
        assert figure["source"], path
        assert figure["value"] is not None or figure["reason"], path


def test_a_figure_without_a_source_is_refused():
    bare = Figure(value=1.0, unit="USD", basis="listed", source="")
    broken = sample_plan.plan(options=(sample_plan.api_option().model_copy(update={"usd_upfront": bare}),))
    with pytest.raises(NoAnswerError, match=r"options\[0\].usd_upfront"):
        json.render(broken)


def test_numbers_that_json_lacks_become_null():
    assert stdlib_json.loads(json.dumps({"x": [float("nan"), float("inf"), 1.5]})) == {"x": [None, None, 1.5]}
