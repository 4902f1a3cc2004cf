"""Classes of hardware that share an efficiency, and stand-ins for rates a vendor does not state."""

from __future__ import annotations

from planner.domain.hardware import Hardware

# Tensor FLOP per byte of bandwidth that stands in where no tensor rate is known: CPUs about 20 (a 96-core
# EPYC 9654: 10 TFLOPS at 461 GB/s), Apple about 35 (M2 Ultra: 27.2 at 800), GPUs about 150 (RTX 4090: 165 at 1008).
_FLOP_PER_BYTE = {"cpu": 20.0, "apple": 35.0}
_FLOP_PER_BYTE_GPU = 150.0
M5_MATRIX_FACTOR = 4.0
"""Apple states over four times the peak GPU compute for AI of M4 (newsroom, 2025-10-15): the FP32 rate omits its
matrix units."""


def hardware_class(hardware: Hardware) -> str:
    """Return the class of a device: what its kernels and memory have in common with others."""
    vendor, kind = hardware.vendor.casefold(), hardware.kind
    if kind == "cpu" or vendor == "apple":
        return "cpu" if kind == "cpu" else "apple"
    platform = {"nvidia": "cuda", "amd": "rocm"}.get(vendor)
    if platform is None:
        return "intel" if vendor == "intel" else "other"
    if hardware.unified_memory or kind == "unified":
        return f"{platform}-unified"
    return f"{platform}-datacenter" if kind == "datacenter" else f"{platform}-consumer"


def peak_flops(hardware: Hardware, quant_family: str, native_low_precision: bool) -> float:
    """Return peak FLOP/s for a quantisation: its own rate where engine and device compute in it, else FP16's."""
    rate = hardware.fp16_dense_tflops
    vendor = hardware.vendor.casefold()
    if rate and vendor == "nvidia" and hardware.kind == "workstation" and not native_low_precision:
        # GeForce rates count FP32 accumulation, half of what the same chip is sold for on a workstation board;
        # llama.cpp's integer kernels run alike on both.
        rate /= 2.0
    if rate and vendor == "apple" and hardware.id.startswith("m5"):
        rate *= M5_MATRIX_FACTOR
    if native_low_precision:
        if quant_family == "fp8" and hardware.fp8_dense_tflops:
            rate = hardware.fp8_dense_tflops
        elif quant_family in ("fp4", "mxfp4") and hardware.fp4_dense_tflops:
            rate = hardware.fp4_dense_tflops
        elif quant_family in ("fp4", "mxfp4") and hardware.fp8_dense_tflops:
            rate = hardware.fp8_dense_tflops
    if rate:
        return rate * 1e12
    per_byte = _FLOP_PER_BYTE.get(hardware_class(hardware), _FLOP_PER_BYTE_GPU)
    return per_byte * (hardware.memory_bandwidth_gb_s or 0.0) * 1e9


def usable_memory_share(hardware: Hardware) -> float:
    """Return the share of the labelled memory that an engine can get at all.

    Apple's Metal lets a GPU use about two thirds of up to 36 GB and three quarters above
    (recommendedMaxWorkingSetSize); other unified machines keep some for the system;
    boards lose about 2 % to ECC, firmware and display.
    """
    label = hardware.memory_gb or 0.0
    if hardware.vendor.casefold() == "apple":
        return 0.67 if label <= 36 else 0.75
    if hardware.unified_memory or hardware.kind in ("unified", "cpu"):
        return 0.88 if label >= 32 else 0.75
    return 0.98


def backend_name(backend: str | None, hardware_class_name: str) -> str:
    """Return the compute backend's short name; unsaid means the vendor's own."""
    if backend:
        return backend.split()[0].partition("+")[0].casefold()
    natural = {"cuda": "cuda", "rocm": "rocm", "apple": "metal", "cpu": "cpu", "intel": "sycl"}
    return natural.get(hardware_class_name.split("-", maxsplit=1)[0], "default")
