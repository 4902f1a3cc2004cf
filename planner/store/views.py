"""The documented views of `planner sql`: name, what it shows, its query."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from planner.domain.prices import TokenRates
from planner.store.kinds import KINDS

_LAST = ("notes", "source", "as_of")


def _sql_type(annotation: Any) -> str:
    """Return the SQL type of a domain field; tables and lists stay JSON."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = {_sql_type(part) for part in get_args(annotation) if part is not type(None)}
        return kinds.pop() if len(kinds) == 1 else "JSON"
    if annotation is bool:
        return "BOOLEAN"
    if annotation in (int, float):
        return "DOUBLE"
    if annotation is str or (get_origin(annotation) is not tuple and not _is_model(annotation)):
        return "VARCHAR"
    return "JSON"


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _item(name: str, kind: str, body: str = "body", prefix: str = "") -> str:
    path = f"'$.{prefix}{name}'"
    alias = f"{prefix.replace('.', '_')}{name}"
    if kind == "JSON":
        return f"{body}->{path} AS {alias}"
    return f"{body}->>{path} AS {alias}" if kind == "VARCHAR" else f"TRY_CAST({body}->>{path} AS {kind}) AS {alias}"


def _items(model: type[BaseModel], leave_out: Iterable[str] = ()) -> str:
    """Return select items for all fields of a domain model, source and date last."""
    skipped = {*leave_out, "id", "origin"}
    names = [name for name in model.model_fields if name not in skipped and name not in _LAST]
    names += [name for name in _LAST if name in model.model_fields]
    return ", ".join(_item(name, _sql_type(model.model_fields[name].annotation)) for name in names)


def _of_kind(name: str, extra: str = "", leave_out: Iterable[str] = ()) -> str:
    items = _items(KINDS[name].model, leave_out)
    return f"SELECT id, {items}{extra}, origin FROM profile WHERE kind = '{name}' ORDER BY position"


def _batch_rates() -> str:
    rates = (_item(name, "DOUBLE", prefix="batch.") for name in TokenRates.model_fields)
    return ", " + ", ".join(rates)


def _device_prices() -> str:
    model = KINDS["hardware"].model.model_fields["prices"].annotation
    rows = "SELECT id, position, UNNEST(CAST(body->'$.prices' AS JSON[])) AS body FROM profile WHERE kind = 'hardware'"
    return f"SELECT id, {_items(get_args(model)[0])} FROM ({rows}) ORDER BY position"


_MEASURED_TEXT = (
    "hardware", "model", "quant", "dtype_quant", "engine", "backend", "build", "engine_version", "test",
    "confidence", "source_url", "date",
)  # fmt: skip
_MEASURED_NUMBERS = (
    "n_gpus", "context_depth", "batch", "tok_per_s", "input_len", "output_len", "concurrency",
    "output_tok_per_s_total", "per_user_tok_per_s", "ttft_ms", "tpot_ms",
)  # fmt: skip
_MEASURED = ", ".join(
    [_item(name, "VARCHAR") for name in _MEASURED_TEXT] + [_item(name, "DOUBLE") for name in _MEASURED_NUMBERS]
)

VIEWS: tuple[tuple[str, str, str], ...] = (
    ("v_hardware", "Devices: memory, bandwidth, dense tensor rates, watts, prices.", _of_kind("hardware")),
    ("v_hardware_prices", "What devices sell for, one row per price.", _device_prices()),
    ("v_machines", "Complete machines and hosts: price and watts.", _of_kind("machines")),
    ("v_models", "Open-weight models: shapes, attention, experts, who sells them.", _of_kind("models")),
    ("v_engines", "Inference engines: what they can do, fitted efficiencies.", _of_kind("engines")),
    (
        "v_api_prices",
        "US dollars per million tokens; tiers and dated or timed rates are JSON.",
        _of_kind("prices", _batch_rates(), ("batch",)),
    ),
    ("v_cloud_offers", "Instances rented by the hour.", _of_kind("clouds")),
    ("v_tariffs", "Electricity price and grid carbon by country.", _of_kind("power")),
    ("v_assumptions", "Shipped default ranges, basis `assumed`.", _of_kind("assumptions")),
    ("v_rate_limits", "Requests and tokens a minute by tier.", _of_kind("rate_limits")),
    ("v_retirements", "Announced ends of hosted models.", _of_kind("retirements")),
    ("v_provisioned", "Units of provisioned throughput.", _of_kind("provisioned")),
    ("v_published_speeds", "Hosted models' speeds as published.", _of_kind("speeds")),
    (
        "v_probes",
        "Probe runs of this machine and of endpoints, newest first.",
        "SELECT id, kind, status, ended_by, started_at, finished_at, hardware, model, quant, engine, "
        "engine_build, tool_version FROM probe ORDER BY started_at DESC, id DESC",
    ),
    (
        "v_probe_figures",
        "Every figure of every probe with its interval and axes, newest probe first.",
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
        "Published measurements shipped with the planner; `body` has all columns of a row.",
        f"SELECT file, line, {_MEASURED}, body FROM measurement ORDER BY file, line",
    ),
    (
        "v_overrides",
        "Profiles that the user changed or added, and the changed keys.",
        "SELECT kind, id, overridden, path FROM profile WHERE origin = 'user' ORDER BY kind, id",
    ),
    (
        "docs",
        "The views and what they show.",
        "SELECT view_name AS name, comment AS what FROM duckdb_views() "
        "WHERE NOT internal AND comment IS NOT NULL ORDER BY view_name",
    ),
)
"""(name, comment, query)"""


def views_mark() -> str:
    """Return a hash of all definitions: a database whose views are others gets them anew."""
    return hashlib.sha256(repr(VIEWS).encode()).hexdigest()
