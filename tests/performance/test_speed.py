from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.domain.errors import InputError, NoAnswerError
from planner.domain.figures import Basis, Speed
from planner.performance import core
from planner.performance.estimate import KINDS, estimate
from planner.performance.setup import Setup


def setup(library, hardware, model, engine, quant, **more):
    return Setup(
        library.find_hardware(hardware), library.find_model(model), library.find_engine(engine), quant, **more
    )


def numbers(**changed):
    """A dense model of 1e9 bytes and 1e9 weights on a device of 1e11 B/s and 1e13 FLOP/s, no overheads."""
    plain = {
        "dense_bytes": 1e9, "expert_bytes": 0.0, "host_dense_bytes": 0.0, "host_expert_bytes": 0.0,
        "dense_params": 1e9, "head_params": 0.0, "expert_params": 0.0, "num_experts": 1.0, "top_k": 1.0, "layers": 10.0,
        "moe_layers": 0.0, "linear_layers": 0.0, "host_layers": 0.0, "hidden": 1000.0, "attention_width": 0.0,
        "window_width": 0.0, "window": 0.0, "bandwidth": 1e11, "peak": 1e13, "host_bandwidth": 5e10, "tensor": 1.0,
        "stages": 1.0, "link": 1e10, "kv_heads_split": 1.0,
    }  # fmt: skip
    return core.Numbers(**{**plain, **changed})


def rates(**changed):
    plain = {
        "bandwidth": 1.0, "expert_bandwidth": 1.0, "kv_bandwidth": 1.0, "compute": 1.0, "layer_s": 0.0, "moe_s": 0.0,
        "linear_s": 0.0, "step_s": 0.0, "sequence_s": 0.0, "reduce_s": 0.0, "host_bandwidth": 1.0, "host_s": 0.0,
    }  # fmt: skip
    return core.DecodeRates(**{**plain, **changed})


def test_a_step_reads_the_weights_and_each_sequences_cache():
    # 1e9 B / 1e11 B/s = 10 ms; compute 2e9 FLOP / 1e13 = 0.2 ms: sqrt(10² + 0.2²) = 10.002 ms; cache 1e8 B = 1 ms.
    assert core.decode_step_s(numbers(), rates(), 1e8, 1.0) == pytest.approx(11.002e-3, rel=1e-4)
    # Eight sequences: compute 1.6 ms, sqrt(10² + 1.6²) = 10.127; cache 8 ms.
    assert core.decode_step_s(numbers(), rates(), 1e8, 8.0) == pytest.approx(18.127e-3, rel=1e-4)


def test_a_batch_touches_more_experts_but_not_batch_times_k():
    # 8 of 128 experts, 16 tokens: 1 − (120/128)^16 = 0.6439.
    assert core.touched_share(128.0, 8.0, 1.0) == pytest.approx(1 / 16)
    assert core.touched_share(128.0, 8.0, 16.0) == pytest.approx(0.6439, abs=1e-4)


def test_offloaded_experts_move_at_the_hosts_speed():
    # 2e9 B of experts on the host, 1/16 touched: 1.25e8 B / 5e10 B/s = 2.5 ms beside 10.002 ms of dense weights.
    n = numbers(host_expert_bytes=2e9, num_experts=128.0, top_k=8.0)
    assert core.decode_step_s(n, rates(), 0.0, 1.0) == pytest.approx(12.502e-3, rel=1e-4)


def test_tensor_parallel_divides_reading_and_pays_for_traffic():
    # Two devices: 5 ms reading, 0.1 ms compute. Two all-reduces in each of 10 layers: latency 20 µs·½·2 = 20 µs each,
    # 2·½·1·1000·2 B / 1e10 B/s = 0.2 µs each: 404 µs.
    n = numbers(tensor=2.0, kv_heads_split=2.0)
    assert core.decode_step_s(n, rates(reduce_s=2e-5), 0.0, 1.0) == pytest.approx(5.405e-3, rel=1e-3)


def test_layer_split_does_not_speed_decode_up(library):
    one = estimate(setup(library, "rtx-3090", "gemma-3-27b", "llama.cpp", "q4_k_m"), "decode")
    two = estimate(setup(library, "rtx-3090", "gemma-3-27b", "llama.cpp", "q4_k_m", count=2), "decode")
    assert two.number <= one.number


def test_decode_slows_with_depth_and_each_request_with_company(library):
    s = setup(library, "h100-sxm", "llama-3.1-8b", "vllm", "bf16")
    shallow, deep = (estimate(s, "decode", context_tokens=t).number for t in (0, 60_000))
    assert deep < shallow
    alone, crowd = (estimate(s, "decode", context_tokens=1000, concurrency=c).number for c in (1, 64))
    assert crowd < alone
    total = estimate(s, "aggregate", context_tokens=1000, concurrency=64).number
    assert total > alone


def test_a_3090_on_a_27b_q4_lies_between_the_two_reports(library):
    # Users measured 40 tok/s plain and 70 tok/s with multi-token prediction on the same card: both must be inside.
    plain = estimate(setup(library, "rtx-3090", "qwen3.5-27b", "llama.cpp", "q4_k_m"), "decode")
    drafted = estimate(setup(library, "rtx-3090", "qwen3.5-27b", "llama.cpp", "q4_k_m", speculative="mtp"), "decode")
    assert plain.low <= 40 <= plain.high
    assert drafted.low <= 70 <= drafted.high


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_an_answer_with_unit_basis_and_source(library, kind):
    s = setup(library, "h100-sxm", "llama-3.1-8b", "vllm", "fp8")
    found = estimate(s, kind, context_tokens=100, prompt_tokens=1000, output_tokens=200, concurrency=4)
    if kind == "fits":
        assert found is True
        return
    assert found.number > 0
    assert found.low <= found.number <= found.high
    assert found.basis == Basis.ESTIMATED
    assert found.source
    assert isinstance(found, Speed) == (found.unit == "tok/s")


def test_total_counts_prompt_tokens_too(library):
    s = setup(library, "h100-sxm", "llama-3.1-8b", "vllm", "fp8")
    axes = {"prompt_tokens": 900, "output_tokens": 300, "concurrency": 8}
    ratio = estimate(s, "aggregate_total", **axes).number / estimate(s, "aggregate_output", **axes).number
    assert ratio == pytest.approx(4.0)


def test_a_cached_prefix_is_not_processed_again(library):
    s = setup(library, "h100-sxm", "llama-3.1-70b", "vllm", "fp8", count=2)
    cold = estimate(s, "ttft", prompt_tokens=8000)
    warm = estimate(s, "ttft", prompt_tokens=8000, cached_prefix_tokens=7000)
    assert warm.number < cold.number / 3


def test_what_cannot_be_answered_says_why(library):
    with pytest.raises(NoAnswerError, match="bandwidth"):
        estimate(setup(library, "tpu7x", "llama-3.1-8b", "vllm", "bf16"), "decode")
    with pytest.raises(NoAnswerError, match="does not offload"):
        estimate(setup(library, "rtx-4090", "llama-3.1-70b", "vllm", "bf16"), "decode")
    with pytest.raises(InputError, match="decode"):
        estimate(setup(library, "rtx-4090", "llama-3.1-8b", "vllm", "bf16"), "decod")


def test_an_engine_without_rows_borrows_and_says_so(library):
    own = estimate(setup(library, "h100-sxm", "llama-3.1-8b", "vllm", "bf16"), "decode")
    lent = estimate(setup(library, "h100-sxm", "llama-3.1-8b", "tgi", "bf16"), "decode")
    assert "borrowed from vllm" in lent.source
    assert math.log(lent.high / lent.low) > math.log(own.high / own.low)


@given(batch=st.floats(1, 512), kv=st.floats(0, 1e9))
def test_a_larger_batch_takes_longer_and_yields_more(batch, kv):
    n, r = numbers(expert_bytes=4e9, num_experts=64.0, top_k=4.0, expert_params=1e8), rates()
    first, second = (core.decode_step_s(n, r, kv, b) for b in (batch, batch * 1.5))
    assert second >= first
    assert batch * 1.5 / second >= batch / first * 0.999
