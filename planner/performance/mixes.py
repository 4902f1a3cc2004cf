"""Bits per weight by kind of tensor: most quantisations keep some tensors at a higher precision than the bulk."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.engine import Engine
from planner.domain.errors import InputError, nearest
from planner.domain.model import ModelSpec
from planner.domain.quant import QUANTS, Quant

GGUF_FAMILIES = frozenset({"gguf-k", "gguf-i", "gguf-legacy"})


@dataclass(frozen=True, slots=True)
class Bits:
    """Bits per weight of each kind of `planner.performance.tensors.Tensors`."""

    embed: float
    head: float
    attention: float
    ffn: float
    experts: float


# Block sizes of ggml (ggml-common.h), in bits per weight.
Q2, Q3, Q4, Q5, Q6, Q8 = 2.625, 3.4375, 4.5, 5.5, 6.5625, 8.5
HALF_Q4_Q6, HALF_Q5_Q6 = (Q4 + Q6) / 2, (Q5 + Q6) / 2

# llama.cpp's mixes (src/llama-quant.cpp): embed, head, q and k, v, o, up and gate, down. "Half" is its rule
# `use_more_bits`: the first and last eighth of the layers and every third between.
_GGUF: dict[str, tuple[float, float, float, float, float, float, float]] = {
    "q2_k": (Q2, Q6, Q2, Q4, Q3, Q2, Q3),
    "q2_k_s": (Q2, Q6, Q2, Q4, Q2, Q2, Q2 + (Q4 - Q2) / 8),
    "q3_k_s": (Q3, Q6, Q3, Q3, Q3, Q3, Q3),
    "q3_k_m": (Q3, Q6, Q3, Q4, Q4, Q3, Q4),
    "q3_k_l": (Q3, Q6, Q3, Q5, Q5, Q3, Q5),
    "q4_k_s": (Q4, Q6, Q4, Q4, Q4, Q4, Q4 + 1 / 8),
    "q4_k_m": (Q4, Q6, Q4, HALF_Q4_Q6, Q4, Q4, HALF_Q4_Q6),
    "q5_k_s": (Q5, Q6, Q5, Q5, Q5, Q5, Q5),
    "q5_k_m": (Q5, Q6, Q5, HALF_Q5_Q6, Q5, Q5, HALF_Q5_Q6),
    "q6_k": (Q6, Q6, Q6, Q6, Q6, Q6, Q6),
    "q4_0": (4.5, Q6, 4.5, 4.5, 4.5, 4.5, 4.5),
    "q4_1": (5.0, Q6, 5.0, 5.0, 5.0, 5.0, 5.0),
    "q5_0": (5.5, Q6, 5.5, 5.5, 5.5, 5.5, 5.5),
    "q5_1": (6.0, Q6, 6.0, 6.0, 6.0, 6.0, 6.0),
    "q8_0": (Q8, Q8, Q8, Q8, Q8, Q8, Q8),
    "iq4_xs": (4.25, Q6, 4.25, Q5, 4.25, 4.25, 4.25 + 1.25 / 8),
    "iq4_nl": (4.5, Q6, 4.5, Q5, 4.5, 4.5, 4.5 + 1 / 8),
    "iq3_s": (3.4375, Q6, 3.4375, Q4, 3.4375, 3.4375, 3.4375),
    "iq3_xxs": (3.4375, Q5, 2.5, Q4, 3.4375, 3.0625, 3.4375),
    "iq2_xxs": (Q2, Q5, 2.0625, Q4, 2.0625, 2.0625, 2.0625 + (Q2 - 2.0625) / 8),
    "iq2_xs": (Q2, Q5, 2.3125, Q4, 2.3125, 2.3125, 2.3125 + (Q2 - 2.3125) / 8),
    "iq2_s": (3.4375, Q5, 2.3125, Q4, 3.4375, 2.3125, 2.3125 + 1.125 / 8),
    "iq2_m": (3.4375, Q5, 2.5, Q4, 3.4375, 2.5, 2.5 + 0.9375 / 8),
    "iq1_s": (Q2, Q5, 1.5625, Q4, 2.0625, 1.5625, 1.5625 + 1.0625 / 8),
    "iq1_m": (Q2, Q5, 1.75, Q4, 2.0625, 1.75, 1.75 + 0.875 / 8),
}


def quant_of(name: str) -> Quant:
    """Return a quantisation by canonical name; raises InputError naming the nearest."""
    found = QUANTS.get(name.casefold())
    if found is None:
        raise InputError(f"Unknown quantisation {name!r}.", nearest(name, QUANTS))
    return found


def has_mix(quant_name: str) -> bool:
    """Say whether the precision of each kind of tensor is known, not only a nominal average."""
    return quant_name in _GGUF


def _value_share(model: ModelSpec) -> float:
    """Return the share of the v projection among the attention weights."""
    heads = model.attention_heads or 4 * model.kv_heads
    return model.kv_heads / (2.0 * (heads + model.kv_heads))


def _gguf(quant: Quant, model: ModelSpec) -> Bits:
    row = _GGUF.get(quant.name)
    if row is None:
        return Bits(quant.bits, Q6, quant.bits, quant.bits, quant.bits)
    embed, head, qk, v, o, up, down = row
    share = _value_share(model)
    heads = model.attention_heads or 4 * model.kv_heads
    out = heads / (2.0 * (heads + model.kv_heads))
    attention = v * share + o * out + qk * (1 - share - out)
    ffn = (2 * up + down) / 3
    return Bits(head if model.tied_embeddings else embed, head, attention, ffn, ffn)


def bits_of(quant_name: str, model: ModelSpec, engine: Engine | None = None) -> Bits:
    """Return bits per weight by kind of tensor for a quantisation as the engine's checkpoints have it."""
    quant = quant_of(quant_name)
    if quant.family in GGUF_FAMILIES:
        return _gguf(quant, model)
    if quant.family == "mxfp4":
        # gpt-oss ships experts in MXFP4 and the rest in BF16; GGUF files hold the rest in Q8_0.
        rest = Q8 if engine is not None and "gguf-k" in engine.quant_families else 16.0
        return Bits(rest, rest, rest, rest if model.is_moe else quant.bits, quant.bits)
    if quant.family == "mlx":
        return Bits(*(quant.bits,) * 5)
    if quant.family == "float":
        return Bits(*(quant.bits,) * 5)
    # FP8, NVFP4, INT4 and INT8 checkpoints quantise linear layers; embeddings and head stay in BF16.
    attention = 8.0 if quant.family == "fp4" and model.is_moe else quant.bits
    return Bits(16.0, 16.0, attention, quant.bits, quant.bits)
