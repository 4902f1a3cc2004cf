"""What is estimated: a model in a quantisation on so many devices with one engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from planner.domain.engine import Engine
from planner.domain.hardware import Hardware
from planner.domain.model import ModelSpec

Parallel = Literal["tensor", "layer", "none"]
PARALLELS: tuple[Parallel, ...] = ("tensor", "layer", "none")


@dataclass(frozen=True, eq=False)
class Setup:
    """One configuration. Compared by identity, because hashing whole profiles would cost more than an estimate."""

    hardware: Hardware
    model: ModelSpec
    engine: Engine
    quant: str
    count: int = 1
    parallel: Parallel = "none"
    kv_quant: str = "f16"
    file_gib: float | None = None
    """Size of the weight file, where known; it replaces the size computed from the quantisation."""
    gpu_layers: int | None = None
    """Layers whose weights lie on the devices (llama.cpp `-ngl`); the rest stays in host memory."""
    cpu_experts_layers: int | None = None
    """Layers whose experts stay in host memory (llama.cpp `--n-cpu-moe`)."""
    host_memory_bandwidth_gb_s: float | None = None
    flash_attention: bool | None = None
    speculative: str | None = None
    engine_version: str | None = None
    backend: str | None = None
    reserved_gib: float = 0.0
    """Memory on all devices together that another model on the same machine has taken."""

    @property
    def split(self) -> Parallel:
        """Return how several devices share the model; the engine's habit where nothing was said."""
        if self.count <= 1:
            return "none"
        if self.parallel != "none":
            return self.parallel
        return "tensor" if self.engine.tensor_parallel else "layer"

    @property
    def key(self) -> tuple[object, ...]:
        """Return a cheap cache key; profiles count by identity, so whoever caches must hold on to them."""
        return (
            id(self.hardware), id(self.model), id(self.engine), self.quant, self.count, self.split, self.kv_quant,
            self.file_gib, self.gpu_layers, self.cpu_experts_layers, self.host_memory_bandwidth_gb_s,
            self.flash_attention, self.speculative, self.backend, self.reserved_gib,
        )  # fmt: skip
