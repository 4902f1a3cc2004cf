"""What a device costs to buy: the newest street price, else the list price, else not priced."""

from __future__ import annotations

from collections.abc import Iterable

from planner.domain.figures import Basis, Figure, unknown
from planner.domain.hardware import DevicePrice, Hardware, Machine
from planner.domain.library import Library

NOT_PRICED = (
    "not priced: no dated street or list price was found; write one into the workload as [[profiles.hardware]] or "
    "into a profile of your own"
)


def device_price(hardware: Hardware) -> Figure:
    """Return the price of one device in USD, with the spread of the newest month as its range.

    Street prices outrank the list price, new ones outrank used ones of the same month, and rows marked weak are used
    only where nothing else exists.
    """
    street = [row for row in hardware.prices if row.condition != "list"]
    for rows in (_sound(street), _sound(row for row in hardware.prices if row.condition == "list"), hardware.prices):
        if rows:
            return _newest(list(rows), hardware)
    return unknown("USD", Basis.LISTED, NOT_PRICED, source=hardware.source, as_of=hardware.as_of)


def machine_price(library: Library, hardware: Hardware, count: int) -> tuple[Figure, Machine] | None:
    """Return the median complete price of machines with these devices and that machine; None without any."""
    found = [
        machine
        for machine in library.machines.values()
        if machine.hardware == hardware.id
        and (machine.count or 1) == count
        and machine.complete_price_usd
        and not _used(machine)
    ]
    if not found:
        return None
    found.sort(key=lambda machine: machine.complete_price_usd or 0.0)
    middle = found[len(found) // 2]
    prices = [machine.complete_price_usd or 0.0 for machine in found]
    figure = Figure(
        value=middle.complete_price_usd, low=prices[0], high=prices[-1], unit="USD", basis=Basis.LISTED,
        source=f"complete machine {middle.id}: {middle.source}", as_of=middle.as_of,
    )  # fmt: skip
    return figure, middle


def _used(machine: Machine) -> bool:
    return "used" in machine.name.casefold() or "undated" in machine.as_of


def _sound(rows: Iterable[DevicePrice]) -> list[DevicePrice]:
    return [row for row in rows if not row.weak]


def _newest(rows: list[DevicePrice], hardware: Hardware) -> Figure:
    dated = [row for row in rows if row.as_of[:4].isdigit()] or rows
    month = max(row.as_of[:7] for row in dated)
    recent = [row for row in dated if row.as_of[:7] == month]
    chosen = [row for row in recent if row.condition == "new"] or recent
    best = min(chosen, key=lambda row: row.usd)
    lows = [row.usd_low or row.usd for row in recent]
    highs = [row.usd_high or row.usd for row in recent]
    words = {"list": "list price", "new": "street price, new", "used": "street price, used"}[best.condition]
    where = f" ({best.market})" if best.market else ""
    return Figure(
        value=best.usd, low=min(*lows, best.usd), high=max(*highs, best.usd), unit="USD", basis=Basis.LISTED,
        source=f"{words} of one {hardware.name}{where}: {best.source}", as_of=best.as_of,
    )  # fmt: skip
