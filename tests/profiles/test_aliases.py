"""Every device, model, engine and quantisation text of the shipped tables resolves, or is listed with the reason."""

from __future__ import annotations

import pytest

from planner.domain.errors import InputError
from planner.domain.quant import KV_BYTES, QUANTS, fold, parse_kv_quant, parse_quant

A_CLASS = "a memory size, not a device"
NO_MODEL = "the table names no device"
UNRESOLVED_HARDWARE = {
    "24GB-class GPU": A_CLASS,
    "NVIDIA 24GB-class": A_CLASS,
    "80GB-class": A_CLASS,
    "8x 80GB GPU (unstated)": A_CLASS,
    "Apple/any": "any device: the row is about the KV cache",
    "CPU only": NO_MODEL,
    "CUDA GPU(s), model in thread": NO_MODEL,
    "unnamed CUDA GPU (PR author box)": NO_MODEL,
    "GPU $3/h": "a price, not a device",
    "NVIDIA CMP 170HX 64GB (unlocked)": "a mining card modified beyond its specification: bandwidth not known",
    "NVIDIA GeForce RTX 4090; NVIDIA GeForce RTX 5090; NVIDIA RTX A6000": "three different cards in one run",
}
UNRESOLVED_MODELS = {
    "EXAONE 4.0 32B": "its shape is in no source at hand",
    "LLaMA v2": "the label of a file format: the model is not named",
}
UNRESOLVED_QUANTS = {
    "not stated": "not stated",
    "BF16/FP8 per recipe": "two precisions in one text",
    "MTPLX Optimized": "an engine's own mix, bits not published",
}
UNRESOLVED_KV = {"K q5_0 / V q4_1": "different types for K and V"}


def test_hardware(shipped):
    table = shipped.names("hardware")
    missing = {text for text in shipped.measured("hardware") if fold(text) not in table}
    assert missing == set(UNRESOLVED_HARDWARE)


def test_models(shipped):
    table = shipped.names("models")
    missing = {text for text in shipped.measured("model") if fold(text) not in table}
    assert missing == set(UNRESOLVED_MODELS)


def test_engines(shipped):
    table = shipped.names("engines")
    assert {text for text in shipped.measured("engine") if fold(text) not in table} == set()


def test_quantisations(shipped):
    texts = shipped.measured("quant") | shipped.measured("dtype_quant")
    named = {text for text in texts if not text.endswith("GiB file")}
    assert len(texts - named) > 10, "the memory tables name files by size only"
    missing = set()
    for text in named:
        try:
            assert parse_quant(text).name in QUANTS
        except InputError:
            missing.add(text)
    assert missing == set(UNRESOLVED_QUANTS)


def test_kv_types(shipped):
    missing = set()
    for text in shipped.measured("kv_cache_type"):
        try:
            assert parse_kv_quant(text) in KV_BYTES
        except InputError:
            missing.add(text)
    assert missing == set(UNRESOLVED_KV)


def test_gpus_of_clouds(shipped):
    table = shipped.names("hardware")
    for offer in shipped.rows("clouds", "offers"):
        assert fold(offer["gpu"]) in table, offer["gpu"]
        assert offer["hardware"] in shipped.things["hardware"]


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("H100 80GB", "h100-sxm"),
        ("A100 80GB", "a100-80gb-sxm"),
        ("nvidia rtx 4090 24gb", "rtx-4090"),
        ("NVIDIA RTX 4090 24GB + AMD EPYC 9355 32-core 12x DDR5-6400 (experts on CPU)", "rtx-4090"),
        ("RTX PRO 6000 SE 96GB", "rtx-pro-6000-blackwell-server"),
        ("AMD Ryzen 9 7950X (CPU only, DDR5)", "cpu-7950x"),
    ],
)
def test_ambiguous_and_compound_devices(shipped, text, id_):
    assert shipped.names("hardware")[fold(text)] == id_


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("Llama 3 8B", "llama-3-8b"),
        ("google/gemma-3-27b-it", "gemma-3-27b"),
        ("DeepSeek-R1-Distill-Qwen-14B", "qwen2.5-14b"),
        ("gpt-oss:20b", "gpt-oss-20b"),
    ],
)
def test_model_names(shipped, text, id_):
    assert shipped.names("models")[fold(text)] == id_
