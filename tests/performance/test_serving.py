from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from planner.domain.figures import Basis
from planner.performance import load
from planner.performance.prepared import prepare
from planner.performance.serving import Traffic, batch, serve, serve_fast
from planner.performance.setup import Setup

sys.path.insert(0, str(Path(__file__).parent))
from simulation import simulate


def setup(library, hardware, model, engine, quant, **more):
    return Setup(
        library.find_hardware(hardware), library.find_model(model), library.find_engine(engine), quant, **more
    )


CHAT = Traffic(calls_per_second=2.0, prompt_tokens=1500, cached_prefix_tokens=500, output_tokens=300)
TARGETS = {"target_decode_tok_s": 20.0, "target_ttft_s": 3.0}


@pytest.mark.parametrize(
    ("hardware", "model", "engine", "quant", "prompt", "output", "sequences"),
    [
        ("h100-sxm", "llama-3.1-8b", "vllm", "bf16", 1000, 300, 4),
        ("h100-sxm", "llama-3.1-8b", "vllm", "bf16", 1000, 300, 16),
        ("h100-sxm", "gpt-oss-120b", "vllm", "mxfp4", 2000, 300, 4),
        ("h100-sxm", "gpt-oss-120b", "vllm", "mxfp4", 8000, 300, 4),
    ],
)
def test_the_approximation_agrees_with_a_simulation(
    library, hardware, model, engine, quant, prompt, output, sequences
):
    prepared = prepare(setup(library, hardware, model, engine, quant))
    work = load.work(prepared, prompt_tokens=prompt, cached_tokens=0, output_tokens=output, context_tokens=0)
    state = work.at(sequences, 64)
    ttft, tpot = simulate(work, state.rate, 64, 1500)
    print(f"{model} batch {sequences}: p95 TTFT {state.ttft_p95_s:.3f} s, simulated {ttft:.3f}")
    print(f"{model} batch {sequences}: TPOT {state.tpot_s * 1e3:.2f} ms, simulated {tpot * 1e3:.2f}")
    assert state.ttft_p95_s == pytest.approx(ttft, rel=0.30)
    assert state.tpot_s == pytest.approx(tpot, rel=0.15)


def test_littles_law_holds(library):
    prepared = prepare(setup(library, "h100-sxm", "llama-3.1-8b", "vllm", "bf16"))
    work = load.work(prepared, prompt_tokens=1000, cached_tokens=0, output_tokens=300, context_tokens=0)
    state = work.at(12.0, 256)
    # Sequences decoding = arrivals per second × seconds of decoding.
    assert state.rate * state.tpot_s * 300 == pytest.approx(12.0)
    assert work.batch_at(state.rate, 100.0, 256) == pytest.approx(12.0, rel=0.02)


def test_machines_are_whole_and_load_is_not(library):
    s = setup(library, "h100-sxm", "gemma-3-27b", "vllm", "fp8")
    small, large = (serve(s, Traffic(rate, 1500, 500, 300), **TARGETS) for rate in (0.1, 40.0))
    assert small.feasible and large.feasible
    assert large.load == pytest.approx(400 * small.load)
    assert small.machines == math.ceil(small.load) == 1
    assert large.machines == math.ceil(large.load)
    assert large.utilisation.number == pytest.approx(large.load / large.machines)


def test_targets_hold_at_the_planned_load(library):
    found = serve(setup(library, "h100-sxm", "gemma-3-27b", "vllm", "fp8"), CHAT, **TARGETS)
    assert found.feasible
    assert found.decode.number >= 20.0
    assert found.ttft_p95.number <= 3.0


def test_a_faster_target_needs_more_machines(library):
    s = setup(library, "h100-sxm", "gemma-3-27b", "vllm", "fp8")
    slow = serve_fast(s, CHAT, target_decode_tok_s=10.0, target_ttft_s=3.0)
    fast = serve_fast(s, CHAT, target_decode_tok_s=40.0, target_ttft_s=3.0)
    assert fast.load > slow.load


def test_a_target_nobody_meets_says_what_is_reached(library):
    found = serve(
        setup(library, "m4-pro", "gemma-3-27b", "mlx", "mlx-4bit"), CHAT, target_decode_tok_s=100.0, target_ttft_s=3.0
    )
    assert not found.feasible
    assert "100" in found.reason and "tok/s" in found.reason
    assert found.decode.number < 100


def test_no_room_is_a_reason_not_a_number(library):
    s = setup(library, "rtx-3090", "gpt-oss-120b", "vllm", "mxfp4")
    found = serve(s, CHAT, **TARGETS)
    assert not found.feasible
    assert "does not fit" in found.reason
    assert found.utilisation.value is None
    night = batch(s, input_tokens=1000, output_tokens=100)
    assert night.documents_per_hour.value is None
    assert night.documents_per_hour.reason


def test_the_screening_numbers_are_the_labelled_ones(library):
    s = setup(library, "h100-sxm", "gemma-3-27b", "vllm", "fp8")
    quick, full = serve_fast(s, CHAT, **TARGETS), serve(s, CHAT, **TARGETS)
    assert quick.load == full.load
    assert quick.decode_tok_s == full.decode.value
    assert quick.ttft_p95_s == full.ttft_p95.value
    assert full.decode.basis == Basis.ESTIMATED


def test_a_night_batch_counts_documents_and_tokens(library):
    found = batch(setup(library, "h100-sxm", "gemma-3-27b", "vllm", "fp8"), input_tokens=3000, output_tokens=300)
    assert found.tokens_per_hour.number == pytest.approx(found.documents_per_hour.number * 3300)
    assert found.aggregate.number == pytest.approx(found.documents_per_hour.number * 300 / 3600)
    assert found.concurrency > 1
