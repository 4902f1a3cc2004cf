"""What a setup needs in memory and whether it fits, decided on the fullest device."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.domain.engine import Engine
from planner.domain.figures import Basis, Figure, unknown
from planner.domain.model import ModelSpec
from planner.domain.units import BYTES_PER_GIB
from planner.performance.classes import usable_memory_share
from planner.performance.kv import COMPUTE_WINDOW, kv_shape
from planner.performance.prepared import MICRO_BATCH, Prepared, prepare, total_bytes
from planner.performance.setup import Setup

WEIGHTS_SPREAD, KV_SPREAD, OVERHEAD_SPREAD = 0.02, 0.02, 0.4
"""Half-widths of the 80 % intervals relative to the value: repacking and padding; block rounding; buffers."""
COARSE_SPREAD = 0.06
"""The same for weights known only as a total and nominal bits."""
MAX_CAPACITY_TOKENS = 10**9


@dataclass(frozen=True)
class Memory:
    """Memory of a setup over all its devices, GiB, and the verdict for the fullest of them."""

    weights: Figure
    kv: Figure
    overhead: Figure
    available: Figure
    total: Figure
    fits: bool
    reason: str
    """Why it does not fit, or what was assumed."""
    kv_capacity_tokens: Figure
    """Tokens of all sequences together that the room left beside the weights holds."""


@dataclass(frozen=True, slots=True)
class Room:
    """Memory in bytes, on all devices and on the fullest."""

    available: float
    """nan when the device's memory is unknown."""
    overhead: float
    device_room: float
    """On the fullest device, beside weights and overhead; may be negative."""
    device_kv_share: float
    """Share of the cache that lies on the fullest device."""


def _gguf(setup: Setup) -> bool:
    return "gguf-k" in setup.engine.quant_families


def _overhead(setup: Setup) -> float:
    """Return bytes per device for buffers: logits and activations of a micro-batch where llama.cpp runs it."""
    fixed = setup.engine.memory_overhead_gib * BYTES_PER_GIB
    if not _gguf(setup):
        return fixed
    logits = MICRO_BATCH * ((setup.model.vocab_size or 128_000) + 4.0 * setup.model.hidden_size) * 4.0
    return max(fixed, logits + 0.4 * BYTES_PER_GIB)


def room(prepared: Prepared) -> Room:
    """Return the memory left for the cache.

    A layer split puts ⌈layers/n⌉ layers on the fullest device and the output head on the last; a tensor split
    divides weights evenly but can divide the cache only by its heads, and a latent not at all.
    """
    setup = prepared.setup
    count = setup.count
    label = setup.hardware.memory_gb
    overhead = _overhead(setup)
    if label is None:
        return Room(math.nan, overhead * count, math.inf, 1.0 / count)
    share = min(usable_memory_share(setup.hardware), setup.engine.memory_fraction)
    each = label * BYTES_PER_GIB * share - setup.reserved_gib * BYTES_PER_GIB / count
    if setup.split == "layer":
        largest = math.ceil(setup.model.layers / count) / setup.model.layers
        table = prepared.fixed_bytes
        fullest = (prepared.device_weight_bytes - table) * largest + table / (2.0 if setup.model.vocab_size else 1.0)
        kv_share = largest
    else:
        fullest = prepared.device_weight_bytes / count
        kv_share = 1.0 / prepared.numbers.kv_heads_split
    return Room(each * count, overhead * count, each - fullest - overhead, kv_share)


def kv_stored(prepared: Prepared, tokens: float) -> float:
    """Return bytes of one sequence's cache over all devices, copies of a latent included once per rank."""
    extra = COMPUTE_WINDOW if _gguf(prepared.setup) else 0
    copies = float(prepared.numbers.tensor / prepared.numbers.kv_heads_split)
    return prepared.cache.stored(tokens, extra) * copies


def max_sequences(prepared: Prepared, tokens: float) -> float:
    """Return how many sequences of so many tokens the fullest device has room for (a real number)."""
    space = room(prepared)
    extra = COMPUTE_WINDOW if _gguf(prepared.setup) else 0
    each = prepared.cache.stored(tokens, extra) * space.device_kv_share
    return max(space.device_room, 0.0) / each if each > 0 else math.inf


def _figure(n_bytes: float, spread: float, source: str) -> Figure:
    value = n_bytes / BYTES_PER_GIB
    low, high = sorted((value * (1 - spread), value * (1 + spread)))
    return Figure(value=value, low=low, high=high, unit="GiB", basis=Basis.ESTIMATED, source=source)


def weights_gib(model: ModelSpec, quant: str, engine: Engine | None = None) -> float:
    """Return the size of all weights in GiB, from tensor shapes and the quantisation's mix of precisions.

    Without an engine the checkpoint is the one that usually carries the quantisation. Raises NoAnswerError when
    the number of parameters is unknown.
    """
    return total_bytes(model, quant, engine) / BYTES_PER_GIB


def kv_gib(model: ModelSpec, context_tokens: float, kv_quant: str = "f16") -> float:
    """Return the size in GiB of one sequence's cache of so many tokens, on one device."""
    return kv_shape(model, kv_quant).stored(context_tokens) / BYTES_PER_GIB


def weights_figure(setup: Setup) -> Figure:
    """Return the weights' size in GiB, host memory included."""
    prepared = prepare(setup)
    if setup.file_gib:
        return _figure(prepared.weight_bytes, 0.005, "size of the weight file")
    total = setup.model.params_basis or "published parameter total"
    spread = WEIGHTS_SPREAD if prepared.tensors.shaped else COARSE_SPREAD
    return _figure(prepared.weight_bytes, spread, f"{total}; bits per weight of {setup.quant} by tensor")


def kv_figure(setup: Setup, *, context_tokens: float, concurrency: float = 1) -> Figure:
    """Return the KV cache's size in GiB over all devices for so many sequences of so many tokens."""
    prepared = prepare(setup)
    shape = f"{setup.model.attention_type} cache at {setup.kv_quant}"
    source = f"{shape}, {context_tokens:,.0f} tokens × {concurrency:g}"
    return _figure(kv_stored(prepared, context_tokens) * concurrency, KV_SPREAD, source)


def _capacity(prepared: Prepared, space: Room, context_tokens: float) -> Figure:
    source = f"room beside weights and buffers, {prepared.setup.kv_quant} cache"
    if math.isinf(space.device_room):
        return unknown("tokens", Basis.ESTIMATED, f"the memory of {prepared.setup.hardware.id} is not stated", source)
    context = max(context_tokens, 1.0)
    tokens = min(max_sequences(prepared, context) * context, float(MAX_CAPACITY_TOKENS))
    low, high = tokens * 0.85, tokens * 1.1
    return Figure(value=tokens, low=low, high=high, unit="tokens", basis=Basis.ESTIMATED, source=source)


def memory(
    setup: Setup, *, context_tokens: float, concurrency: float = 1, prompt_tokens: float | None = None
) -> Memory:
    """Return what the setup needs with `concurrency` sequences of `context_tokens` (+ `prompt_tokens`) each.

    Fit is decided on the fullest device. A device whose memory is not stated (a server CPU) counts as fitting,
    said in `reason`. Raises NoAnswerError when the model's size is unknown.
    """
    prepared = prepare(setup)
    space = room(prepared)
    tokens = context_tokens + (prompt_tokens or 0.0)
    cache = kv_figure(setup, context_tokens=tokens, concurrency=concurrency)
    weights = weights_figure(setup)
    overhead = _figure(space.overhead, OVERHEAD_SPREAD, f"{setup.engine.id}: context and compute buffers per device")
    device_kv = kv_stored(prepared, tokens) / (setup.count if setup.split != "layer" else 1)
    device_kv *= concurrency * (space.device_kv_share if setup.split == "layer" else 1.0)
    fits = device_kv <= space.device_room
    reason = ""
    if math.isnan(space.available):
        reason = f"the memory of {setup.hardware.id} is not stated; taken as enough"
        available = unknown("GiB", Basis.ESTIMATED, reason)
    else:
        available = _figure(
            space.available, 0.02, f"{setup.count} × {setup.hardware.memory_gb:g} GiB, the share {setup.engine.id} uses"
        )
        if not fits:
            short = (device_kv - space.device_room) / BYTES_PER_GIB
            need = weights.number + cache.number + overhead.number
            reason = (
                f"needs about {need:.0f} GiB of {available.number:.0f} GiB; the fullest of {setup.count} device(s) "
                f"lacks {short:.1f} GiB"
            )
    return Memory(
        weights=weights, kv=cache, overhead=overhead, available=available, total=weights.plus(cache).plus(overhead),
        fits=fits, reason=reason, kv_capacity_tokens=_capacity(prepared, space, tokens),
    )  # fmt: skip
