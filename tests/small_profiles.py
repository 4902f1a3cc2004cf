"""A small shipped folder with one of everything, so that these tests don't depend on real profiles."""

from __future__ import annotations

from pathlib import Path

import pytest

HARDWARE = """
id = "gpu-a"
name = "GPU A 24GB"
vendor = "nvidia"
kind = "consumer"
aliases = ["A24"]
memory_gb = 24
memory_bandwidth_gb_s = 900
tdp_w = 350
source = "test"
as_of = 2026-11-30

[[prices]]
usd = 1500
condition = "new"
source = "test"
as_of = "2026-11-30"
"""
MODEL = """
id = "m-7b"
hf_repo = "Maker/M-7B-Instruct"
params_total_b = 7
layers = 32
hidden_size = 4096
kv_heads = 8
head_dim = 128
full_layers = 32
source = "test"
as_of = "2026-11-30"
"""
ENGINE = """
id = "eng"
name = "Engine"
quant_families = ["float"]
vendors = ["nvidia"]
continuous_batching = true
prefix_cache = true
speculative = false
tensor_parallel = false
memory_fraction = 0.9
memory_overhead_gib = 1
max_batch = 256
source = "test"
as_of = "2026-11-30"
"""
FIT = """
[[efficiencies]]
hardware_class = "*"
quant_family = "*"
phase = "decode"
parameters = { eb = 0.6 }
log_sd = 0.2
rows = 12
source = "test"
as_of = "2026-11-30"
"""
PRICES = """
[[prices]]
provider = "deepinfra"
channel = "api"
model = "Maker/M-7B-Instruct"
input_usd_per_mtok = 0.05
output_usd_per_mtok = 0.1
source = "test"
as_of = "2026-11-01"

[[prices]]
provider = "anthropic"
channel = "api"
model = "claude-sonnet-5"
input_usd_per_mtok = 99
output_usd_per_mtok = 99
batch_window_hours = 24
retirement_date = "2027-06-01"
source = "test"
as_of = "2026-11-01"
"""
CLOUDS = """
[[offers]]
provider = "rent"
instance = "a.1"
gpu = "GPU A"
hardware = "gpu-a"
count = 1
usd_per_hour = 0.5
price_type = "on-demand"
term = "on-demand"
source = "test"
as_of = "2026-11-01"
"""
POWER = """
id = "us"
country = "United States"
business_usd_per_kwh = 0.09
source = "test"
as_of = "2026-11-01"
"""
ASSUMPTIONS = """
[[assumptions]]
id = "host_price_usd"
low = 1000
value = 2000
high = 4000
unit = "USD"
title = "Host machine"
source = "assumed"
as_of = "2026-11-01"
"""
WORKLOAD = """
# A team and its model.
schema = "planner.workload/1"
name = "tiny"

[demand]
users = 5 # people
requests_per_user_hour = 2

[[mix]]
name = "all"
share = 1.0
model = "m-7b"
"""
FILES = {
    "hardware/gpu-a.toml": HARDWARE, "models/m-7b.toml": MODEL, "engines/eng.toml": ENGINE, "engines/eng.fit.toml": FIT,
    "prices/some.toml": PRICES, "clouds/rent.toml": CLOUDS, "power/us.toml": POWER,
    "assumptions/defaults.toml": ASSUMPTIONS, "workloads/tiny.toml": WORKLOAD,
    "measurements/rows.csv": "hardware,model,tok_per_s,odd\nGPU A,M,41.5,x\n",
}  # fmt: skip


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    return write(tmp_path / "shipped", FILES)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"
