"""Words of the Profiles screen: one line and one page per profile, whatever its kind."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pydantic import BaseModel
from textual.content import Content

from planner.domain.engine import Engine
from planner.domain.hardware import Hardware, Machine
from planner.domain.model import ModelSpec
from planner.domain.prices import ApiPrice, Assumption, CloudOffer, Tariff
from planner.report.format import DASH, short
from planner.tui import safe

KIND_TITLES: tuple[tuple[str, str], ...] = (
    ("hardware", "Devices"),
    ("machines", "Machines"),
    ("models", "Models"),
    ("prices", "Token prices"),
    ("clouds", "Clouds"),
    ("power", "Tariffs"),
    ("engines", "Engines"),
    ("assumptions", "Assumptions"),
    ("speeds", "Speeds"),
    ("rate_limits", "Rate limits"),
    ("provisioned", "Provisioned"),
    ("retirements", "Retirements"),
)
OLD_DAYS = 180
"""A price or a spec older than this is marked."""


class ProfileView(Protocol):
    """What the screen needs of a stored profile."""

    @property
    def kind(self) -> str:
        """Return the kind's name."""

    @property
    def id(self) -> str:
        """Return the id."""

    @property
    def value(self) -> BaseModel:
        """Return the domain object."""

    @property
    def origin(self) -> str:
        """Return who says so: shipped, user, genai-prices."""

    @property
    def path(self) -> str:
        """Return the file, if it has one."""

    @property
    def overridden(self) -> tuple[str, ...]:
        """Return the fields the user set."""


def _usd(value: float | None) -> str:
    return DASH if value is None else f"${short(value)}"


def _hardware(item: Hardware) -> str:
    new = [price for price in item.prices if price.condition != "list"] or list(item.prices)
    newest = max(new, key=lambda price: price.as_of, default=None)
    memory = f"{short(item.memory_gb)} GB" if item.memory_gb else DASH
    speed = f"{short(item.memory_bandwidth_gb_s)} GB/s" if item.memory_bandwidth_gb_s else DASH
    return f"{memory} · {speed} · {_usd(newest.usd) if newest else 'not priced'}"


def _machine(item: Machine) -> str:
    price = item.complete_price_usd or item.host_price_usd
    return f"{item.count or 1}× {item.hardware or '—'} · {_usd(price)}"


def _model(item: ModelSpec) -> str:
    total = f"{short(item.params_total_b)}B" if item.params_total_b else DASH
    active = f", {short(item.params_active_b)}B active" if item.params_active_b and item.is_moe else ""
    context = f" · context {item.max_context:,}" if item.max_context else ""
    return f"{total}{active} · {item.layers} layers{context}"


def _price(item: ApiPrice) -> str:
    cached = f", cached {_usd(item.cached_input_usd_per_mtok)}" if item.cached_input_usd_per_mtok is not None else ""
    return f"in {_usd(item.input_usd_per_mtok)}, out {_usd(item.output_usd_per_mtok)}{cached} per Mtok"


def _cloud(item: CloudOffer) -> str:
    return f"{item.count}× {item.hardware or item.gpu} · {_usd(item.usd_per_hour)}/h · {item.term}"


def _tariff(item: Tariff) -> str:
    business, household = _usd(item.business_usd_per_kwh), _usd(item.household_usd_per_kwh)
    return f"{item.country} · business {business}, household {household} per kWh"


def _engine(item: Engine) -> str:
    return f"{len(item.efficiencies)} fits · {', '.join(item.quant_families)}"


def _assumption(item: Assumption) -> str:
    return f"{short(item.value)} ({short(item.low)}–{short(item.high)}) {item.unit}"


_LINES: dict[type[BaseModel], Callable[[Any], str]] = {
    Hardware: _hardware, Machine: _machine, ModelSpec: _model, ApiPrice: _price, CloudOffer: _cloud, Tariff: _tariff,
    Engine: _engine, Assumption: _assumption,
}  # fmt: skip


def summary(value: BaseModel) -> str:
    """Return the figures of a profile that people look for, on one line."""
    known = _LINES.get(type(value))
    if known is not None:
        return safe.line(known(value))
    plain = value.model_dump(mode="json", exclude_defaults=True)
    numbers = [(key, item) for key, item in plain.items() if isinstance(item, int | float) and item is not True]
    return safe.line(", ".join(f"{key} {item}" for key, item in numbers[:3]))


def field_of(value: BaseModel, name: str) -> str:
    """Return a text field of a profile, or an empty string."""
    return str(getattr(value, name, "") or "")


def age(as_of: str, today: dt.date) -> int | None:
    """Return the age of a date in days; of a month or year, from its first day. None where it isn't a date."""
    parts = as_of[:10].split("-")
    try:
        numbers = [int(part) for part in parts] + [1, 1]
        return max((today - dt.date(*numbers[:3])).days, 0)
    except (ValueError, TypeError):
        return None


def age_words(days: int | None) -> str:
    """Return an age in the largest fitting unit, with a mark when it is old."""
    if days is None:
        return DASH
    words = f"{days} d" if days < 60 else f"{days // 30} mo" if days < 730 else f"{days // 365} y"
    return f"! {words}" if days > OLD_DAYS else words


def detail(profile: ProfileView, today: dt.date) -> Content:
    """Return a profile in full: origin, source, date, age, then every field, overridden ones marked."""
    value = profile.value
    as_of = field_of(value, "as_of")
    head = Content.assemble(
        (safe.line(profile.id), "bold $primary"), ("   " + safe.line(field_of(value, "name")), ""), "\n",
        ("as of ", "$muted"), f"{safe.line(as_of) or DASH} ({age_words(age(as_of, today))})",
        ("   origin ", "$muted"), origin(profile), "\n",
        ("source ", "$muted"), safe.line(field_of(value, "source"), 400), "\n",
        ("file   ", "$muted"), safe.line(profile.path) or DASH, "\n",
    )  # fmt: skip
    rows = [_field(key, item, key in profile.overridden) for key, item in _ordered(value)]
    return Content("\n").join([head, *rows])


def origin(profile: ProfileView) -> str:
    """Return who says so, and how many fields the user changed."""
    changed = f", {len(profile.overridden)} overridden" if profile.overridden else ""
    return safe.line(f"{profile.origin}{changed}", 60)


def _ordered(value: BaseModel) -> list[tuple[str, Any]]:
    plain: Mapping[str, Any] = value.model_dump(mode="json")
    skipped = ("id", "name", "source", "as_of")
    return [(key, item) for key, item in plain.items() if key not in skipped and item not in (None, "", [], {})]


def _field(key: str, item: Any, overridden: bool) -> Content:
    mark = ("● ", "bold $accent") if overridden else ("  ", "")
    if isinstance(item, list) and item and isinstance(item[0], dict):
        lines = [f"\n      {_entry(part)}" for part in item]
        return Content.assemble(mark, (f"{key}", "$muted"), *lines)
    text = ", ".join(map(str, item)) if isinstance(item, list) else item if isinstance(item, str) else json.dumps(item)
    own = ("   your own value", "$accent") if overridden else ""
    return Content.assemble(mark, (f"{key:<32} ", "$muted"), safe.line(text, 1000), own)


def _entry(part: Mapping[str, Any]) -> str:
    known = (f"{key} {value}" for key, value in part.items() if value not in (None, "", False, [], {}))
    return safe.line(", ".join(known), 500)


def scalar_fields(value: BaseModel) -> list[tuple[str, str]]:
    """Return (field, present value) of the fields that hold one number, word or flag."""
    plain = value.model_dump(mode="json")
    return [(key, "" if item is None else str(item)) for key, item in plain.items()
            if key != "id" and (item is None or isinstance(item, str | int | float | bool))]  # fmt: skip


def haystack(profile: ProfileView) -> str:
    """Return what a search looks through."""
    value = profile.value
    aliases: Sequence[str] = getattr(value, "aliases", ())
    words = [profile.id, field_of(value, "name"), field_of(value, "notes"), field_of(value, "source"), *aliases]
    return " ".join([*words, summary(value), profile.origin]).casefold()
