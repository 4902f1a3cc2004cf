"""The fields of the workload form, read from the domain model: label, unit, kind, default, help."""

from __future__ import annotations

import types
from dataclasses import dataclass, replace
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from planner.domain.library import Library
from planner.domain.workload import (
    DEFAULT_TARGETS,
    Agent,
    Batch,
    Constraints,
    Demand,
    MixPart,
    Money,
    Request,
    Targets,
    Workload,
)

FieldPath = tuple[str | int, ...]
Kind = Literal["number", "whole", "flag", "choice", "text", "list"]

_LABELS: dict[str, tuple[str, str]] = {
    "hours_per_day": ("hours a day", "h"),
    "days_per_month": ("days a month", "days"),
    "requests_per_user_hour": ("requests per user", "per hour"),
    "peak_factor": ("peak factor", "× average"),
    "monthly_growth": ("growth a month", "0–1"),
    "input_tokens": ("input", "tokens"),
    "output_tokens": ("output", "tokens"),
    "reasoning_tokens": ("reasoning", "tokens"),
    "shared_prefix_tokens": ("shared prefix", "tokens"),
    "cache_hit_rate": ("cache hit rate", "0–1"),
    "seconds_per_tool": ("time per tool", "s"),
    "parallel_tools": ("tools in parallel", ""),
    "tool_result_tokens": ("tool results a turn", "tokens"),
    "deadline_hours": ("deadline", "h"),
    "runs_per_month": ("runs a month", "runs"),
    "ttft_s": ("first token within", "s"),
    "decode_tok_s_per_request": ("speed per request", "tok/s"),
    "data_may_leave": ("data may leave", ""),
    "rented_allowed": ("renting allowed", ""),
    "precision": ("lowest precision", ""),
    "longest_context_tokens": ("longest context", "tokens"),
    "infrastructure_people": ("own infra people", ""),
    "budget_usd": ("budget up front", "USD"),
    "max_devices": ("devices at most", "a machine"),
    "horizon_months": ("horizon", "months"),
    "discount_rate_per_year": ("discount rate", "a year"),
    "tariff_kind": ("tariff kind", ""),
    "tariff_usd_per_kwh": ("electricity", "USD/kWh"),
    "pue": ("PUE", "× load"),
    "residual_fraction": ("resale value", "of price"),
    "life_months": ("hardware life", "months"),
    "host_price_usd": ("host machine", "USD"),
    "maintenance_fraction_per_year": ("maintenance", "of price/yr"),
    "people_hours_per_month": ("people", "h a month"),
    "people_usd_per_hour": ("people's rate", "USD/h"),
    "install_usd": ("installation", "USD"),
    "api_price_change_per_year": ("API price change", "a year"),
    "cost_scope": ("cost scope", ""),
    "rented_billing": ("renting by", ""),
    "stand_ins": ("API stand-ins", ""),
    "use_case": ("use case", ""),
}


@dataclass(frozen=True)
class Field:
    """One line of the form."""

    path: FieldPath
    label: str
    unit: str
    kind: Kind
    default: str
    """What holds when the field is left empty, as text; empty when it must be filled in."""
    help: str
    choices: tuple[str, ...] = ()
    known: Literal["", "model", "engine", "hardware", "provider", "price", "country"] = ""
    """Which ids are offered as completions."""


@dataclass(frozen=True)
class Page:
    """A group of fields that is shown together."""

    id: str
    title: str
    fields: tuple[Field, ...]
    help: str = ""


_KNOWN: dict[str, Literal["model", "engine", "hardware", "provider", "price", "country"]] = {
    "model": "model", "engines": "engine", "hardware": "hardware", "providers": "provider", "stand_ins": "price",
    "country": "country",
}  # fmt: skip


def pages(workload: Workload, library: Library | None) -> tuple[Page, ...]:
    """Return the pages of the form for a workload with these parts of the mix and batch jobs."""
    general = _fields(Workload, (), only=("name", "title", "question", "use_case"))
    mix = [
        Page(f"mix-{index}", f"Mix: {part.name}", _mix(index, workload), MixPart.__doc__ or "")
        for index, part in enumerate(workload.mix)
    ]
    batch = [
        Page(f"batch-{index}", f"Batch: {job.name}", _fields(Batch, ("batch", index)), Batch.__doc__ or "")
        for index, job in enumerate(workload.batch)
    ]
    return (
        Page("general", "General", general),
        Page("demand", "Demand", _demand(), Demand.__doc__ or ""),
        Page("request", "Request", _fields(Request, ("request",)), Request.__doc__ or ""),
        Page("agent", "Agent", _fields(Agent, ("agent",)), Agent.__doc__ or ""),
        *mix,
        *batch,
        Page("targets", "Targets", _targets(workload), Targets.__doc__ or ""),
        Page("constraints", "Limits", _fields(Constraints, ("constraints",)), Constraints.__doc__ or ""),
        Page("money", "Money", _money(library), Money.__doc__ or ""),
    )


def _demand() -> tuple[Field, ...]:
    # Where the numbers come from is asked after the numbers.
    return tuple(sorted(_fields(Demand, ("demand",)), key=lambda item: item.path[-1] == "basis"))


def _mix(index: int, workload: Workload) -> tuple[Field, ...]:
    own = _fields(MixPart, ("mix", index), skip=("request",))
    shared = workload.request.model_dump()
    lengths = []
    for item in _fields(Request, ("mix", index, "request")):
        inherited = shared[str(item.path[-1])]
        lengths.append(replace(item, default=f"{inherited:g}"))
    return (*own, *lengths)


def _targets(workload: Workload) -> tuple[Field, ...]:
    speed, ttft = DEFAULT_TARGETS[workload.use_case]
    defaults = {"ttft_s": ttft, "decode_tok_s_per_request": speed}
    return tuple(
        replace(item, default=_plain(defaults[str(item.path[-1])]) or "nobody waits", help=f"For {workload.use_case}.")
        for item in _fields(Targets, ("targets",))
    )


_ASSUMED = {"pue": "pue_office", "residual_fraction": "residual_fraction_36_months"}
"""Fields of Money whose shipped default has another name."""
_CHOSEN = {"host_price_usd": "by machine", "tariff_usd_per_kwh": "by country"}
"""Fields whose default depends on what is bought, or where."""


def _money(library: Library | None) -> tuple[Field, ...]:
    out = []
    for item in _fields(Money, ("money",), skip=("fx",)):
        name = str(item.path[-1])
        known = library.assumptions.get(_ASSUMED.get(name, name)) if library else None
        default, text = item.default, item.help
        if known is not None and not default:
            default = f"{known.value:g}"
            text = f"{known.title}: assumed {known.low:g}–{known.high:g} {known.unit}; {known.source}, {known.as_of}."
        out.append(replace(item, default=default or _CHOSEN.get(name, "shipped"), help=text))
        if item.path[-1] == "currency":
            rate = "Units of the currency for one US dollar, as you enter it; amounts stay in USD without it."
            out.append(Field(("money", "fx", "rate"), "exchange rate", "per USD", "number", "none", rate))
    return tuple(out)


def _fields(
    model: type[BaseModel], prefix: FieldPath, only: tuple[str, ...] = (), skip: tuple[str, ...] = ()
) -> tuple[Field, ...]:
    wanted = [name for name in model.model_fields if (not only or name in only) and name not in skip]
    return tuple(_field(name, model.model_fields[name], prefix) for name in wanted)


def _field(name: str, info: FieldInfo, prefix: FieldPath) -> Field:
    label, unit = _LABELS.get(name, (name.replace("_", " "), ""))
    kind, choices = _kind(info.annotation)
    help_text = " ".join((info.description or "").split())
    return Field((*prefix, name), label, unit, kind, _default(info), help_text, choices, _KNOWN.get(name, ""))


def _kind(annotation: Any) -> tuple[Kind, tuple[str, ...]]:
    inner = [arg for arg in get_args(annotation) if arg is not type(None)]
    if get_origin(annotation) in (Union, types.UnionType) and len(inner) == 1:
        return _kind(inner[0])
    if get_origin(annotation) is Literal:
        return "choice", tuple(str(getattr(arg, "value", arg)) for arg in get_args(annotation))
    if get_origin(annotation) is tuple:
        return "list", ()
    kinds: dict[Any, Kind] = {bool: "flag", int: "whole", float: "number"}
    return kinds.get(annotation, "text"), ()


def _default(info: FieldInfo) -> str:
    return "" if info.is_required() else _plain(info.default)


def _plain(value: Any) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(getattr(value, "value", value))
