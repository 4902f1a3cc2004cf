"""Every shipped file loads, is named by its id, and says where and when its facts are from."""

from __future__ import annotations

import re
from itertools import chain

import pytest
from genai_prices.data import providers

from planner.domain.prices import (
    ApiPrice,
    Assumption,
    CloudOffer,
    ProvisionedUnit,
    PublishedSpeed,
    RateLimit,
    Retirement,
)
from planner.domain.quant import QUANTS

ROWS = [
    ("prices", "prices", ApiPrice, 27),
    ("prices", "rate_limits", RateLimit, 133),
    ("prices", "provisioned", ProvisionedUnit, 124),
    ("prices", "retirements", Retirement, 54),
    ("prices", "speeds", PublishedSpeed, 43),
    ("clouds", "offers", CloudOffer, 162),
    ("assumptions", "assumptions", Assumption, 19),
]
SCHEMA_OF = {
    "hardware": "hardware", "machines": "machine", "models": "model", "engines": "engine", "prices": "prices",
    "clouds": "clouds", "power": "tariff", "assumptions": "assumptions", "workloads": "workload",
}  # fmt: skip


@pytest.mark.parametrize(
    ("folder", "count"), [("hardware", 118), ("machines", 77), ("models", 144), ("engines", 8), ("power", 38)]
)
def test_one_thing_a_file(shipped, folder, count):
    things = shipped.things[folder]
    assert len(things) == count
    for stem, thing in things.items():
        assert thing.id == stem
        assert thing.source.strip() and thing.as_of.strip(), stem


@pytest.mark.parametrize(("folder", "key", "model", "count"), ROWS)
def test_rows(shipped, folder, key, model, count):
    rows = shipped.rows(folder, key)
    assert len(rows) == count
    for row in rows:
        made = model.model_validate(row)
        assert made.source.strip() and made.as_of.strip()


def test_rows_of_devices_have_sources(shipped):
    for device in shipped.things["hardware"].values():
        for row in chain(device.prices, device.power, device.residual):
            assert row.source and row.as_of, device.id


@pytest.mark.parametrize("folder", sorted(SCHEMA_OF))
def test_first_line_names_an_existing_schema(shipped, folder):
    for path in shipped.files(folder):
        line = path.read_text(encoding="utf-8").splitlines()[0]
        assert line == f"#:schema ../schema/{SCHEMA_OF[folder]}.schema.json", path.name
        assert (path.parent / line.removeprefix("#:schema ")).is_file()


def test_keys_are_unique(shipped):
    offers = [CloudOffer.model_validate(row).key for row in shipped.rows("clouds", "offers")]
    prices = [ApiPrice.model_validate(row).key for row in shipped.rows("prices", "prices")]
    ids = [row["id"] for row in shipped.rows("assumptions", "assumptions")]
    for keys in (offers, prices, ids):
        assert len(keys) == len(set(keys))


def test_references(shipped):
    devices, models, engines = (shipped.things[kind] for kind in ("hardware", "models", "engines"))
    for machine in shipped.things["machines"].values():
        assert machine.hardware is None or machine.hardware in devices
    for engine in engines.values():
        assert engine.borrows_from is None or engine.borrows_from in engines
        assert set(engine.quants) <= set(QUANTS)
        assert {QUANTS[name].family for name in engine.quants} <= set(engine.quant_families)
    for model in models.values():
        assert model.native_quant in QUANTS


def test_layers_add_up(shipped):
    """Full, sliding and linear layers are all layers, but for blocks that hold no attention state."""
    without_state = {
        "nemotron-3-nano-30b-a3b", "nemotron-cascade-2", "nemotron-3-omni-33b", "nemotron-super-49b",
        "nemotron-ultra-253b",
    }  # fmt: skip
    for model in shipped.things["models"].values():
        layers = model.full_layers + model.sliding_layers + model.linear_layers
        assert (layers < model.layers) if model.id in without_state else (layers == model.layers), model.id
        assert bool(model.sliding_layers) == bool(model.sliding_window), model.id
        assert sum(count for count, _ in model.kv_compress_ratios) <= model.layers
        if model.moe_layers is not None:
            assert model.dense_layers + model.moe_layers == model.layers, model.id


def test_served_names_exist(shipped):
    """A model is sold under names that the bundled price list or the overlay really has."""
    known = {(p.id, m.id) for p in providers for m in p.models}
    known |= {(row["provider"], row["model"]) for row in shipped.rows("prices", "prices")}
    served = {(s.provider, s.model) for model in shipped.things["models"].values() for s in model.served_as}
    assert len(served) > 300
    assert served <= known
    assert not [model for _, model in served if ":free" in model]


@pytest.mark.parametrize(
    ("model", "api", "managed"),
    [
        ("gemma-3-27b", {"fireworks", "openrouter"}, {"aws"}),
        ("gpt-oss-120b", {"groq", "together", "fireworks", "deepinfra"}, {"aws", "google", "azure"}),
    ],
)
def test_examples_are_sold_both_ways(shipped, model, api, managed):
    sellers = {served.provider for served in shipped.things["models"][model].served_as}
    assert api | managed <= sellers


def test_overlay_only_fills_holes(shipped):
    known = {(p.id, m.id) for p in providers for m in p.models}
    assert not [row for row in shipped.rows("prices", "prices") if (row["provider"], row["model"]) in known]


def test_workloads(shipped):
    workloads = shipped.things["workloads"]
    assert set(workloads) == {
        "team-80-20", "night-batch", "voice-agent", "rag-long-documents", "coding-agents", "ten-calls-a-day",
    }  # fmt: skip
    known = {f"{p.id}/{m.id}" for p in providers for m in p.models}
    for stem, workload in workloads.items():
        assert workload.name == stem
        assert workload.question.endswith("?") and workload.source and workload.as_of
        assert workload.money.country in shipped.things["power"]
        for part in workload.mix:
            assert part.model in shipped.things["models"]
            assert part.stand_ins and set(part.stand_ins) <= known, set(part.stand_ins) - known
    team = workloads["team-80-20"]
    assert [(part.share, part.model) for part in team.mix] == [(0.8, "gemma-3-27b"), (0.2, "gpt-oss-120b")]


def test_ranges_are_ordered(shipped):
    for row in shipped.rows("assumptions", "assumptions"):
        assert row["low"] <= row["value"] <= row["high"], row["id"]


def test_nothing_may_not_be_shipped(shipped):
    """Household tariffs without official source, and the speeds of a site that grants no redistribution."""
    assert all(t.household_usd_per_kwh is None for t in shipped.things["power"].values())
    for path in shipped.root.rglob("*.toml"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"artificial ?analysis", text, re.IGNORECASE), path.name
        assert "globalpetrolprices.com" not in text, path.name


def test_grid_carbon_is_attributed(shipped):
    for tariff in shipped.things["power"].values():
        assert tariff.grid_gco2e_per_kwh and "CC BY 4.0" in tariff.grid_source
    assert "CC BY 4.0" in (shipped.root / "README.md").read_text(encoding="utf-8")


def test_no_file_is_large(shipped):
    assert all(path.stat().st_size < 1_000_000 for path in shipped.root.rglob("*") if path.is_file())
