"""The documented views of `planner sql`: name, what it shows, its query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def _columns(fields: Mapping[str, str]) -> str:
    """Return select items that read typed fields out of the JSON body."""
    parts = []
    for name, kind in fields.items():
        text = f"body->>'$.{name}'"
        parts.append(f"{text} AS {name}" if kind == "text" else f"TRY_CAST({text} AS {kind}) AS {name}")
    return ", ".join(parts)


def _fields(text: Iterable[str] = (), numbers: Iterable[str] = (), flags: Iterable[str] = ()) -> dict[str, str]:
    kinds = ((text, "text"), (numbers, "DOUBLE"), (flags, "BOOLEAN"))
    return {name: kind for names, kind in kinds for name in names}


_END = _fields(["notes", "source", "as_of"])
_RATES = ["input_usd_per_mtok", "cached_input_usd_per_mtok", "cache_write_usd_per_mtok", "cache_write_1h_usd_per_mtok",
          "output_usd_per_mtok"]  # fmt: skip


def _profile_view(kind: str, fields: Mapping[str, str], before: str = "id, ") -> str:
    return f"SELECT {before}{_columns({**fields, **_END})}, origin FROM profile WHERE kind = '{kind}' ORDER BY position"


_HARDWARE = {
    **_fields(["name", "vendor", "kind"]),
    **_fields([], ["memory_gb", "memory_bandwidth_gb_s", "fp16_dense_tflops", "fp8_dense_tflops", "int8_dense_tops",
                   "fp4_dense_tflops", "interconnect_gb_s", "tdp_w"], ["unified_memory"]),
    "release_date": "text",
}  # fmt: skip
_MODELS = _fields(
    ["hf_repo", "attention_type", "native_quant", "licence"],
    ["params_total_b", "params_active_b", "layers", "hidden_size", "kv_heads", "head_dim", "full_layers",
     "sliding_layers", "sliding_window", "linear_layers", "kv_lora_rank", "num_experts", "experts_per_token",
     "max_context"],
)  # fmt: skip
_MACHINES = _fields(["name", "hardware"], ["count", "complete_price_usd", "host_price_usd", "idle_w", "load_w", "ram_gb"])
_ENGINES = _fields(
    ["name", "borrows_from"], ["memory_fraction", "memory_overhead_gib", "max_batch"],
    ["cpu", "cpu_offload", "continuous_batching", "prefix_cache", "speculative", "tensor_parallel"],
)  # fmt: skip
_PRICES = {
    **_fields(["provider", "channel", "model", "name", "region"], _RATES),
    **_fields(["retirement_date"], ["batch_window_hours", "max_context"]),
}
_CLOUDS = _fields(
    ["provider", "instance", "gpu", "hardware", "price_type", "term", "region"],
    ["count", "vcpus", "ram_gb", "usd_per_hour", "usd_per_gpu_hour"], ["weak"],
)  # fmt: skip
_TARIFFS = _fields(
    ["country", "business_definition", "business_period", "household_period", "household_source", "grid_source"],
    ["business_usd_per_kwh", "household_usd_per_kwh", "grid_gco2e_per_kwh"],
)
_ASSUMPTIONS = _fields(["title", "unit"], ["low", "value", "high"])
_RATE_LIMITS = _fields(["provider", "model", "tier"], ["rpm", "tpm_input", "tpm_output", "tpm_combined"])
_RETIREMENTS = _fields(["provider", "channel", "model", "retirement_date", "status", "replacement"])
_PROVISIONED = _fields(
    ["vendor", "model", "unit", "term"],
    ["tokens_per_minute_per_unit_input", "tokens_per_minute_per_unit_output", "minimum_units", "usd_per_unit_hour"],
)
_SPEEDS = _fields(["provider", "model", "metric"], ["output_tok_per_s", "ttft_s", "prompt_tokens"])
_DEVICE_PRICES = {"usd": "DOUBLE", "condition": "text", "usd_low": "DOUBLE", "usd_high": "DOUBLE", "market": "text",
                  "weak": "BOOLEAN", "notes": "text", "source": "text", "as_of": "text"}  # fmt: skip
_BATCH = ", ".join(f"TRY_CAST(body->>'$.batch.{name}' AS DOUBLE) AS batch_{name}" for name in _RATES)
_MEASUREMENTS = _fields(
    ["hardware", "model", "quant", "dtype_quant", "engine", "backend", "build", "engine_version", "test", "confidence"],
    ["n_gpus", "context_depth", "batch", "tok_per_s", "input_len", "output_len", "concurrency",
     "output_tok_per_s_total", "per_user_tok_per_s", "ttft_ms", "tpot_ms"],
)  # fmt: skip

VIEWS: tuple[tuple[str, str, str], ...] = (
    ("v_hardware", "Devices: memory, bandwidth, dense tensor rates, watts.", _profile_view("hardware", _HARDWARE)),
    (
        "v_hardware_prices",
        "What devices sell for, one row per price, with date and market.",
        f"SELECT id, {_columns(_DEVICE_PRICES)} FROM (SELECT id, position, "
        "UNNEST(CAST(body->'$.prices' AS JSON[])) AS body FROM profile WHERE kind = 'hardware') ORDER BY position",
    ),
    ("v_machines", "Complete machines and hosts: price and watts.", _profile_view("machines", _MACHINES)),
    ("v_models", "Open-weight models: shapes, attention, experts.", _profile_view("models", _MODELS)),
    ("v_engines", "Inference engines and what they can do.", _profile_view("engines", _ENGINES)),
    (
        "v_api_prices",
        "US dollars per million tokens by provider and model; tiers and dated rates stay in `conditions` (JSON).",
        f"SELECT id, {_columns(_PRICES)}, {_BATCH}, body->'$.tiers' AS tiers, body->'$.conditional' AS conditions, "
        f"{_columns(_END)}, origin FROM profile WHERE kind = 'prices' ORDER BY position",
    ),
    ("v_cloud_offers", "Instances rented by the hour.", _profile_view("clouds", _CLOUDS)),
    ("v_tariffs", "Electricity price and grid carbon by country.", _profile_view("power", _TARIFFS)),
    ("v_assumptions", "Shipped default ranges, basis `assumed`.", _profile_view("assumptions", _ASSUMPTIONS)),
    ("v_rate_limits", "Requests and tokens a minute by tier.", _profile_view("rate_limits", _RATE_LIMITS)),
    ("v_retirements", "Announced ends of hosted models.", _profile_view("retirements", _RETIREMENTS)),
    ("v_provisioned", "Units of provisioned throughput.", _profile_view("provisioned", _PROVISIONED)),
    ("v_published_speeds", "Hosted models' speeds as published.", _profile_view("speeds", _SPEEDS)),
    (
        "v_probes",
        "Probe runs of this machine and of endpoints, newest first.",
        "SELECT id, kind, status, ended_by, started_at, finished_at, hardware, model, quant, engine, engine_build, "
        "tool_version FROM probe ORDER BY started_at DESC, id DESC",
    ),
    (
        "v_probe_figures",
        "Every figure of every probe with its interval and axes.",
        "SELECT f.* EXCLUDE (body), p.started_at FROM probe_figure f JOIN probe p ON p.id = f.probe_id "
        "ORDER BY p.started_at DESC, f.position",
    ),
    (
        "v_probe_samples",
        "Every raw sample of every probe, as JSON.",
        "SELECT probe_id, position, body FROM probe_sample ORDER BY probe_id, position",
    ),
    (
        "v_measurements",
        "Published measurements shipped with the planner; all columns of a row are in `body`.",
        f"SELECT file, line, {_columns(_MEASUREMENTS)}, body->>'$.source_url' AS source_url, body->>'$.date' AS date, "
        "body FROM measurement ORDER BY file, line",
    ),
    (
        "v_overrides",
        "Profiles that the user changed or added, and the changed keys.",
        "SELECT kind, id, overridden, path FROM profile WHERE origin = 'user' ORDER BY kind, id",
    ),
    (
        "docs",
        "The views and what they show.",
        "SELECT view_name AS name, comment AS what FROM duckdb_views() WHERE NOT internal AND comment IS NOT NULL "
        "ORDER BY view_name",
    ),
)
"""(name, comment, query)"""
