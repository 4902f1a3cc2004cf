"""What could be tried: devices and counts to buy or rent, engines that run there, quantisations that suit."""

from __future__ import annotations

from planner.domain.engine import Engine
from planner.domain.hardware import Hardware
from planner.domain.library import Library
from planner.domain.model import ModelSpec
from planner.domain.prices import CloudOffer
from planner.domain.quant import PRECISION_BITS, QUANTS, Quant, fold
from planner.domain.workload import MixPart, Workload

QUANTS_PER_ENGINE = 2
"""The smallest that satisfies the precision and the next one: more bits than that never serve faster."""


def devices(workload: Workload, library: Library) -> list[Hardware]:
    """Return the devices to consider: those named in the workload, else all."""
    if workload.constraints.hardware:
        return [library.find_hardware(name) for name in workload.constraints.hardware]
    return list(library.hardware.values())


def owned_counts(hardware: Hardware, most: int) -> tuple[int, ...]:
    """Return how many of a device one bought machine holds.

    Racks with one fabric are sold whole; boards on a switch
    fabric are sold by four or eight; desktops take up to four cards; a device that is a machine
    comes alone.
    """
    if hardware.kind in ("apple", "unified", "laptop", "cpu"):
        counts: tuple[int, ...] = (1,)
    elif "72-GPU" in hardware.interconnect:
        counts = (72,)
    elif hardware.kind == "datacenter":
        fabric = hardware.interconnect.casefold().startswith(("nvlink", "infinity"))
        counts = (4, 8) if fabric else (1, 2, 4, 8)
    elif hardware.kind == "workstation":
        counts = (1, 2, 4, 8)
    else:
        counts = (1, 2, 4)
    return tuple(count for count in counts if count <= most)


def offers(workload: Workload, library: Library, batch_only: bool) -> list[CloudOffer]:
    """Return the instances to consider, cheapest first of each device and count.

    Spot instances can be taken away, so they are left to work that waits for nobody.
    """
    allowed = {name.casefold() for name in workload.constraints.providers}
    hardware = {device.id for device in devices(workload, library)}
    terms = ("on-demand", "committed", "spot") if batch_only else ("on-demand", "committed")
    chosen: dict[tuple[str, int, str], CloudOffer] = {}
    for offer in sorted(library.clouds, key=lambda offer: offer.usd_per_hour):
        if offer.hardware not in hardware or offer.term not in terms:
            continue
        if allowed and offer.provider.casefold() not in allowed:
            continue
        if offer.count <= workload.constraints.max_devices:
            chosen.setdefault((offer.hardware or "", offer.count, offer.term), offer)
    return list(chosen.values())


def engines(workload: Workload, library: Library, hardware: Hardware, count: int) -> list[Engine]:
    """Return the engines that run on a device; unless named, only those with their own measurements."""
    if workload.constraints.engines:
        named = [library.find_engine(name) for name in workload.constraints.engines]
    else:
        # An engine that borrows another's coefficients cannot come out better than that one.
        named = [engine for engine in library.engines.values() if engine.efficiencies and not engine.borrows_from]
    vendor = "cpu" if hardware.kind == "cpu" else hardware.vendor.casefold()
    probed = {record.engine.name for record in library.probes if record.hardware == hardware.id}
    if probed and not workload.constraints.engines:
        # On a measured device the engine that was measured goes before one that would be calibrated from it.
        named = [engine for engine in named if engine.id in probed or fold(engine.id) in probed] or named
    runs = [engine for engine in named if (engine.cpu if vendor == "cpu" else vendor in engine.vendors)]
    return [engine for engine in runs if count == 1 or engine.tensor_parallel or engine.cpu_offload]


def quants(workload: Workload, part: MixPart, model: ModelSpec, engine: Engine, hardware: Hardware) -> list[str]:
    """Return the quantisations to try, smallest first; a model's own published precision always counts as full."""
    known = [QUANTS[name] for name in (part.quants or engine.quants) if name in QUANTS]
    runs = [quant for quant in known if quant.family in engine.quant_families and _computes(hardware, quant)]
    if model.native_quant == "mxfp4":
        return [quant.name for quant in runs if quant.family == "mxfp4"][:1]
    runs = [quant for quant in runs if quant.family != "mxfp4"]
    least = PRECISION_BITS[workload.constraints.precision]
    native = QUANTS[model.native_quant].bits if model.native_quant in QUANTS else 16.0
    good = [quant for quant in runs if quant.bits >= min(least, native)]
    good.sort(key=lambda quant: quant.bits)
    return [quant.name for quant in good][: len(good) if part.quants else QUANTS_PER_ENGINE]


def measured_quants(
    workload: Workload, library: Library, part: MixPart, model: ModelSpec, engine: Engine, hardware: Hardware
) -> list[str]:
    """Return the quantisations of a model that were measured on a device: nothing else is as sure."""
    if part.quants:
        return []
    least = PRECISION_BITS[workload.constraints.precision]
    found = {
        record.model.quant
        for record in library.probes
        if record.hardware == hardware.id and fold(record.model.id) == fold(model.id) and record.model.quant
    }
    known = [QUANTS[quant] for quant in found if quant in QUANTS]
    return sorted(q.name for q in known if q.family in engine.quant_families and q.bits >= least)


def _computes(hardware: Hardware, quant: Quant) -> bool:
    """Say whether a device runs a format that needs its own arithmetic units."""
    return quant.family != "fp4" or hardware.fp4_dense_tflops is not None
