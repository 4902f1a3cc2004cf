from __future__ import annotations

import math

import pytest

from planner.domain.figures import Axes, Basis, Speed
from planner.domain.probe import ProbeEngine, ProbeModel, ProbeRecord
from planner.performance.estimate import estimate
from planner.performance.serving import Traffic, serve
from planner.performance.setup import Setup

FACTS = {
    "layers": 30, "hidden_size": 576, "intermediate_size": 1536, "attention_heads": 9, "kv_heads": 3, "head_dim": 64,
    "vocab_size": 49152, "params": 134_515_008, "tied_embeddings": True, "quant": "q8_0",
}  # fmt: skip


@pytest.fixture
def here(library):
    return library.find_hardware("cpu-7950x").model_copy(
        update={"id": "local", "name": "this machine", "memory_bandwidth_gb_s": None}
    )


def record(decode=((0, 200.0), (2048, 150.0)), prefill=((512, 1500.0),), status="complete"):
    axes = {"model": "smollm2-135m", "quant": "q8_0", "engine": "llama.cpp", "hardware": "local"}
    label = {"basis": Basis.MEASURED, "source": "probe p1", "as_of": "2026-11-30"}
    figures = [
        Speed(
            value=v, low=v * 0.98, high=v * 1.02, kind="decode_per_request",
            axes=Axes(context_tokens=d, **axes), **label,
        )
        for d, v in decode
    ]
    figures += [
        Speed(value=v, low=v * 0.98, high=v * 1.02, kind="prefill", axes=Axes(prompt_tokens=n, **axes), **label)
        for n, v in prefill
    ]
    return ProbeRecord(
        id="p1", kind="device", started_at="2026-11-30T10:00:00", finished_at="2026-11-30T10:01:00", status=status,
        ended_by="precision", tool_version="0.1.0", environment={}, hardware="local",
        model=ProbeModel(id="smollm2-135m", quant="q8_0", facts=FACTS), engine=ProbeEngine(name="llama-cpp-python"),
        figures=tuple(figures),
    )  # fmt: skip


def setup(library, here, model="smollm2-135m", quant="q8_0"):
    return Setup(here, library.find_model(model), library.find_engine("llama.cpp"), quant)


def test_the_probed_case_is_the_measured_value(library, here):
    found = estimate(setup(library, here), "decode", context_tokens=0, probes=[record()])
    assert found.number == pytest.approx(200.0)
    assert found.basis == Basis.MEASURED
    assert (found.low, found.high) == pytest.approx((196.0, 204.0), rel=1e-3)
    assert "p1" in found.source


def test_between_probed_depths_the_time_per_token_is_interpolated(library, here):
    # Half way between 1/200 s and 1/150 s.
    found = estimate(setup(library, here), "decode", context_tokens=1024, probes=[record()])
    assert found.number == pytest.approx(1 / ((1 / 200 + 1 / 150) / 2))
    assert found.basis == Basis.MEASURED


def test_beyond_the_probed_depths_the_model_is_scaled(library, here):
    found = estimate(setup(library, here), "decode", context_tokens=6000, probes=[record()])
    assert found.basis == Basis.CALIBRATED
    assert found.number < 150


def test_another_model_is_scaled_by_the_same_ratio(library, here):
    one = estimate(setup(library, here, "llama-3.1-8b", "q4_k_m"), "decode", probes=[record()])
    twice = estimate(
        setup(library, here, "llama-3.1-8b", "q4_k_m"), "decode", probes=[record(((0, 400.0), (2048, 300.0)))]
    )
    assert one.basis == Basis.CALIBRATED
    assert twice.number == pytest.approx(2 * one.number)


def test_a_calibrated_interval_is_narrower_but_not_below_the_probes_scatter(library):
    known = library.find_hardware("cpu-7950x").model_copy(update={"id": "local"})
    plain = estimate(setup(library, known, "llama-3.1-8b", "q4_k_m"), "decode")
    fixed = estimate(setup(library, known, "llama-3.1-8b", "q4_k_m"), "decode", probes=[record()])
    assert math.log(fixed.high / fixed.low) <= math.log(plain.high / plain.low)
    # Ratios 2:1 apart scatter by far more than the floor, and the interval must show it.
    twice = record(((0, 400.0), (2048, 100.0)))
    wild = estimate(setup(library, known, "llama-3.1-8b", "q4_k_m"), "decode", probes=[twice])
    assert math.log(wild.high / wild.low) > math.log(fixed.high / fixed.low)


def test_failed_records_and_other_devices_change_nothing(library):
    s = setup(library, library.find_hardware("cpu-7950x"), "llama-3.1-8b", "q4_k_m")
    plain = estimate(s, "decode")
    assert estimate(s, "decode", probes=[record()]) == plain
    local = setup(library, library.find_hardware("cpu-7950x").model_copy(update={"id": "local"}))
    assert estimate(local, "decode", probes=[record(status="failed")]).basis == Basis.ESTIMATED


def test_serving_on_a_probed_machine_starts_from_the_measurement(library, here):
    found = serve(
        setup(library, here), Traffic(0.001, 512, 0, 100), target_decode_tok_s=10, target_ttft_s=5, probes=[record()]
    )
    assert found.feasible
    assert found.decode.basis in (Basis.MEASURED, Basis.CALIBRATED)
    assert found.decode.number == pytest.approx(190, rel=0.1)
