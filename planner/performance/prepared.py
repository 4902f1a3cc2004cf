"""A setup worked out once: weights, cache shape, numbers and rates, kept for the next question about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from planner.domain.engine import Engine
from planner.domain.errors import NoAnswerError
from planner.domain.hardware import Hardware
from planner.domain.model import ModelSpec
from planner.domain.units import BYTES_PER_GIB
from planner.performance import core, kv
from planner.performance.classes import backend_name, hardware_class, peak_flops
from planner.performance.core import DecodeRates, Numbers, PrefillRates
from planner.performance.mixes import GGUF_FAMILIES, Bits, bits_of, has_mix, quant_of
from planner.performance.rates import Found, decode_rates, lookup, prefill_rates
from planner.performance.setup import Setup
from planner.performance.tensors import Tensors, count

HOST_BANDWIDTH_GB_S = 80.0
"""Stands in for an unknown host: two channels of DDR5-5000, a desktop's."""
LINK_GB_S = 16.0
"""Stands in for an unknown interconnect: half of PCIe 4.0 x16, both directions together."""
MICRO_BATCH = 512
"""llama.cpp's default --ubatch-size."""
CHUNK_TOKENS = 8192
"""Prompt tokens that vLLM, SGLang and TensorRT-LLM schedule in one pass by default on data-centre devices."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything about a setup that does not depend on context or load. Sizes in bytes."""

    setup: Setup
    tensors: Tensors
    bits: Bits
    cache: kv.KvShape
    weight_bytes: float
    fixed_bytes: float
    """Weights that lie on the first or last device whole under a layer split: embeddings and head."""
    device_weight_bytes: float
    host_weight_bytes: float
    numbers: Numbers
    decode: DecodeRates
    prefill: PrefillRates
    decode_found: Found
    prefill_found: Found
    chunk: float

    def step_s(self, context_tokens: float, batch: float) -> float:
        """Return seconds of a decode step of `batch` sequences with so many tokens each."""
        return float(core.decode_step_s(self.numbers, self.decode, self.cache.read(context_tokens), batch))

    def prompt_s(self, tokens: float, depth: float = 0.0) -> float:
        """Return seconds to process so many prompt tokens behind `depth` cached ones."""
        if tokens <= 0:
            return 0.0
        window = self.cache.window
        seen = min(depth + tokens / 2.0, window) if window else 0.0
        chunk = min(tokens, self.chunk)
        return float(core.prefill_s(self.numbers, self.prefill, tokens, depth, seen, chunk))


_CACHE: dict[tuple[object, ...], Prepared] = {}
_CACHE_LIMIT = 20_000


def prepare(setup: Setup) -> Prepared:
    """Return a setup worked out, from the cache when it was asked before.

    The cached value holds the setup and so its profiles: their identities in the key cannot be reused meanwhile.
    """
    key = setup.key
    found = _CACHE.get(key)
    if found is None:
        if len(_CACHE) >= _CACHE_LIMIT:
            _CACHE.clear()
        found = _CACHE[key] = _prepare(setup)
    return found


@dataclass(frozen=True, slots=True)
class Sizes:
    """Weights in bytes by how they are read."""

    table: float
    """Embeddings and stored head."""
    head_read: float
    body: float
    experts: float

    @property
    def total(self) -> float:
        """Return all stored bytes."""
        return self.table + self.body + self.experts


def _sizes(tensors: Tensors, bits: Bits, file_gib: float | None) -> Sizes:
    table = (tensors.embed * bits.embed + tensors.head * bits.head) / 8.0
    head = tensors.head_read * (bits.head if tensors.head else bits.embed) / 8.0
    body = (tensors.attention * bits.attention + tensors.ffn * bits.ffn) / 8.0
    experts = tensors.experts * bits.experts / 8.0
    factor = file_gib * BYTES_PER_GIB / (table + body + experts) if file_gib else 1.0
    return Sizes(table * factor, head * factor, body * factor, experts * factor)


def _bits(quant_name: str, model: ModelSpec, tensors: Tensors, engine: Engine | None) -> Bits:
    quant = quant_of(quant_name)
    if not tensors.shaped and quant.family in GGUF_FAMILIES and not has_mix(quant.name):
        return Bits(*(quant.bits,) * 5)
    return bits_of(quant_name, model, engine)


def total_bytes(model: ModelSpec, quant_name: str, engine: Engine | None = None) -> float:
    """Return the bytes of all weights of a model in a quantisation."""
    tensors = count(model)
    return _sizes(tensors, _bits(quant_name, model, tensors, engine), None).total


def attention_heads(model: ModelSpec) -> tuple[float, float]:
    """Return (heads, mean of the query-key and value widths) of a layer, for counting FLOP."""
    heads = float(model.attention_heads or max(4 * model.kv_heads if not model.is_mla else model.kv_heads, 1))
    if model.is_mla:
        return heads, 160.0
    return heads, float(model.head_dim or model.hidden_size / heads)


def host_shares(setup: Setup, tensors: Tensors) -> tuple[float, float]:
    """Return the shares of (dense weights, experts) that stay in host memory."""
    if setup.hardware.kind == "cpu":
        return 0.0, 0.0
    dense = 0.0
    if setup.gpu_layers is not None:
        dense = 1.0 - min(max(setup.gpu_layers, 0) / setup.model.layers, 1.0)
    experts = dense
    if setup.cpu_experts_layers and tensors.moe_layers:
        experts = max(experts, min(setup.cpu_experts_layers / tensors.moe_layers, 1.0))
    return dense, experts


def _bandwidth(hardware: Hardware) -> float:
    if not hardware.memory_bandwidth_gb_s:
        raise NoAnswerError(
            f"The memory bandwidth of {hardware.id} is unknown.", "Add memory_bandwidth_gb_s to its profile."
        )
    return hardware.memory_bandwidth_gb_s * 1e9


def _numbers(setup: Setup, tensors: Tensors, sizes: Sizes) -> Numbers:
    hardware, model = setup.hardware, setup.model
    head, body, experts = sizes.head_read, sizes.body, sizes.experts
    dense_host, expert_host = host_shares(setup, tensors)
    family = quant_of(setup.quant).family
    native = "gguf-k" not in setup.engine.quant_families and "mlx" not in setup.engine.quant_families
    heads, width = attention_heads(model)
    split = setup.split
    tensor = float(setup.count) if split == "tensor" else 1.0
    cache = kv.kv_shape(model, setup.kv_quant)
    handed = max(dense_host * model.layers, expert_host * tensors.moe_layers)
    return Numbers(
        dense_bytes=head + body * (1 - dense_host), expert_bytes=experts * (1 - expert_host),
        host_dense_bytes=body * dense_host, host_expert_bytes=experts * expert_host,
        dense_params=tensors.active_dense, head_params=tensors.head_read, expert_params=tensors.active_experts,
        num_experts=float(tensors.num_experts or 1), top_k=float(tensors.top_k or 1), layers=float(model.layers),
        moe_layers=float(tensors.moe_layers), linear_layers=float(model.linear_layers), host_layers=handed,
        hidden=float(model.hidden_size), attention_width=heads * width * (model.full_layers or 1),
        window_width=heads * width * model.sliding_layers, window=float(cache.window),
        bandwidth=_bandwidth(hardware), peak=peak_flops(hardware, family, native),
        host_bandwidth=(setup.host_memory_bandwidth_gb_s or HOST_BANDWIDTH_GB_S) * 1e9,
        tensor=tensor, stages=float(setup.count) if split == "layer" else 1.0,
        link=(hardware.interconnect_gb_s or LINK_GB_S) / 2.0 * 1e9, kv_heads_split=min(tensor, float(cache.splits)),
    )  # fmt: skip


def _prepare(setup: Setup) -> Prepared:
    tensors = count(setup.model)
    bits = _bits(setup.quant, setup.model, tensors, setup.engine)
    sizes = _sizes(tensors, bits, setup.file_gib)
    total = sizes.total
    numbers = _numbers(setup, tensors, sizes)
    family = quant_of(setup.quant).family
    device_class = hardware_class(setup.hardware)
    where = (setup.engine, device_class, family)
    host = numbers.host_dense_bytes + numbers.host_expert_bytes
    sort = "cpu" if setup.hardware.kind == "cpu" else "hybrid" if host else "moe" if tensors.moe_layers else "dense"
    backend = backend_name(setup.backend, device_class)
    about = (setup.hardware.id, setup.model.id, backend, sort)
    found = [lookup(*where, phase, *about) for phase in ("decode", "prefill")]
    gguf = "gguf-k" in setup.engine.quant_families
    return Prepared(
        setup=setup, tensors=tensors, bits=bits, cache=kv.kv_shape(setup.model, setup.kv_quant), weight_bytes=total,
        fixed_bytes=sizes.table, device_weight_bytes=total - host, host_weight_bytes=host, numbers=numbers,
        decode=decode_rates(found[0]), prefill=prefill_rates(found[1]), decode_found=found[0],
        prefill_found=found[1], chunk=MICRO_BATCH if gguf else CHUNK_TOKENS,
    )  # fmt: skip


def offloaded(setup: Setup, device_room_bytes: float, prepared: Prepared) -> Setup:
    """Return the setup with as many layers on the devices as fit: experts leave first, then whole layers."""
    spare = prepared.device_weight_bytes - device_room_bytes
    if spare <= 0:
        return setup
    experts = prepared.numbers.expert_bytes
    layers = prepared.tensors.moe_layers
    if layers and experts >= spare:
        return replace(setup, cpu_experts_layers=math.ceil(layers * spare / experts))
    body = prepared.numbers.dense_bytes + experts
    kept = max(0.0, 1.0 - spare / body) if body else 0.0
    return replace(setup, gpu_layers=int(setup.model.layers * kept))
