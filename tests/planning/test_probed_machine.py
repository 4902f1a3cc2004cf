"""A probe record changes the plan of the machine it was made on, and only there."""

import dataclasses

import pytest

from planner.domain.figures import Axes, Basis, Speed
from planner.domain.probe import ProbeEngine, ProbeModel, ProbeRecord
from planner.planning import plan
from tests.planning import toy


def _speed(kind, value, context, prompt=None):
    axes = Axes(
        context_tokens=context, prompt_tokens=prompt, model="llama-3.1-8b", quant="q4_k_m", engine="llama.cpp",
        hardware="local",
    )  # fmt: skip
    return Speed(
        value=value, low=value * 0.98, high=value * 1.02, kind=kind, axes=axes, basis=Basis.MEASURED, source="probe",
        as_of="2026-12-01",
    )  # fmt: skip


RECORD = ProbeRecord(
    id="device-1", kind="device", started_at="2026-12-01T10:00:00Z", finished_at="2026-12-01T10:01:00Z",
    status="complete", ended_by="precision", tool_version="0", environment={}, hardware="local",
    model=ProbeModel(id="llama-3.1-8b", quant="q4_k_m",
                     facts={"layers": 32, "hidden_size": 4096, "kv_heads": 8, "attention_heads": 32,
                            "head_dim": 128, "params": 8_030_000_000}),
    engine=ProbeEngine(name="llama.cpp", build="0.3.36"),
    figures=(_speed("decode_per_request", 40.0, 0), _speed("decode_per_request", 38.0, 2048),
             _speed("prefill", 900.0, 0, 512), _speed("prefill", 880.0, 0, 1024)),
)  # fmt: skip


def answer(tmp_path, model="llama-3.1-8b", probes=(RECORD,)):
    here = toy.device(id="local", name="This machine")
    library = toy.library(tmp_path, hardware=(here,))
    shipped = toy.Workspace(tmp_path).library()
    library = dataclasses.replace(library, probes=probes, models={**library.models, model: shipped.models[model]})
    workload = toy.workload(
        demand={"users": 1, "requests_per_user_hour": 1},
        request={"input_tokens": 800, "output_tokens": 200},
        mix=[{"name": "all", "share": 1, "model": model, "quants": ["q4_k_m"]}],
        constraints={"engines": ["llama.cpp"]},
    )
    (option,) = [option for option in plan(workload, library, toy.TODAY).options if option.path == "owned"]
    return option.slots[0]


def test_the_probed_model_is_measured_between_the_probed_depths(tmp_path):
    slot = answer(tmp_path)
    decode = slot.decode_tok_s_per_request
    assert decode.basis is Basis.MEASURED
    assert "device-1" in decode.source
    # One rare request decodes alone, at 800 to 1,000 tokens of context: between 40 tok/s at 0 and 38 at 2,048.
    assert 38.0 < decode.value < 40.0
    assert slot.prefill_tok_s.basis is Basis.MEASURED


def test_another_model_on_the_machine_is_calibrated(tmp_path):
    slot = answer(tmp_path, model="qwen3-8b")
    decode = slot.decode_tok_s_per_request
    assert decode.basis is Basis.CALIBRATED
    assert "device-1" in decode.source


def test_without_a_probe_it_is_estimated_and_less_sure(tmp_path):
    bare, probed = answer(tmp_path, probes=()), answer(tmp_path)
    assert bare.decode_tok_s_per_request.basis is Basis.ESTIMATED

    def spread(slot):
        low, _, high = slot.decode_tok_s_per_request.range
        return high / low

    assert spread(probed) < spread(bare)


def test_a_record_of_another_device_changes_nothing(tmp_path):
    elsewhere = RECORD.model_copy(update={"hardware": "rtx-3090"})
    with_it, without = answer(tmp_path, probes=(elsewhere,)), answer(tmp_path, probes=())
    assert with_it.decode_tok_s_per_request.value == pytest.approx(without.decode_tok_s_per_request.value)
    assert with_it.decode_tok_s_per_request.basis is Basis.ESTIMATED


def test_speeds_taken_on_a_busy_machine_do_not_scale_other_models(tmp_path):
    rows = [
        {"kind": figure.kind, "context_tokens": figure.axes.context_tokens, "prompt_tokens": figure.axes.prompt_tokens,
         "busy_machine": True, "single": False}
        for figure in RECORD.figures
    ]  # fmt: skip
    busy = RECORD.model_copy(update={"settings": {"metrics": rows}})
    slot = answer(tmp_path, model="qwen3-8b", probes=(busy,))
    assert slot.decode_tok_s_per_request.basis is Basis.ESTIMATED
