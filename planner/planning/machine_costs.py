"""What a machine costs, owned or rented, as a component of named amounts."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from planner.domain.figures import Basis, Figure
from planner.domain.hardware import Hardware, Machine
from planner.domain.library import Library
from planner.domain.prices import CloudOffer
from planner.domain.units import HOURS_PER_MONTH, MONTHS_PER_YEAR
from planner.domain.workload import Workload
from planner.finance.costs import Amount, Component, machines
from planner.finance.energy import machine_energy
from planner.finance.ranges import Range3
from planner.planning.assume import Known, electricity, known
from planner.planning.purchase import NOT_PRICED, device_price, machine_price

DESKTOP_UP_TO = {"consumer": 4, "workstation": 4, "cpu": 1}
"""Devices that a desktop or workstation holds; beyond that a server host with its price and watts is assumed."""


@dataclass(frozen=True)
class Work:
    """The load on one kind of machine: what planning needs to know to pay for it."""

    unit_load: float
    """Machines' worth of load in the busiest hour, or for the batch deadline if that is more."""
    busy_hours_per_month: float
    """Machine-hours of full work a month."""
    active_hours_per_month: float
    """Hours a month in which somebody may ask or a batch runs."""


@dataclass(frozen=True)
class Priced:
    """A component, or the reason why there is none, with what was assumed on the way."""

    component: Component | None
    reason: str = ""
    kwh_per_month: Range3 | None = None
    machine: Machine | None = None
    notes: tuple[str, ...] = ()


def owned(
    workload: Workload, library: Library, hardware: Hardware, count: int, work: Work, *, people: bool, today: str
) -> Priced:
    """Return the component of a machine that is bought, or why it can't be priced."""
    bought = _purchase(workload, library, hardware, count, today)
    if bought is None:
        return Priced(None, unpriced_reason(hardware, count))
    hardware_amounts, machine = bought
    power = _power(library, hardware, count, machine)
    tariff = electricity(workload.money, library.tariffs, today)
    if tariff is None:
        kind = workload.money.tariff_kind
        where = repr(workload.money.country)
        return Priced(None, f"no {kind} electricity tariff for {where}: set money.tariff_usd_per_kwh")
    pue = known(library.assumptions, _pue_id(hardware), workload.money.pue, "money.pue", today)
    month = machine_energy(
        power.idle.range, power.load.range, utilisation=1.0, pue=pue.range, usd_per_kwh=tariff.range
    )
    busy_months = work.busy_hours_per_month / HOURS_PER_MONTH
    price = _sum(hardware_amounts)
    install = known(library.assumptions, "install_usd", workload.money.install_usd, "money.install_usd", today)
    upkeep = known(
        library.assumptions, "maintenance_fraction_per_year", workload.money.maintenance_fraction_per_year,
        "money.maintenance_fraction_per_year", today,
    )  # fmt: skip
    monthly = [
        _amount("Energy, idle", month.idle_usd, tariff),
        _amount("Maintenance", price.product(upkeep.range).times(1 / MONTHS_PER_YEAR), upkeep),
    ]
    if hardware.kind == "datacenter":
        rack = known(library.assumptions, "rack_usd_per_kw_month")
        monthly.append(_amount("Rack share", rack.range.product(power.load.range).times(1e-3), rack))
    component = Component(
        name=machine_name(hardware, count), path="owned", unit_load=work.unit_load, min_machines=1,
        upfront_per_machine=(*hardware_amounts, _amount("Installation", install.range, install)),
        monthly_per_machine=tuple(monthly),
        monthly_fixed=_people(workload, library, today) if people else (),
        variable=(_amount("Energy under load", month.load_usd.times(busy_months), tariff),),
    )  # fmt: skip
    count_today = machines(component, 1.0)
    kwh = month.idle_kwh.times(count_today) + month.load_kwh.times(busy_months)
    return Priced(component, kwh_per_month=kwh, machine=machine, notes=power.notes)


def can_price(workload: Workload, library: Library, hardware: Hardware, count: int) -> bool:
    """Say whether anybody states what such a machine costs."""
    return _purchase(workload, library, hardware, count, "") is not None


def unpriced_reason(hardware: Hardware, count: int) -> str:
    """Return why a machine can't be priced."""
    return f"{machine_name(hardware, count)}: {NOT_PRICED}"


def rented(workload: Workload, library: Library, offer: CloudOffer, work: Work, *, people: bool, today: str) -> Priced:
    """Return the component of an instance that is rented by the hour."""
    always = offer.term == "committed" or workload.money.rented_billing == "always_on"
    hours = HOURS_PER_MONTH if always else min(HOURS_PER_MONTH, work.active_hours_per_month)
    per_hour = Known(
        Range3.of(offer.usd_per_hour), Basis.ASSUMED if offer.weak else Basis.LISTED,
        f"{offer.provider} {offer.instance}, {offer.price_type}, {offer.region or 'region not stated'}: {offer.source}",
        offer.as_of,
    )  # fmt: skip
    billing = "always on" if always else "active hours"
    rent = Amount(
        f"Rent, {billing}", per_hour.range.times(hours), per_hour.basis, per_hour.source, per_hour.as_of,
        hourly=not always,
    )  # fmt: skip
    component = Component(
        name=f"{offer.provider} {offer.instance}", path="rented", unit_load=work.unit_load, min_machines=1,
        monthly_per_machine=(rent,), monthly_fixed=_people(workload, library, today) if people else (),
    )  # fmt: skip
    return Priced(component)


def machine_name(hardware: Hardware, count: int) -> str:
    """Return how a machine is called: `2× GeForce RTX 3090 24GB`."""
    return f"{count}× {hardware.name}"


def residual(workload: Workload, library: Library, today: str) -> Known:
    """Return what hardware brings at the horizon, as a fraction of its price."""
    name = "residual_fraction_36_months"
    return known(library.assumptions, name, workload.money.residual_fraction, "money.residual_fraction", today)


def _purchase(
    workload: Workload, library: Library, hardware: Hardware, count: int, today: str
) -> tuple[tuple[Amount, ...], Machine | None] | None:
    complete = machine_price(library, hardware, count)
    unit = device_price(hardware)
    whole = hardware.kind in ("apple", "unified", "laptop")
    if complete and (whole or not unit.known or hardware.kind == "datacenter"):
        figure, machine = complete
        return (_figure_amount(f"Machine: {machine.name}", figure, 1),), machine
    if not unit.known:
        return None
    devices = _figure_amount(f"Hardware: {machine_name(hardware, count)}", unit, count)
    if whole:
        return (devices,), None
    typed = workload.money.host_price_usd
    host = known(library.assumptions, _host_id(hardware, count), typed, "money.host_price_usd", today)
    return (devices, _amount("Host machine", host.range, host, hardware=True)), None


@dataclass(frozen=True)
class _Power:
    idle: Known
    load: Known
    notes: tuple[str, ...] = ()


def _power(library: Library, hardware: Hardware, count: int, machine: Machine | None) -> _Power:
    whole = hardware.kind in ("apple", "unified", "laptop")
    systems = [m for m in library.machines.values() if m.hardware == hardware.id and (m.count or 1) == count]
    if whole:
        idle = [m.idle_w for m in systems if m.idle_w]
        load = [m.load_w for m in systems if m.load_w]
        if idle and load:
            source = "; ".join(dict.fromkeys(m.source for m in systems if m.idle_w or m.load_w))
            date = max(m.as_of for m in systems if m.idle_w or m.load_w)
            return _Power(_spread(idle, source, date), _spread(load, source, date))
    idle_board, load_board, notes = _board(library, hardware)
    if whole:
        return _Power(idle_board, load_board, notes)
    kind = "server" if _is_server(hardware, count) else "desktop"
    host_idle = known(library.assumptions, f"host_idle_w_{kind}")
    host_load = known(library.assumptions, f"host_load_w_{kind}")
    return _Power(_plus(idle_board, count, host_idle), _plus(load_board, count, host_load), notes)


def _board(library: Library, hardware: Hardware) -> tuple[Known, Known, tuple[str, ...]]:
    idle = [row.idle_w for row in hardware.power if row.idle_w and row.scope == "board"]
    load = [row.load_w for row in hardware.power if row.load_w and row.scope == "board"]
    source = "; ".join(dict.fromkeys(row.source for row in hardware.power))
    date = max((row.as_of for row in hardware.power), default=hardware.as_of)
    notes: tuple[str, ...] = ()
    tdp = hardware.tdp_w
    if tdp is None:
        default = known(library.assumptions, "device_tdp_w_unknown")
        notes = (f"{hardware.name}: no power rating published, {default.range.mid:g} W assumed",)
        rating = default.range
    else:
        rating = Range3.of(tdp)
    share = known(library.assumptions, "idle_fraction_of_tdp")
    work = known(library.assumptions, "load_fraction_of_tdp")
    idle_known = _spread(idle, source, date) if idle else _rated(rating, share)
    load_known = _spread(load, source, date) if load else _rated(rating, work)
    return idle_known, load_known, notes


def _rated(rating: Range3, share: Known) -> Known:
    return Known(rating.product(share.range), Basis.ASSUMED, f"rated power × {share.source}", share.as_of)


def _spread(values: list[float], source: str, as_of: str) -> Known:
    return Known(Range3(min(values), statistics.median(values), max(values)), Basis.LISTED, source, as_of)


def _plus(board: Known, count: int, host: Known) -> Known:
    return Known(board.range.times(count) + host.range, Basis.ASSUMED, f"{board.source}; {host.source}", host.as_of)


def _people(workload: Workload, library: Library, today: str) -> tuple[Amount, ...]:
    money = workload.money
    defaults = library.assumptions
    hours = known(
        defaults, "people_hours_per_month", money.people_hours_per_month, "money.people_hours_per_month", today
    )
    wage = known(defaults, "people_usd_per_hour", money.people_usd_per_hour, "money.people_usd_per_hour", today)
    label = Known(hours.range.product(wage.range), Basis.ASSUMED, f"{hours.source}; {wage.source}", hours.as_of)
    return (_amount("People's hours", label.range, label),)


def _pue_id(hardware: Hardware) -> str:
    return "pue_datacenter" if hardware.kind == "datacenter" else "pue_office"


def _host_id(hardware: Hardware, count: int) -> str:
    if _is_server(hardware, count):
        return "host_price_usd_server"
    many = hardware.kind == "workstation" or count > 2
    return "host_price_usd_workstation" if many else "host_price_usd_desktop"


def _is_server(hardware: Hardware, count: int) -> bool:
    return hardware.kind == "datacenter" or count > DESKTOP_UP_TO.get(hardware.kind, 1)


def _amount(name: str, usd: Range3, label: Known, *, hardware: bool = False) -> Amount:
    return Amount(name, usd, label.basis, label.source, label.as_of, hardware=hardware)


def _figure_amount(name: str, figure: Figure, count: int) -> Amount:
    return Amount(
        name, Range3.from_figure(figure).times(count), figure.basis, figure.source, figure.as_of or "", hardware=True
    )


def _sum(amounts: tuple[Amount, ...]) -> Range3:
    out = Range3.of(0.0)
    for amount in amounts:
        out = out + amount.usd
    return out
