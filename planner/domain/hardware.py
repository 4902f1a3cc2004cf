"""Devices and machines: what they hold, move, compute, draw and cost."""

from __future__ import annotations

from typing import Literal

from planner.domain.base import Frozen

DeviceKind = Literal["consumer", "workstation", "datacenter", "apple", "unified", "cpu", "laptop"]


class DevicePrice(Frozen):
    """What one device sells for, at one date and in one market."""

    usd: float
    condition: Literal["list", "new", "used"]
    usd_low: float | None = None
    usd_high: float | None = None
    market: str = ""
    notes: str = ""
    weak: bool = False
    """The source gives no page address, or says itself that it is weak."""
    source: str
    as_of: str


class PowerReading(Frozen):
    """Watts of a board or a system, measured by somebody in one phase."""

    idle_w: float | None = None
    load_w: float | None = None
    load_fraction_of_tdp: float | None = None
    phase: str = ""
    scope: str = ""
    notes: str = ""
    source: str
    as_of: str


class ResidualReading(Frozen):
    """What fraction of its price a device brought at an age."""

    age_months: float | None = None
    fraction: float | None = None
    fraction_low: float | None = None
    fraction_high: float | None = None
    basis: str = ""
    reference_price_usd: float | None = None
    notes: str = ""
    source: str
    as_of: str


class Hardware(Frozen):
    """One device that runs inference: a GPU, an accelerator, a unified-memory machine or a CPU."""

    id: str
    name: str
    vendor: str
    kind: DeviceKind
    aliases: tuple[str, ...] = ()
    memory_gb: float | None = None
    """As the vendor labels it; GPU and unified memory labels are binary, so 1 "GB" is 1 GiB of room."""
    memory_bandwidth_gb_s: float | None = None
    """Decimal GB per second, peak."""
    fp16_dense_tflops: float | None = None
    fp8_dense_tflops: float | None = None
    int8_dense_tops: float | None = None
    fp4_dense_tflops: float | None = None
    unified_memory: bool = False
    interconnect: str = ""
    interconnect_gb_s: float | None = None
    """GB per second and device, both directions together, as vendors state it."""
    tdp_w: float | None = None
    release_date: str | None = None
    prices: tuple[DevicePrice, ...] = ()
    power: tuple[PowerReading, ...] = ()
    residual: tuple[ResidualReading, ...] = ()
    notes: str = ""
    source: str
    as_of: str


class Machine(Frozen):
    """A complete machine or host, as somebody priced or metered it."""

    id: str
    name: str
    hardware: str | None = None
    """The id of the device inside, or of the device that is the machine."""
    count: int | None = None
    is_whole_device: bool = False
    """True where the device itself is the machine (a Mac, a DGX Spark)."""
    complete_price_usd: float | None = None
    host_price_usd: float | None = None
    idle_w: float | None = None
    load_w: float | None = None
    ram_gb: float | None = None
    complete_price_local: float | None = None
    host_price_local: float | None = None
    currency: str | None = None
    notes: str = ""
    source: str
    as_of: str
