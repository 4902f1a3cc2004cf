"""Names of weight and KV quantisations and their nominal bits per weight."""

from __future__ import annotations

import functools
import re

from planner.domain.base import Frozen
from planner.domain.errors import InputError, nearest


class Quant(Frozen):
    """One quantisation: its canonical name, family and nominal bits per weight of the bulk tensors."""

    name: str
    family: str
    """gguf-k, gguf-i, gguf-legacy, mxfp4, fp4, fp8, int4, int8, mlx or float."""
    bits: float
    """Nominal average bits per weight over a dense model, embeddings included."""


def _table() -> dict[str, Quant]:
    # Average bits per weight: block sizes of ggml (ggml-common.h) for plain types; for mixes the averages
    # that llama.cpp prints for Llama-3.1-8B (tools/quantize README).
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
            # Unsloth's dynamic mixes have no fixed recipe: medians of file size over parameters of the files
            # in profiles/measurements (q4: 6 files, 4.5-5.6 bits; q8: 4 files, 9.0-9.8; q5: one file).
            ("q4_k_xl", 4.88), ("q5_k_xl", 6.03), ("q8_k_xl", 9.41),
        ],
        "gguf-i": [
            ("iq1_s", 2.0), ("iq1_m", 2.15), ("iq2_xxs", 2.38), ("iq2_xs", 2.59), ("iq2_s", 2.74),
            ("iq2_m", 2.93), ("iq3_xxs", 3.25), ("iq3_xs", 3.5), ("iq3_s", 3.66), ("iq3_m", 3.76),
            ("iq4_xs", 4.46), ("iq4_nl", 4.68), ("iq2_k", 2.4), ("iq3_k", 3.44), ("iq4_ks", 4.25),
            ("iq4_k", 4.5),
        ],
        "mlx": [("mlx-4bit", 4.5), ("mlx-5bit", 5.5), ("mlx-6bit", 6.5), ("mlx-8bit", 8.5)],
    }
    return {n: Quant(name=n, family=family, bits=bits) for family, pairs in rows.items() for n, bits in pairs}


QUANTS: dict[str, Quant] = _table()
KV_BYTES: dict[str, float] = {
    "f32": 4, "f16": 2, "bf16": 2, "fp8": 1, "q8_0": 34 / 32, "q5_1": 24 / 32, "q5_0": 22 / 32,
    "q4_1": 20 / 32, "q4_0": 18 / 32, "iq4_nl": 18 / 32,
}  # fmt: skip
"""Bytes per cached element; the q types are ggml blocks of 32 (ggml-common.h)."""

PRECISION_BITS = {"q4": 4.0, "q6": 6.0, "q8": 8.0, "full": 16.0}
"""Fewest nominal bits per weight that satisfy a workload's `precision` constraint."""


@functools.lru_cache(maxsize=1 << 16)
def fold(text: str) -> str:
    """Return a name reduced to what matters for matching: lower case, one separator."""
    return re.sub(r"[\s_/]+", "-", text.strip().casefold())


_SAME_AS = {
    "float16": "f16", "fp16": "f16", "half": "f16", "float32": "f32", "fp32": "f32", "bfloat16": "bf16",
    "q2_k_l": "q2_k", "q2_k_xl": "q2_k", "q3_k_xl": "q3_k_l", "q6_k_l": "q6_k", "q6_k_xl": "q6_k",
    "q3_k": "q3_k_m", "q4_k": "q4_k_m", "q5_k": "q5_k_m", "q8_k": "q8_0", "q8": "q8_0", "iq2-class": "iq2_k",
    "fp8_ds_mla": "fp8", "ollama default": "q4_k_m",
}  # fmt: skip
"""Other spellings, and mixes that differ too little or too irregularly for bits of their own."""

_NAMES = sorted({*QUANTS, *_SAME_AS}, key=len, reverse=True)
_WORD = re.compile(r"(?<![a-z0-9])(" + "|".join(map(re.escape, _NAMES)) + r")(?![a-z0-9_])")
_MLX_BITS = re.compile(r"(?<![a-z0-9])([4568])[ -]?bit|\boq([4568])")
_FILE_ONLY = re.compile(r"^[\d.]+ ?gib file$")


def parse_quant(text: str) -> Quant:
    """Return the quantisation a free text names, such as `UD-Q4_K_XL`, `FP8 (KV fp8)` or `MLX 8bit`.

    The first name outside brackets counts, then one inside; the bits of a mix are those of the tensors named
    first, so a file's size, where known, is the better measure. Raises InputError with the nearest name for
    an unknown text, and for one that names two precisions or a file size only.
    """
    plain = re.sub(r"\s+", " ", text.strip().casefold())
    if _FILE_ONLY.match(plain):
        raise InputError(f"{text!r} is a file size, no quantisation.", "Give the quantisation and file_gib.")
    outside = re.sub(r"\([^)]*\)", " ", plain)
    if "per recipe" in outside:
        raise InputError(f"{text!r} names two precisions.", "Give the one that ran.")
    for part in (outside, plain):
        found = _first(part)
        if found is not None:
            return found
    hint = nearest(plain, QUANTS) or "Known are names such as q4_k_m, q8_0, fp8, awq."
    raise InputError(f"Unknown quantisation {text!r}.", hint)


def _first(text: str) -> Quant | None:
    # Dashes separate words ("ud-q4_k_xl"), underscores belong to names, but for "_r4" (the same bits, repacked) and
    # between two names ("iq3_s_iq3_xxs").
    text = re.sub(r"_r[48]\b|_(?=i?q\d)", " ", text)
    words = _WORD.search(text)
    if words is not None:
        return QUANTS[_SAME_AS.get(words[1], words[1])]
    if bits := _MLX_BITS.search(text):
        return QUANTS[f"mlx-{bits[1] or bits[2]}bit"]
    return None


def parse_kv_quant(text: str) -> str:
    """Return the name in `KV_BYTES` of a KV cache type as tools print it, such as `K:q8_0/V:q8_0`.

    An empty text or `auto` is the engines' default, f16. Raises InputError for an unknown type, or for
    different ones for K and V.
    """
    plain = text.strip().casefold()
    if plain in ("", "auto", "engine native", "default"):
        return "f16"
    words: list[str] = re.findall(r"[a-z]*\d+(?:_[a-z0-9]+)*", plain)
    found = sorted({_SAME_AS.get(word, word) for word in words} & set(KV_BYTES))
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{text!r} names several KV types: {', '.join(found)}.", "Give one for K and V.")
    raise InputError(f"Unknown KV type {text!r}.", f"Known: {', '.join(KV_BYTES)}.")
