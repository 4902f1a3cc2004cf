"""Names of weight and KV quantisations and their nominal bits per weight."""

from __future__ import annotations

import re

from planner.domain.base import Frozen


class Quant(Frozen):
    """One quantisation: its canonical name, family and nominal bits per weight of the bulk tensors."""

    name: str
    family: str
    """gguf-k, gguf-i, gguf-legacy, mxfp4, fp4, fp8, int4, int8, mlx or float."""
    bits: float
    """Nominal average bits per weight over a dense model, embeddings included."""


def _table() -> dict[str, Quant]:
    # Average bits per weight: block sizes of ggml (ggml-common.h) for plain types; for mixes the averages that
    # llama.cpp prints for Llama-3.1-8B (tools/quantize README).
    rows: dict[str, list[tuple[str, float]]] = {
        "float": [("f32", 32), ("f16", 16), ("bf16", 16)],
        "fp8": [("fp8", 8), ("mxfp8", 8.25)],
        "fp4": [("fp4", 4.5), ("nvfp4", 4.5)],
        "mxfp4": [("mxfp4", 4.25)],
        "int8": [("int8", 8.0)],
        "int4": [("int4", 4.25), ("awq", 4.25), ("gptq", 4.25)],
        "gguf-legacy": [("q4_0", 4.66), ("q4_1", 5.1), ("q5_0", 5.6), ("q5_1", 6.1), ("q8_0", 8.5)],
        "gguf-k": [
            ("q2_k_s", 2.97), ("q2_k", 3.16), ("q3_k_s", 3.64), ("q3_k_m", 4.0), ("q3_k_l", 4.3),
            ("q4_k_s", 4.67), ("q4_k_m", 4.89), ("q5_k_s", 5.57), ("q5_k_m", 5.7), ("q6_k", 6.56),
        ],
        "gguf-i": [
            ("iq1_s", 2.0), ("iq1_m", 2.15), ("iq2_xxs", 2.38), ("iq2_xs", 2.59), ("iq2_s", 2.74), ("iq2_m", 2.93),
            ("iq3_xxs", 3.25), ("iq3_xs", 3.5), ("iq3_s", 3.66), ("iq3_m", 3.76), ("iq4_xs", 4.46), ("iq4_nl", 4.68),
            ("iq2_k", 2.4), ("iq3_k", 3.44), ("iq4_ks", 4.25), ("iq4_k", 4.5),
        ],
        "mlx": [("mlx-4bit", 4.5), ("mlx-5bit", 5.5), ("mlx-6bit", 6.5), ("mlx-8bit", 8.5)],
    }
    return {name: Quant(name=name, family=fam, bits=bits) for fam, pairs in rows.items() for name, bits in pairs}


QUANTS: dict[str, Quant] = _table()
KV_BYTES: dict[str, float] = {
    "f32": 4, "f16": 2, "bf16": 2, "fp8": 1, "q8_0": 34 / 32, "q5_1": 24 / 32, "q5_0": 22 / 32, "q4_1": 20 / 32,
    "q4_0": 18 / 32, "iq4_nl": 18 / 32,
}  # fmt: skip
"""Bytes per cached element; the q types are ggml blocks of 32 (ggml-common.h)."""

PRECISION_BITS = {"q4": 4.0, "q6": 6.0, "q8": 8.0, "full": 16.0}
"""Fewest nominal bits per weight that satisfy a workload's `precision` constraint."""


def fold(text: str) -> str:
    """Return a name reduced to what matters for matching: lower case, one separator."""
    return re.sub(r"[\s_/]+", "-", text.strip().casefold())
