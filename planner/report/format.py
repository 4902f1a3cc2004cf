"""Numbers for people: four significant digits, a mark for the basis, a dash for unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from planner.domain.figures import Basis, Figure
from planner.domain.plan import Plan
from planner.report.safe import clean

DASH = "—"
MARKS: dict[Basis, str] = {
    Basis.MEASURED: "●",
    Basis.CALIBRATED: "◐",
    Basis.PUBLISHED: "◇",
    Basis.ESTIMATED: "○",
    Basis.CLAIMED: "?",
    Basis.BILLED: "■",
    Basis.LISTED: "□",
    Basis.ASSUMED: "~",
    Basis.STATED: "·",
}
"""One character per basis; always shown with a legend that spells the words."""

MEANINGS: dict[Basis, str] = {
    Basis.MEASURED: "measured here",
    Basis.CALIBRATED: "calibrated by a measurement here",
    Basis.PUBLISHED: "published by others",
    Basis.ESTIMATED: "estimated",
    Basis.CLAIMED: "claimed, axes missing",
    Basis.BILLED: "billed",
    Basis.LISTED: "list or street price",
    Basis.ASSUMED: "rests on assumptions",
    Basis.STATED: "stated",
}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def number(value: float, digits: int = 4) -> str:
    """Return a number with `digits` significant digits and thousands separators."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞" if value < 0 else DASH
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    decimals = digits - 1 - exponent
    rounded = round(value, decimals)
    if rounded != 0 and math.floor(math.log10(abs(rounded))) > exponent:
        decimals -= 1  # 9.9996 has become 10.00: one digit fewer after the point
    text = f"{rounded:,.{max(0, min(decimals, 12))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def short(value: float) -> str:
    """Return a number of three significant digits, for ranges and tight columns."""
    return number(value, 3)


def big(value: float, digits: int = 4) -> str:
    """Return a count of tokens in words people use: 80.6 M, 1.2 B; small ones as they are."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if abs(value) >= size * 0.9995:
            return f"{number(value / size, digits)} {letter}"
    return number(value, digits)


@dataclass(frozen=True)
class Currency:
    """The currency that texts show; stored money is always US dollars."""

    code: str = "USD"
    rate: float = 1.0
    note: str = ""
    """Where the rate comes from, or why it is still US dollars."""

    def money(self, usd: float) -> str:
        """Return an amount: whole units from 100 on, cents below, four digits below one."""
        amount = usd * self.rate
        sign = "-" if amount < 0 else ""
        return f"{sign}{self.symbol}{_amount(abs(amount))}"

    @property
    def symbol(self) -> str:
        """Return the sign or code written before an amount."""
        return _SYMBOLS.get(self.code, f"{self.code} ")


def _amount(amount: float) -> str:
    if amount == 0:
        return "0"
    if amount >= 100:
        return number(amount) if amount >= 999.5 else f"{amount:,.0f}"
    return f"{amount:.2f}" if amount >= 0.995 else number(amount)


def currency_of(plan: Plan) -> Currency:
    """Return the currency a plan is shown in: the workload's, if a dated rate for it was entered."""
    if plan.currency == "USD":
        return Currency()
    fx = plan.fx
    if fx is None or fx.currency != plan.currency:
        return Currency(note=f"{plan.currency} was asked for, but no exchange rate was entered (money.fx).")
    note = (
        f"{fx.currency} at {number(fx.rate, 6)} for one US dollar "
        f"({clean(fx.source, 60)}, {clean(fx.as_of)}); JSON and CSV stay in US dollars."
    )
    return Currency(fx.currency, fx.rate, note)


@dataclass
class Footnotes:
    """Reasons for what is missing, numbered in order of appearance and each told once."""

    reasons: list[str] = field(default_factory=list)
    marks: set[Basis] = field(default_factory=set)
    """Every basis shown so far: what the legend has to explain."""

    def mark(self, reason: str) -> str:
        """Return the superscript for a reason."""
        text = clean(reason)
        if text not in self.reasons:
            self.reasons.append(text)
        return superscript(self.reasons.index(text) + 1)

    def basis(self, basis: Basis) -> str:
        """Return the mark of a basis and remember that it was used."""
        self.marks.add(basis)
        return MARKS[basis]

    def figure(self, figure: Figure, text: str | None = None) -> str:
        """Return a figure with its basis mark, or a dash with a footnote."""
        if figure.value is None:
            return DASH + self.mark(figure.reason or "unknown")
        return f"{number(figure.value) if text is None else text} {self.basis(figure.basis)}"

    def money(self, figure: Figure, currency: Currency) -> str:
        """Return an amount with its basis mark, or a dash with a footnote; nothing to pay needs no mark."""
        if figure.value == 0:
            return currency.money(0)
        return self.figure(figure, None if figure.value is None else currency.money(figure.value))

    def lines(self) -> list[str]:
        """Return `¹ reason` lines."""
        return [f"{superscript(index)} {reason}" for index, reason in enumerate(self.reasons, 1)]


def superscript(index: int) -> str:
    """Return a footnote number."""
    return str(index).translate(_SUPERSCRIPTS)


def spread(figure: Figure, scale: float = 1.0) -> str:
    """Return `low–high` of a figure, or nothing where both are the value itself."""
    if figure.value is None or figure.low is None or figure.high is None or figure.low == figure.high:
        return ""
    return f"{short(figure.low * scale)}–{short(figure.high * scale)}"


def legend(bases: set[Basis]) -> str:
    """Return the marks that were used, with their words, in the order of the scales."""
    return ", ".join(f"{MARKS[basis]} {MEANINGS[basis]}" for basis in Basis if basis in bases)


def percent(fraction: float) -> str:
    """Return a share as a whole or one-decimal percentage."""
    return f"{number(round(fraction * 100, 1))} %"
