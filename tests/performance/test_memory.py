from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.domain.errors import InputError
from planner.performance.estimate import estimate
from planner.performance.kv import kv_shape
from planner.performance.memory import kv_gib, memory, weights_gib
from planner.performance.setup import Setup

GIB = 1024**3


def setup(library, hardware, model, engine, quant, **more):
    return Setup(
        library.find_hardware(hardware), library.find_model(model), library.find_engine(engine), quant, **more
    )


@pytest.mark.parametrize(
    ("model", "quant", "engine", "gib"),
    [
        # Sizes of published files, from the llama-bench rows in profiles/measurements (column model_file_gib).
        ("llama-3.1-8b", "q4_k_m", "llama.cpp", 4.58),
        ("llama-3.1-70b", "q4_k_m", "llama.cpp", 39.59),
        ("llama-3.1-70b", "f16", "llama.cpp", 131.42),
        ("qwen2.5-7b", "q8_0", "llama.cpp", 7.54),
        ("gpt-oss-120b", "mxfp4", "llama.cpp", 59.02),
        ("qwen3-30b-a3b", "bf16", "llama.cpp", 56.89),
        ("glm-4.7-flash", "bf16", "llama.cpp", 55.79),
        # vLLM on a DGX Spark printed 61 GiB of model memory (memory_cases_open.csv, M176).
        ("gpt-oss-120b", "mxfp4", "vllm", 61.0),
    ],
)
def test_weights_are_within_a_percent_of_the_file(library, model, quant, engine, gib):
    found = weights_gib(library.find_model(model), quant, library.find_engine(engine))
    assert found == pytest.approx(gib, rel=0.01)


def test_a_671b_mixture_needs_all_its_experts_in_memory(library):
    # 671.03e9 weights at 4.5 to 4.9 bits: 377e9 to 411e9 bytes; the active 37 B alone would be 22 GB.
    size = weights_gib(library.find_model("deepseek-v3"), "q4_k_m") * GIB / 1e9
    assert 377 < size < 411


def test_sliding_window_layers_stop_growing(library):
    # Gemma 3 27B: 62 layers, 10 of them global, 16 KV heads of 128, f16: 2·16·128·2 = 8192 bytes per layer and token.
    # At 32768 tokens 10·32768·8192 + 52·1024·8192 = 3.1205e9 bytes; all layers global would be 1.664e10.
    tokens = 10 * 32768 + 52 * 1024
    assert kv_gib(library.find_model("gemma-3-27b"), 32768) == pytest.approx(tokens * 8192 / GIB, rel=1e-6)


def test_mla_keeps_a_latent(library):
    # DeepSeek V3: 61 layers · (512 + 64) elements. At 32768 tokens in q8_0 (34/32 bytes): 1.2233e9 bytes = 1.139 GiB,
    # as llama.cpp printed it (memory_cases_open.csv, M003).
    assert kv_gib(library.find_model("deepseek-v3"), 32768, "q8_0") == pytest.approx(1.139, rel=0.001)


def test_grouped_heads_against_a_printed_cache(library):
    # Qwen3-235B: 94 layers · 2 · 4 heads · 128 · 2 bytes · 32768 tokens = 5.875 GiB (memory_cases_open.csv, M019).
    assert kv_gib(library.find_model("qwen3-235b-a22b"), 32768) == pytest.approx(5.875, rel=0.001)


def test_linear_layers_do_not_grow(library):
    # Qwen3.5 27B: 16 of 64 layers are full attention, 4 KV heads of 256: 2·4·256·2 = 4096 bytes per layer and token.
    model = library.find_model("qwen3.5-27b")
    growth = kv_gib(model, 20_000) - kv_gib(model, 10_000)
    assert growth == pytest.approx(16 * 4096 * 10_000 / GIB, rel=1e-6)


def test_k_equals_v_is_stored_once(library):
    # Gemma 4 31B: global layers keep 4 heads of 512 once: 10 · 4 · 512 · 2 bytes per token beyond the window.
    model = library.find_model("gemma-4-31b")
    growth = kv_gib(model, 21_000) - kv_gib(model, 20_000)
    assert growth == pytest.approx(10 * 4 * 512 * 2 * 1000 / GIB, rel=1e-6)


def test_every_rank_holds_the_whole_latent(library):
    one = estimate(setup(library, "h200-sxm", "deepseek-v3", "vllm", "fp8", count=8), "kv", context_tokens=10_000)
    # 8 ranks · 61 · 576 · 2 bytes · 10000 tokens.
    assert one.number == pytest.approx(8 * 61 * 576 * 2 * 10_000 / GIB, rel=1e-6)


def test_grouped_heads_divide_until_there_are_none_left(library):
    # 4 KV heads on 8 ranks: each rank holds one head, two ranks the same one, so the total doubles.
    model = "qwen3-30b-a3b"
    four = estimate(setup(library, "h100-sxm", model, "vllm", "bf16", count=4), "kv", context_tokens=1000)
    eight = estimate(setup(library, "h100-sxm", model, "vllm", "bf16", count=8), "kv", context_tokens=1000)
    assert eight.number == pytest.approx(2 * four.number)


def test_a_small_model_does_not_need_memory_for_its_longest_context(library):
    # 9.65 B weights at 4 to 5 bits are about 5.3 GB; its maximum context of 262144 must not be charged.
    found = memory(setup(library, "rtx-3060-12gb", "qwen3.5-9b", "llama.cpp", "q4_k_m"), context_tokens=4096)
    assert found.fits
    assert found.total.number < 9


def test_a_122b_mixture_does_not_fit_48_gb(library):
    found = memory(setup(library, "rtx-a6000", "qwen3.5-122b-a10b", "llama.cpp", "q4_k_m"), context_tokens=4096)
    assert not found.fits
    assert "lacks" in found.reason


def test_the_fullest_device_decides(library):
    # gpt-oss-120b in 59 GiB over 3 × 24 GiB fits in sum only: an eighth of 36 layers is not divisible by the cards'
    # shares once the output head joins the last one.
    pair = memory(setup(library, "rtx-3090", "llama-3.1-70b", "llama.cpp", "q4_k_m", count=2), context_tokens=2048)
    single = memory(setup(library, "rtx-3090", "llama-3.1-70b", "llama.cpp", "q4_k_m"), context_tokens=2048)
    assert pair.fits
    assert not single.fits


def test_unified_memory_counts_once_and_leaves_the_system_its_share(library):
    found = memory(setup(library, "m4-pro", "llama-3.1-8b", "mlx", "mlx-4bit"), context_tokens=2048)
    label = library.find_hardware("m4-pro").memory_gb
    assert found.available.number == pytest.approx(label * 0.75, rel=0.03)


def test_an_unstated_memory_is_unknown_and_said_so(library):
    found = memory(setup(library, "epyc-9654", "llama-3.1-8b", "llama.cpp", "q4_k_m"), context_tokens=2048)
    assert found.available.value is None
    assert found.fits
    assert "not stated" in found.reason


def test_memory_reserved_for_another_model_is_gone(library):
    free = memory(setup(library, "h100-sxm", "gemma-3-27b", "vllm", "fp8"), context_tokens=8192)
    taken = memory(setup(library, "h100-sxm", "gemma-3-27b", "vllm", "fp8", reserved_gib=30.0), context_tokens=8192)
    assert free.available.number - taken.available.number == pytest.approx(30.0)
    assert taken.kv_capacity_tokens.number < free.kv_capacity_tokens.number


def test_unknown_names_are_answered_with_the_nearest(library):
    with pytest.raises(InputError, match="q4_k_m"):
        weights_gib(library.find_model("llama-3.1-8b"), "q4_k_n")
    with pytest.raises(InputError, match="q8_0"):
        kv_gib(library.find_model("llama-3.1-8b"), 10, "q8_o")


@given(tokens=st.floats(0, 1e6), more=st.floats(0, 1e6))
def test_more_tokens_never_need_less_cache(library, tokens, more):
    for name in ("gemma-3-27b", "deepseek-v3", "qwen3.5-27b", "deepseek-v4-flash"):
        shape = kv_shape(library.find_model(name), "f16")
        assert shape.stored(tokens + more) >= shape.stored(tokens)
        assert shape.read(tokens) <= shape.stored(tokens) * 1.05 + 1
