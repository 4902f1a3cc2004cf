import pytest
import sample_plan
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.domain.errors import InputError
from planner.domain.plan import Crossing
from planner.report import explain, markdown, series, text
from planner.report.format import Currency, Footnotes
from planner.report.layout import grid_lines, wrap
from planner.report.safe import width
from planner.report.tables import OPTION_COLUMNS, SLOT_COLUMNS, fitting, pick

HOSTILE = "\x1b[31m[/red]\u202egemma\n\x07" + "長" * 300


def test_the_answer_stands_last():
    shown = text.render(sample_plan.plan())
    last = shown.rstrip().splitlines()
    assert last[-3].strip() == "VERDICT"
    assert " ".join(line.strip() for line in last[-2:]) == sample_plan.plan().verdict.text


def test_lines_stay_within_eighty_columns_whatever_names_data_has():
    api = sample_plan.api_option()
    slot = api.slots[0].model_copy(update={"model": HOSTILE, "provider": HOSTILE})
    option = api.model_copy(update={"name": HOSTILE, "slots": (slot,)})
    work = sample_plan.workload().model_copy(update={"name": HOSTILE, "title": HOSTILE, "question": HOSTILE})
    plan = sample_plan.plan(options=(option,), workload=work, warnings=(HOSTILE,))
    for page in (text.render(plan), markdown.render(plan)):
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "\x07" not in page
    assert max(width(line) for line in text.render(plan).splitlines()) <= 80


@settings(max_examples=25)
@given(st.integers(min_value=60, max_value=200))
def test_a_table_fits_any_width(room):
    assert max(width(line) for line in text.render(sample_plan.plan(), room).splitlines()) <= room


def test_one_of_a_thing_is_not_many():
    demand = sample_plan.workload().demand.model_copy(update={"users": 1.0, "requests_per_user_hour": 1.0})
    work = sample_plan.workload().model_copy(update={"demand": demand})
    shown = " ".join(text.render(sample_plan.plan(workload=work)).split())
    assert "1 user × 8 h × 21 days, 1 request per user-hour" in shown


def test_a_path_without_an_option_says_why():
    shown = " ".join(text.render(sample_plan.plan()).split())
    assert "rented: none. gpt-oss-120b does not fit: 61 GiB of weights, 22 GiB of room" in shown
    assert "managed: none. Nothing on offer" in shown


def test_an_option_without_a_price_is_never_the_best():
    unpriced = sample_plan.api_option().model_copy(update={"priced": False, "reasons": ("not priced: no token price",)})
    shown = text.render(sample_plan.plan(options=(unpriced,)))
    assert "API: none. not priced: no token price" in shown
    assert "$41.30 □" not in shown


def test_paths_without_an_option_for_the_same_reason_share_a_line():
    shown = " ".join(text.render(sample_plan.plan(options=(sample_plan.api_option(),))).split())
    assert "managed, rented, owned, mixed: none. Nothing on offer" in shown


def test_unreached_break_evens_say_why():
    shown = " ".join(text.render(sample_plan.plan()).split())
    assert "API → owned pays after 30.5 (24–41) months, discounted not; owned wins above 412 M tokens a month" in shown


def crossed(*winners):
    """The sample's break-even with one crossing per winner, at 100, 200, 300 … million tokens."""
    pair = sample_plan.plan().break_even[0]
    crossings = tuple(Crossing(value=index * 1e8, winner_above=winner) for index, winner in enumerate(winners, 1))
    point = sample_plan.point("reached", "crosses", searched=(1e6, 1e10), crossings=crossings)
    return sample_plan.plan(break_even=(pair.model_copy(update={"tokens_per_month": point}),))


API, OWNED = "api-acme", "owned-2x3090"


@pytest.mark.parametrize(
    ("winners", "words"),
    [
        ((OWNED, API), "owned wins above 100 M tokens a month, loses again at 200 M"),
        ((OWNED, API, OWNED, API), "above 100 M tokens a month, loses again at 200 M, wins at 300 M, loses at 400 M"),
        ((API, OWNED), "owned wins below 100 M tokens a month, wins again above 200 M"),
    ],
)
def test_every_crossing_is_told_from_the_side_of_the_challenger(winners, words):
    plan = crossed(*winners)
    assert words in " ".join(text.render(plan).split())
    assert words in markdown.render(plan)


def test_a_path_that_is_never_overtaken_says_so_once():
    pair = sample_plan.plan().break_even[0]
    never = pair.model_copy(
        update={"month": sample_plan.point(), "tokens_per_month": sample_plan.point(searched=(1e6, 1e10))}
    )
    mixed = never.model_copy(update={"to": "mixed-3090-acme"})
    other = never.model_copy(update={"from_": "rented-l4"})
    shown = " ".join(text.render(sample_plan.plan(break_even=(never, mixed, other))).split())
    assert "API cheaper than owned, mixed at every volume searched" in shown
    assert "rented → owned" not in shown
    assert "rented cheaper" not in shown


def test_a_dearer_path_that_wins_at_every_volume_is_not_called_dearer():
    # Owned costs 212.25 all-in, the API 41.30: seen from the owned machine the API is no challenger that loses.
    pair = sample_plan.plan().break_even[0].model_copy(
        update={"from_": OWNED, "to": API, "month": sample_plan.point(),
                "tokens_per_month": sample_plan.point(reason="it wins at every volume", searched=(1e6, 1e10))}
    )  # fmt: skip
    shown = " ".join(text.render(sample_plan.plan(break_even=(pair,))).split())
    assert "owned → API it wins at every volume" in shown


def test_chances_stand_in_the_money_table_only_where_they_were_drawn():
    assert "Wins" not in text.render(sample_plan.plan())
    chance = sample_plan.plain(0.973, "probability")
    drawn = sample_plan.api_option().model_copy(update={"p_wins": chance})
    shown = text.render(sample_plan.plan(options=(drawn, sample_plan.owned_option())))
    assert "per Mtok    Wins  Feasible" in shown
    assert "97.3 %  unverified" in shown
    assert "—  yes" in shown


def test_parts_of_unknown_speed_are_named_with_the_reason_and_take_no_rows():
    shown = text.render(sample_plan.plan())
    words = " ".join(shown.split())
    assert "Unknown for API, mixed (gpt-oss-120b): no speed is published; run `planner probe endpoint`" in words
    assert "mixed gemma-3-27b  2× rtx-3090" in shown


def test_a_reason_does_not_repeat_the_name_of_its_option():
    name = "1× L4 by the hour"
    option = sample_plan.rented_option().model_copy(update={"reasons": (f"{name}: too slow",)})
    assert f"- {name}: too slow" in text.render(sample_plan.plan(options=(option,)))


def test_a_number_keeps_its_unit_on_its_line():
    assert wrap("wins above 2.75 B tokens", 17) == ["wins above 2.75 B", "tokens"]
    assert wrap("wins above 2.75 B tokens", 16) == ["wins above", "2.75 B tokens"]


def test_amounts_follow_the_currency_and_the_rate_is_dated():
    shown = text.render(sample_plan.euro_plan())
    assert "€33.04 □" in shown  # 41.30 × 0.8
    assert "144–208" in shown  # 180..260 × 0.8
    assert "EUR at 0.8 for one US dollar (central bank, 2026-11-30)" in shown


def test_fixed_columns_are_never_cut():
    lines = grid_lines(["Id", "Name"], [["probe-2026-12-01-abcdef", "a long name " * 10]], "=<", 50)
    assert lines[2].startswith("probe-2026-12-01-abcdef  a long name")
    assert width(lines[2]) <= 50


def test_columns_of_low_priority_go_first():
    kept = [column.id for column in fitting(OPTION_COLUMNS, 100)]
    assert {"path", "name", "usd_per_month_all_in", "usd_upfront", "feasible"} <= set(kept)
    assert "gco2e_per_mtok" not in kept


def test_columns_sort_by_number_with_unknowns_last():
    column = pick(OPTION_COLUMNS, "usd_per_month_all_in")[0]
    ordered = sorted(sample_plan.options(), key=column.sort_key)
    assert [option.id for option in ordered] == ["api-acme", "rented-l4", "owned-2x3090", "mixed-3090-acme"]
    speed = pick(SLOT_COLUMNS, "decode_tok_s_per_request")[0]
    slots = [sample_plan.api_slot(), sample_plan.own_slot()]
    assert sorted(slots, key=speed.sort_key)[0].served_by == "owned"


def test_an_explanation_is_found_by_key_or_unique_ending():
    plan = sample_plan.plan()
    key = "options.owned-2x3090.usd_per_month_all_in"
    assert explain.find(plan, key).key == key
    assert explain.find(plan, "usd_per_month_all_in").key == key
    with pytest.raises(InputError, match="No figure has the key") as error:
        explain.find(plan, "options.owned-2x3090.usd_per_month_al_in")
    assert key in error.value.hint


def test_an_ending_that_several_figures_have_is_asked_back():
    one = sample_plan.plan().explanations[0]
    twin = one.model_copy(update={"key": "options.api.usd_per_month_all_in"})
    with pytest.raises(InputError, match="names 2 figures"):
        explain.find(sample_plan.plan(explanations=(one, twin)), "usd_per_month_all_in")


def test_chart_series_are_named_and_in_the_shown_currency():
    found = series.by_month(sample_plan.plan(), Currency("EUR", 0.8))
    assert [(line.option, line.path, line.label) for line in found] == [("api-acme", "api", "API: Acme API")]
    assert found[0].y == pytest.approx((0.0, 33.04))  # 41.30 × 0.8


def test_every_column_shows_every_option():
    notes = Footnotes()
    for option in sample_plan.options():
        assert all(isinstance(column.show(option, Currency(), notes), str) for column in OPTION_COLUMNS)
