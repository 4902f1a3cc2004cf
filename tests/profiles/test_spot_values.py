"""Values checked by hand against their sources."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("device", "field", "value"),
    [
        # NVIDIA Ada whitepaper v2.1, dense FP16 with FP32 accumulation; 384 bit x 21 Gbit/s / 8 = 1008 GB/s
        ("rtx-4090", "fp16_dense_tflops", 165.2),
        ("rtx-4090", "memory_bandwidth_gb_s", 1008),
        # NVIDIA H100 data sheet: 3.35 TB/s, 1,979 TFLOPS FP16 with sparsity, half of it dense
        ("h100-sxm", "memory_bandwidth_gb_s", 3350),
        ("h100-sxm", "fp16_dense_tflops", 989),
        # AMD MI300X: 192 GB, 5.3 TB/s
        ("mi300x", "memory_bandwidth_gb_s", 5300),
        # Apple Mac Studio specifications: M3 Ultra 819 GB/s
        ("m3-ultra", "memory_bandwidth_gb_s", 819),
        # 12 channels x 8 byte x 4800 MT/s = 460.8 GB/s
        ("epyc-9654", "memory_bandwidth_gb_s", 460.8),
        # 2 channels x 8 byte x 5600 MT/s = 89.6 GB/s
        ("cpu-hx-370", "memory_bandwidth_gb_s", 89.6),
        ("dgx-spark", "unified_memory", True),
        ("h100-sxm", "unified_memory", False),
    ],
)
def test_devices(shipped, device, field, value):
    assert getattr(shipped.things["hardware"][device], field) == value


@pytest.mark.parametrize(
    ("model", "values"),
    [
        # config.json of Llama 3.1 8B: 32 layers, 8 KV heads of 128
        ("llama-3.1-8b", {"layers": 32, "kv_heads": 8, "head_dim": 128, "full_layers": 32, "sliding_layers": 0}),
        # Gemma 3 report: 5 local layers of 1024 tokens for one global; 62 layers
        ("gemma-3-27b", {"full_layers": 10, "sliding_layers": 52, "sliding_window": 1024, "tied_embeddings": True}),
        # gpt-oss model card: 128 experts, 4 active, MXFP4, alternating 128-token windows
        ("gpt-oss-120b", {"full_layers": 18, "sliding_layers": 18, "sliding_window": 128, "native_quant": "mxfp4"}),
        # DeepSeek-V3 report: 61 layers, first 3 dense, latent 512 + 64
        ("deepseek-v3", {"dense_layers": 3, "moe_layers": 58, "kv_lora_rank": 512, "qk_rope_head_dim": 64}),
        # Qwen3.5: three linear layers, then a full one
        ("qwen3.5-35b-a3b", {"full_layers": 10, "linear_layers": 30, "num_experts": 256, "experts_per_token": 8}),
        # Llama 4 config: interleave_moe_layer_step = 2
        ("llama-4-maverick", {"dense_layers": 24, "moe_layers": 24, "sliding_window": 8192}),
        # 576 values per token and layer = 512 + 64; 320 = 256 + 64
        ("glm-4.7-flash", {"kv_lora_rank": 512, "qk_rope_head_dim": 64}),
        ("mistral-small-4", {"kv_lora_rank": 256, "qk_rope_head_dim": 64}),
        # Gemma 4 config: global layers with 4 KV heads of 512, K = V
        ("gemma-4-31b", {"full_kv_heads": 4, "full_head_dim": 512, "full_k_equals_v": True}),
        ("kimi-linear-48b", {"full_layers": 7, "linear_layers": 20}),
    ],
)
def test_models(shipped, model, values):
    thing = shipped.things["models"][model]
    assert {field: getattr(thing, field) for field in values} == values


def test_compressed_cache(shipped):
    """DeepSeek V4 Flash: 13,764 bytes a token measured with 4-byte entries (memory_cases_open.csv M146, M147).

    21 layers keep one entry per 4 tokens, 20 one per 128: 21/4 + 20/128 = 5.406 entries of 512 values, and the
    ratio-4 layers an index of 128 values: (5.406 * 512 + 5.25 * 128) * 4 = 13,760.
    """
    model = shipped.things["models"]["deepseek-v4-flash"]
    entries = sum(layers / ratio for layers, ratio in model.kv_compress_ratios)
    index = sum(layers / ratio for layers, ratio in model.kv_compress_ratios if ratio == 4)
    assert (entries * model.head_dim + index * 128) * 4 == pytest.approx(13_764, rel=1e-3)


def test_newest_street_price(shipped):
    """GPU Poet's report of October 2026: RTX 5090 new 5,258, resale 4,795, both of September."""
    rows = {(p.condition, p.as_of, p.usd) for p in shipped.things["hardware"]["rtx-5090"].prices}
    assert {("new", "2026-09", 5258), ("used", "2026-09", 4795), ("list", "2026-09-05", 1999)} <= rows


def test_sources_without_an_address_are_weak(shipped):
    for device in shipped.things["hardware"].values():
        for price in device.prices:
            assert price.weak or "no page address" not in price.source, device.id


def test_prices(shipped):
    rows = {(r["provider"], r["model"], r.get("region")): r for r in shipped.rows("prices", "prices")}
    vertex = rows["google", "gpt-oss-120b", None]
    # Google's price page: 0.09 in, 0.36 out, half of both in batch
    assert (vertex["input_usd_per_mtok"], vertex["output_usd_per_mtok"], vertex["channel"]) == (0.09, 0.36, "managed")
    assert vertex["batch"] == {"input_usd_per_mtok": 0.045, "output_usd_per_mtok": 0.18}
    europe = rows["azure", "gpt-6.1-sol", "eu data zone"]
    assert europe["tiers"][0]["above_input_tokens"] == 272000
    assert (europe["output_usd_per_mtok"], europe["tiers"][0]["output_usd_per_mtok"]) == (12, 18)
    assert europe["retirement_date"] == "2028-03-11"


def test_clouds(shipped):
    offers = {(r["provider"], r["instance"], r["price_type"], r["region"]): r for r in shipped.rows("clouds", "offers")}
    p5 = offers["aws", "p5.48xlarge", "on-demand", "us-east-1"]
    # AWS price list: 55.04 USD an hour for 8 H100, 6.88 each
    assert (p5["usd_per_hour"], p5["usd_per_gpu_hour"], p5["count"], p5["hardware"]) == (55.04, 6.88, 8, "h100-sxm")
    committed = [r for r in offers.values() if r["term"] == "committed"]
    assert committed and all(r["weak"] for r in committed)
    # the size of the card is wrong in the source, which its note says
    assert offers["azure", "NC40ads_H100_v5", "spot", "eastus"]["hardware"] == "h100-nvl"


def test_tariffs(shipped):
    power = shipped.things["power"]
    assert (power["us"].business_usd_per_kwh, power["us"].grid_gco2e_per_kwh) == (0.0813, 384.4)
    assert "20000-69999 MWh" in power["de"].business_definition
    assert power["cl"].business_usd_per_kwh is None, "not found, so absent"
