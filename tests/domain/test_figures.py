"""Labels: what may be combined, what may not, and that the unknown stays unknown."""

import itertools

import pytest

from planner.domain.errors import InputError
from planner.domain.figures import Axes, Basis, Figure, Speed, same_kind, unknown, weaker


def usd(value, low=None, high=None, basis=Basis.LISTED, as_of="2026-11-30"):
    return Figure(value=value, low=low, high=high, unit="USD", basis=basis, source="list", as_of=as_of)


def speed(kind):
    axes = Axes(model="m", quant="q4_k_m", engine="llama.cpp", hardware="gpu")
    return Speed(value=10.0, kind=kind, axes=axes, basis=Basis.MEASURED, source="probe")


def test_combining_takes_the_weaker_basis_of_its_scale():
    assert weaker(Basis.MEASURED, Basis.ESTIMATED, Basis.CALIBRATED) is Basis.ESTIMATED
    assert weaker(Basis.BILLED, Basis.ASSUMED, Basis.LISTED) is Basis.ASSUMED
    assert weaker(Basis.MEASURED, Basis.STATED) is Basis.STATED


def test_bases_of_different_scales_are_an_error():
    with pytest.raises(InputError, match="different scales"):
        weaker(Basis.ESTIMATED, Basis.LISTED)


def test_sums_add_bounds_and_keep_the_weaker_basis_and_the_older_date():
    total = usd(10, 8, 12).plus(usd(5, 4, 9, Basis.ASSUMED, "2026-01-15"))
    assert (total.low, total.value, total.high) == (12, 15, 21)
    assert total.basis is Basis.ASSUMED
    assert total.as_of == "2026-01-15"


def test_an_unknown_part_makes_the_sum_unknown_with_its_reason():
    total = usd(10).plus(unknown("USD", Basis.LISTED, "no price was found"))
    assert total.value is None
    assert total.reason == "no price was found"


def test_units_do_not_mix():
    with pytest.raises(InputError, match="USD and s"):
        usd(10).plus(Figure(value=1, unit="s", basis=Basis.LISTED, source="clock"))


@pytest.mark.parametrize(
    ("first", "second"),
    list(itertools.combinations(("prefill", "decode_per_request", "aggregate_output", "aggregate_total"), 2)),
)
def test_speeds_of_different_kinds_are_not_compared_and_never_added(first, second):
    with pytest.raises(InputError, match="different numbers"):
        same_kind(speed(first), speed(second))
    with pytest.raises(InputError, match="not added"):
        speed(first).plus(speed(first))


def test_an_unknown_needs_a_reason_and_bounds_must_be_in_order():
    with pytest.raises(ValueError, match="reason"):
        Figure(value=None, unit="USD", basis=Basis.LISTED, source="none")
    with pytest.raises(ValueError, match="above high"):
        usd(10, 12, 8)
