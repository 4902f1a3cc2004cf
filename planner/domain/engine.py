"""Inference engines: what each supports and how efficient it was seen to be."""

from __future__ import annotations

from planner.domain.base import Frozen


class Efficiency(Frozen):
    """Fitted coefficients for one engine × hardware class × quantisation family × phase."""

    hardware_class: str
    """cuda-consumer, cuda-datacenter, rocm, apple, unified, cpu …; `*` matches all."""
    quant_family: str
    """A family of `planner.domain.quant`, or `*`."""
    phase: str
    """prefill, decode, or serving."""
    parameters: dict[str, float] = {}
    """Named coefficients of the speed model; their meaning is documented in `planner.performance`."""
    log_sd: float
    """Residual standard deviation of log(measured / predicted): the source of the figure's interval."""
    rows: int
    """Measurements the fit rests on."""
    source: str
    as_of: str


class Engine(Frozen):
    """One inference engine and what it can do."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    quant_families: tuple[str, ...]
    quants: tuple[str, ...] = ()
    """Canonical quantisation names it is usually run with, best known first."""
    vendors: tuple[str, ...]
    """Hardware vendors it runs on: nvidia, amd, apple, intel, google, cpu."""
    cpu: bool = False
    cpu_offload: bool = False
    continuous_batching: bool
    prefix_cache: bool
    speculative: bool
    tensor_parallel: bool
    memory_fraction: float
    """Share of device memory the engine will use (vLLM: gpu_memory_utilization)."""
    memory_overhead_gib: float
    """Context, buffers and graphs per device beside weights and KV cache."""
    max_batch: int
    """Sequences it schedules together by default."""
    borrows_from: str | None = None
    """The engine whose coefficients stand in, with a wider interval, where this one has no rows."""
    efficiencies: tuple[Efficiency, ...] = ()
    notes: str = ""
    source: str
    as_of: str
