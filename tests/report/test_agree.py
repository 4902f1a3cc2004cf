"""A number is the same number in every format."""

import csv as stdlib_csv
import io
import json as stdlib_json

import pytest
import sample_plan

from planner.report import csv, json, markdown, text
from planner.report.format import Currency, big, number

PLAN = sample_plan.plan()
JSON = {option["id"]: option for option in stdlib_json.loads(json.render(PLAN))["options"]}
CSV = {row["id"]: row for row in stdlib_csv.DictReader(io.StringIO(csv.render(PLAN)))}
TEXT = text.render(PLAN)
MARKDOWN = markdown.render(PLAN)
SHOWN = ("owned-2x3090", "api-acme", "mixed-3090-acme")
MONEY = ("usd_per_month_all_in", "usd_upfront", "usd_per_month", "usd_per_task", "usd_npv")


def test_csv_and_json_hold_the_same_options_in_the_same_order():
    assert list(CSV) == list(JSON)


@pytest.mark.parametrize("option_id", JSON)
@pytest.mark.parametrize("key", MONEY)
def test_csv_has_the_value_interval_basis_and_reason_of_json(option_id, key):
    figure, row = JSON[option_id][key], CSV[option_id]
    for suffix, field in (("", "value"), ("_low", "low"), ("_high", "high")):
        assert row[key + suffix] == ("" if figure[field] is None else repr(float(figure[field])))
    assert row[f"{key}_basis"] == figure["basis"]
    assert row[f"{key}_reason"] == figure.get("reason", "")


@pytest.mark.parametrize("option_id", JSON)
def test_csv_has_the_speeds_of_every_slot(option_id):
    for index, slot in enumerate(JSON[option_id]["slots"], 1):
        figure = slot["decode_tok_s_per_request"]
        shown = "" if figure["value"] is None else repr(float(figure["value"]))
        assert CSV[option_id][f"slot{index}_decode_tok_s_per_request"] == shown


@pytest.mark.parametrize("page", [TEXT, MARKDOWN.replace("\\", "")], ids=["text", "markdown"])
def test_text_shows_the_rounded_numbers_of_json(page):
    for option_id in SHOWN:
        option = JSON[option_id]
        for figure in (option["usd_per_month_all_in"], option["usd_upfront"], option["usd_per_mtok"]["blended"]):
            assert Currency().money(figure["value"]) in page
        for slot in option["slots"]:
            value = slot["decode_tok_s_per_request"]["value"]
            assert (number(value) if value is not None else "—") in page
        for job in option["batch"]:
            value = job["tokens_per_hour"]["value"]
            assert (big(value) if value is not None else "—") in page


@pytest.mark.parametrize("page", [TEXT, MARKDOWN.replace("\\", "")], ids=["text", "markdown"])
def test_a_basis_mark_stands_behind_the_number_it_belongs_to(page):
    assert "38.25 ○" in page  # estimated
    assert "38.25 ●" in page  # measured
    assert "$41.30 □" in page  # listed
    assert "$212 ~" in page  # assumed
