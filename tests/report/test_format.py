import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.domain.figures import Basis, Figure, unknown
from planner.domain.prices import FxRate
from planner.report.format import MARKS, MEANINGS, Currency, Footnotes, big, currency_of, legend, number, spread


# Four significant digits by hand: 1234567 has its fourth digit in the thousands, 0.0012345 in the seventh place.
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"), (1, "1"), (-2.5, "-2.5"), (38.25, "38.25"), (1234.4, "1,234"), (1_234_567, "1,235,000"),
        (9.99961, "10"), (99.996, "100"), (0.0012345, "0.001234"), (1e-9, "0.000000001"), (math.inf, "∞"),
        (0.1, "0.1"), (999.96, "1,000"),
    ],
)  # fmt: skip
def test_numbers_have_four_significant_digits_and_separators(value, shown):
    assert number(value) == shown


@given(st.floats(min_value=1e-9, max_value=1e15))
def test_a_shown_number_is_within_half_of_the_fourth_digit(value):
    # Half a unit of the fourth of four digits is at most 0.5/1000 of the value.
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=5.01e-4)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(356_160_000, "356.2 M"), (25_032_000, "25.03 M"), (999_999, "1 M"), (10_080, "10,080"), (2.5e9, "2.5 B")],
)
def test_token_counts_are_said_in_millions(value, shown):
    assert big(value) == shown


@pytest.mark.parametrize(
    ("usd", "shown"),
    [(0, "$0"), (41.3, "$41.30"), (0.141, "$0.141"), (212.25, "$212"), (4200, "$4,200"), (12_345, "$12,340"),
     (-5, "-$5.00"), (0.9961, "$1.00")],
)  # fmt: skip
def test_amounts_show_cents_only_where_cents_matter(usd, shown):
    assert Currency().money(usd) == shown


def test_another_currency_multiplies_by_its_rate_and_says_where_it_comes_from():
    import sample_plan

    currency = currency_of(sample_plan.euro_plan())
    assert currency.money(4200) == "€3,360"  # 4200 × 0.8
    assert "0.8" in currency.note
    assert "central bank" in currency.note
    assert "2026-11-30" in currency.note


def test_without_a_rate_of_that_currency_amounts_stay_in_dollars():
    import sample_plan

    fx = FxRate(currency="GBP", rate=0.7, as_of="2026-11-30", source="bank")
    currency = currency_of(sample_plan.plan(currency="EUR", fx=fx))
    assert currency.money(1) == "$1.00"
    assert "no exchange rate" in currency.note


def test_every_basis_has_a_mark_of_its_own_and_a_meaning():
    assert set(MARKS) == set(Basis) == set(MEANINGS)
    assert len(set(MARKS.values())) == len(MARKS)


def test_the_legend_explains_only_the_marks_that_were_used():
    assert legend({Basis.MEASURED}) == "● measured here"


def test_an_unknown_becomes_a_dash_with_one_footnote_per_reason():
    notes = Footnotes()
    first = unknown("s", Basis.CLAIMED, "nobody measured it")
    second = unknown("s", Basis.CLAIMED, "another reason")
    assert [notes.figure(first), notes.figure(second), notes.figure(first)] == ["—¹", "—²", "—¹"]
    assert notes.lines() == ["¹ nobody measured it", "² another reason"]


def test_an_interval_of_no_width_is_not_shown():
    figure = Figure(value=5, low=5, high=5, unit="s", basis=Basis.ESTIMATED, source="x")
    assert spread(figure) == ""
    assert spread(figure.model_copy(update={"low": 4.0})) == "4–5"
