"""A library with one device and one API price, in round numbers, around a shipped model and engine."""

import dataclasses
import datetime

from planner.domain.hardware import DevicePrice, Hardware, PowerReading
from planner.domain.model import ServedAs
from planner.domain.prices import ApiPrice, Tariff
from planner.domain.workload import Workload
from planner.workspace import Workspace

TODAY = datetime.date(2026, 12, 1)
LABEL = {"source": "test", "as_of": "2026-12-01"}


def device(**changes):
    fields = {
        "id": "toy", "name": "Toy machine", "vendor": "nvidia", "kind": "unified", "memory_gb": 64,
        "memory_bandwidth_gb_s": 1000, "fp16_dense_tflops": 150, "unified_memory": True, "tdp_w": 100,
        "prices": (DevicePrice(usd=3600, condition="list", **LABEL),),
        "power": (PowerReading(idle_w=100, load_w=100, scope="board", phase="serving", **LABEL),), **LABEL,
    }  # fmt: skip
    return Hardware(**{**fields, **changes})


def price(**changes):
    fields = {
        "provider": "acme", "channel": "api", "model": "llama", "input_usd_per_mtok": 1.0,
        "output_usd_per_mtok": 2.0, **LABEL,
    }  # fmt: skip
    return ApiPrice(**{**fields, **changes})


def library(tmp_path, *, hardware=(), prices=None, clouds=()):
    shipped = Workspace(tmp_path).library()
    devices = hardware or (device(),)
    model = shipped.models["llama-3.1-8b"].model_copy(update={"served_as": (ServedAs(provider="acme", model="llama"),)})
    return dataclasses.replace(
        shipped, hardware={found.id: found for found in devices}, machines={}, models={model.id: model},
        prices=(price(),) if prices is None else prices, clouds=clouds, probes=(), published_speeds=(),
        tariffs={"us": Tariff(id="us", country="Toyland", business_usd_per_kwh=0.10, **LABEL)},
    )  # fmt: skip


def workload(**changes):
    """200 users × 10 h × 20 days × 5 requests = 200,000 tasks of 800 + 200 tokens: 200 M tokens a month."""
    fields = {
        "name": "toy", "use_case": "chat",
        "demand": {"users": 200, "hours_per_day": 10, "days_per_month": 20, "requests_per_user_hour": 5,
                   "peak_factor": 1},
        "request": {"input_tokens": 800, "output_tokens": 200},
        "mix": [{"name": "all", "share": 1, "model": "llama-3.1-8b"}],
        "money": {"horizon_months": 36, "discount_rate_per_year": 0, "residual_fraction": 0, "pue": 1,
                  "install_usd": 0, "maintenance_fraction_per_year": 0, "people_hours_per_month": 0,
                  "people_usd_per_hour": 0},
    }  # fmt: skip
    for key, value in changes.items():
        fields[key] = {**fields.get(key, {}), **value} if isinstance(value, dict) else value
    return Workload.model_validate(fields)
