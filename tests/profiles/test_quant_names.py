"""Quantisation texts as people and tools write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.domain.errors import InputError
from planner.domain.quant import QUANTS, parse_kv_quant, parse_quant


@pytest.mark.parametrize(
    ("text", "name", "family"),
    [
        ("Q4_K_M", "q4_k_m", "gguf-k"),
        ("UD-Q4_K_XL", "q4_k_xl", "gguf-k"),
        ("UD-Q4_K_XL-QAT", "q4_k_xl", "gguf-k"),
        ("Q8_K_XL", "q8_k_xl", "gguf-k"),
        ("MXFP4 (tagged fp4)", "mxfp4", "mxfp4"),
        ("MXFP4-Q8", "mxfp4", "mxfp4"),
        ("NVFP4", "nvfp4", "fp4"),
        ("FP8 (KV fp8)", "fp8", "fp8"),
        ("BF16 (KV FP8)", "bf16", "float"),
        ("model default (bf16)", "bf16", "float"),
        ("float16", "f16", "float"),
        ("mix-IQ3_K", "iq3_k", "gguf-i"),
        ("IQ2_K_R4", "iq2_k", "gguf-i"),
        ("IQ4_XS experts + Q5_K attn + Q6_K out", "iq4_xs", "gguf-i"),
        ("Q4_K_M-like (q4_K)", "q4_k_m", "gguf-k"),
        ("4bit", "mlx-4bit", "mlx"),
        ("MLX 8bit", "mlx-8bit", "mlx"),
        ("AWQ 4bit", "awq", "int4"),
        ("INT4 AutoRound", "int4", "int4"),
        ("Ollama default (Q4_K_M unless stated)", "q4_k_m", "gguf-k"),
        ("Ollama default", "q4_k_m", "gguf-k"),
    ],
)
def test_texts(text, name, family):
    assert (parse_quant(text).name, parse_quant(text).family) == (name, family)


@given(st.sampled_from(sorted(QUANTS)))
def test_canonical_names_read_as_themselves(name):
    assert parse_quant(name).name == name
    assert parse_quant(name.upper()).name == name


def test_unknown_names_get_the_nearest():
    with pytest.raises(InputError) as caught:
        parse_quant("q4_k_n")
    assert "q4_k_m" in caught.value.hint


@pytest.mark.parametrize("text", ["106.830 GiB file", "BF16/FP8 per recipe", "", "good", "Q4_K_MM"])
def test_no_guess(text):
    with pytest.raises(InputError):
        parse_quant(text)


def test_kv():
    assert parse_kv_quant("K:q8_0/V:q8_0") == "q8_0"
    assert parse_kv_quant("c^KV:f16/kv^T:f16") == "f16"
    assert parse_kv_quant("fp8_ds_mla") == "fp8"
    assert parse_kv_quant("") == "f16"
    with pytest.raises(InputError, match="several"):
        parse_kv_quant("K q5_0 / V q4_1")
    with pytest.raises(InputError, match="Unknown"):
        parse_kv_quant("q3_0")
