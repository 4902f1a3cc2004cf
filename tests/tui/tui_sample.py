"""A plan, a library and a workspace made by hand: fixed numbers, no files, no clock."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

from planner.domain.engine import Engine
from planner.domain.errors import InputError
from planner.domain.figures import Axes, Basis, Figure, Speed, unknown, unknown_speed
from planner.domain.hardware import DevicePrice, Hardware
from planner.domain.library import Library
from planner.domain.model import ModelSpec
from planner.domain.plan import (
    Advice,
    BatchResult,
    BreakEven,
    BreakEvenPoint,
    CashFlow,
    CashRow,
    Crossing,
    Curve,
    DemandSummary,
    MemoryFigures,
    Option,
    OptionBasis,
    Plan,
    Slot,
    TokensPerMonth,
    UsdPerMtok,
    Verdict,
)
from planner.domain.prices import ApiPrice, Assumption, CloudOffer, Tariff
from planner.domain.probe import ProbeEngine, ProbeModel, ProbeRecord
from planner.domain.workload import Batch, Demand, MixPart, Money, Request, Workload

DAY = "2026-12-01"
LIST = "Acme price list"
HOSTILE = "[/bold] [red]evil[/] \x1b[31mANSI\x1b[0m \u202etxt \x07 " + "x" * 300


def fig(value, unit, low=None, high=None, basis=Basis.LISTED, source=LIST):
    return Figure(value=value, low=low, high=high, unit=unit, basis=basis, source=source, as_of=DAY)


def none(unit, reason="run `planner probe endpoint`", basis=Basis.CLAIMED):
    return unknown(unit, basis, reason)


def speed(value, kind="decode_per_request", basis=Basis.ESTIMATED, context=2000, hardware="rtx-3090", **axes):
    label = Axes(
        context_tokens=context, model="gemma-3-27b", quant="q4_k_m", engine="llama.cpp", hardware=hardware, **axes
    )
    if value is None:
        return unknown_speed(kind, label, Basis.CLAIMED, "run `planner probe endpoint`")
    low, high = value * 0.8, value * 1.25
    return Speed(value=value, low=low, high=high, kind=kind, axes=label, basis=basis, source="roofline", as_of=DAY)


def slot(
    path,
    decode=None,
    ttft=None,
    basis=Basis.ESTIMATED,
    mix="routine",
    share=0.8,
    model="gemma-3-27b",
    busy=None,
    **more,
):
    machine = path in ("rented", "owned")
    memory = MemoryFigures(
        weights=fig(16.5, "GiB"), kv=fig(4.2, "GiB"), overhead=fig(1.1, "GiB"), available=fig(46.0, "GiB")
    )
    return Slot(
        mix=mix,
        share=share,
        model=model,
        same_weights=True,
        served_by=path,
        provider=None if machine else "acme",
        hardware="rtx-3090" if machine else None,
        count=2 if machine else None,
        machines=1 if machine else None,
        engine="llama.cpp" if machine else None,
        quant="q4_k_m" if machine else None,
        decode_tok_s_per_request=speed(decode, basis=basis),
        prefill_tok_s=speed(decode and decode * 30, "prefill"),
        ttft_s=fig(ttft, "s", basis=basis) if ttft else none("s"),
        task_s=fig(9.6, "s", 8, 12) if decode else none("s"),
        max_concurrency=fig(6, "requests") if machine else none("requests"),
        utilisation=fig(busy, "ratio") if busy is not None else none("ratio"),
        memory_gib=memory if machine else None,
        **more,
    )


def option(oid, path, name, slots, month, all_in, upfront, mtok, feasible="yes", reasons=(), rows=(), priced=True):
    months = tuple(range(37))
    cash = None
    if rows:
        made = tuple(CashRow(name=title, values=tuple(values)) for title, values in rows)
        cash = CashFlow(months=months, rows=made, total=tuple(sum(row.values[m] for row in made) for m in months))
    usd = "USD/month"
    return Option(
        id=oid,
        path=path,
        name=name,
        feasible=feasible,
        reasons=tuple(reasons),
        priced=priced,
        basis=OptionBasis(speed=Basis.ESTIMATED, money=Basis.LISTED, demand=Basis.STATED),
        slots=tuple(slots),
        usd_upfront=fig(upfront, "USD") if upfront is not None else none("USD", "the GPU is not priced"),
        usd_per_month=fig(month, usd, month * 0.9, month * 1.1) if month is not None else none(usd, "not priced"),
        usd_per_month_all_in=fig(all_in, usd, all_in * 0.9, all_in * 1.2)
        if all_in is not None
        else none(usd, "not priced"),
        usd_per_mtok=UsdPerMtok(
            blended=fig(mtok, "USD/Mtok") if mtok else none("USD/Mtok", "not priced"),
            input=fig(0.1, "USD/Mtok"),
            output=fig(0.4, "USD/Mtok"),
        ),
        usd_per_task=fig(0.0123, "USD"),
        usd_per_accepted_task=none("USD", "no acceptance rate was given"),
        batch=(
            BatchResult(
                name="nightly",
                tokens_per_hour=fig(4.2e6, "tokens/h"),
                finish_hours=fig(5.5, "h"),
                meets_deadline=True,
                usd=fig(3.2, "USD"),
            ),
        ),
        cash_flow=cash,
        usd_npv=fig(12345, "USD"),
        irr=fig(0.31, "ratio"),
        payback_months=fig(14, "months"),
        usd_levelised_per_mtok=fig(0.5, "USD/Mtok"),
        p_wins=none("ratio", "not simulated"),
        kwh_per_mtok=fig(0.2, "kWh"),
        gco2e_per_mtok=fig(70, "g"),
    )


API_ROWS = [("tokens", [0.0] + [820.0] * 36)]
OWN_ROWS = [
    ("GPUs", [3400.0] + [0.0] * 36),
    ("host", [2400.0] + [0.0] * 36),
    ("energy", [0.0] + [95.0] * 36),
    ("people", [0.0] + [240.0] * 36),
    ("resale", [0.0] * 36 + [-1200.0]),
]


def options(hostile=False):
    own = [
        slot("owned", 38.2, 0.85, Basis.CALIBRATED, busy=0.31),
        slot("owned", 61, 1.9, mix="hard", share=0.2, model="gpt-oss-120b", busy=0.12),
    ]
    return (
        option(
            "own-1",
            "owned",
            HOSTILE if hostile else "2× RTX 3090, llama.cpp, both models",
            own,
            335,
            463,
            5800,
            1.18,
            rows=OWN_ROWS,
        ),
        option(
            "mix-1",
            "mixed",
            "gemma-3-27b on 1× RTX 3090, gpt-oss-120b by Acme",
            [own[0], slot("api", 88, 0.6, Basis.PUBLISHED, "hard", 0.2, "gpt-oss-120b")],
            402,
            498,
            2900,
            1.27,
        ),
        option(
            "api-1",
            "api",
            "Acme: gemma-3-27b, gpt-oss-120b",
            [slot("api", 52, 0.4, Basis.PUBLISHED)],
            820,
            820,
            0,
            2.09,
            rows=API_ROWS,
        ),
        option(
            "rent-1",
            "rented",
            "1× L40S at Cloudly, active hours",
            [slot("rented", 44, 0.7, busy=0.4)],
            1240,
            1240,
            0,
            3.16,
        ),
        option(
            "man-1",
            "managed",
            "Bigcloud managed, eu-west",
            [slot("managed")],
            990,
            990,
            0,
            2.52,
            "unverified",
            ["no speed is published: run `planner probe endpoint`"],
        ),
        option(
            "own-2",
            "owned",
            "1× RTX 5090, vLLM",
            [slot("owned", 71, 0.5, busy=0.2)],
            None,
            None,
            None,
            None,
            "no",
            ["gpt-oss-120b needs 63 GiB, the machine has 32 GiB", "not priced"],
            priced=False,
        ),
    )


def reached(value, unit="months"):
    return BreakEvenPoint(status="reached", reason="the lines cross", value=fig(value, unit), searched=(0, 36))


NEVER = BreakEvenPoint(status="never", reason="each month already costs more", searched=(0, 36))


def workload():
    return Workload(
        name="team-80-20",
        title="A team of 25",
        question="Should we buy?",
        demand=Demand(users=25, requests_per_user_hour=12),
        request=Request(input_tokens=2400, output_tokens=350),
        mix=(
            MixPart(name="routine", share=0.8, model="gemma-3-27b"),
            MixPart(name="hard", share=0.2, model="gpt-oss-120b"),
        ),
        batch=(Batch(name="nightly", documents=2000, input_tokens=3000, output_tokens=250, deadline_hours=8),),
        money=Money(horizon_months=36),
    )


def plan(work=None, hostile=False):
    work = work or workload()
    users = work.demand.users
    curves = (
        Curve(option="api-1", x=tuple(range(37)), y=tuple(820.0 * m for m in range(37))),
        Curve(option="man-1", x=tuple(range(37)), y=tuple(990.0 * m for m in range(37))),
        Curve(option="rent-1", x=tuple(range(37)), y=tuple(1240.0 * m for m in range(37))),
        Curve(option="own-1", x=tuple(range(37)), y=tuple(5800 + 335.0 * m for m in range(37))),
        Curve(option="mix-1", x=tuple(range(37)), y=tuple(2900 + 402.0 * m for m in range(37))),
    )
    pair = BreakEven(
        **{"from": "api-1"},
        to="own-1",
        month=reached(12),
        month_discounted=reached(13),
        tokens_per_month=BreakEvenPoint(
            status="reached", reason="", searched=(0, 1e10), crossings=(Crossing(value=1.9e8, winner_above="own-1"),)
        ),
        utilisation=NEVER,
        users=reached(11, "users"),
        hours_per_day=NEVER,
        api_price=NEVER,
    )
    other = pair.model_copy(update={"from_": "rent-1", "month": reached(6.4), "tokens_per_month": NEVER})
    text = (
        HOSTILE
        if hostile
        else (
            f"Buy: 2× RTX 3090 cost $463 a month all in for {users:g} users, against $820 by API; owning pays"
            " from month 12 and above 190 M tokens a month, 0.5 times today's."
        )
    )
    tokens = TokensPerMonth(
        input=fig(users * 1.2e7, "tokens"), cached_input=fig(6e7, "tokens"), output=fig(users * 2e6, "tokens")
    )
    return Plan(
        as_of=DAY,
        currency="USD",
        workload=work,
        demand=DemandSummary(
            requests_per_month=fig(users * 2016, "requests"),
            model_calls_per_month=fig(users * 2016, "calls"),
            tokens_per_month=tokens,
            peak_requests_per_second=fig(0.17, "1/s"),
        ),
        options=options(hostile),
        break_even=(pair, other),
        curves_by_month=curves,
        advice=(Advice(id="measure", text="Measure gemma-3-27b on a rented RTX 3090 before you buy."),),
        verdict=Verdict(text=text, recommended_option="own-1", path="owned", flips_at=fig(1.9e8, "tokens")),
        warnings=(
            "The price of the RTX 3090 is 240 days old.",
            "The speed of gpt-oss-120b is estimated, not measured.",
        ),
        considered=4210,
    )


def library(hostile=False):
    name = HOSTILE if hostile else "NVIDIA GeForce RTX 3090"
    price = DevicePrice(
        usd=850, condition="used", usd_low=700, usd_high=990, source="Acme marketplace", as_of="2026-11-02"
    )
    gpu = Hardware(
        id="rtx-3090",
        name=name,
        vendor="nvidia",
        kind="consumer",
        memory_gb=24,
        memory_bandwidth_gb_s=936,
        tdp_w=350,
        prices=(price,),
        source="vendor data sheet",
        as_of="2026-03-01",
    )
    new = gpu.model_copy(
        update={
            "id": "rtx-5090",
            "name": "NVIDIA GeForce RTX 5090",
            "memory_gb": 32.0,
            "prices": (),
            "as_of": "2026-11-02",
        }
    )
    local = Hardware(
        id="local",
        name="This machine (Acme CPU)",
        vendor="cpu",
        kind="cpu",
        memory_gb=23.4,
        notes="Linux 6",
        source="the operating system",
        as_of=DAY,
    )
    model = ModelSpec(
        id="gemma-3-27b",
        params_total_b=27.4,
        layers=62,
        hidden_size=5376,
        kv_heads=16,
        full_layers=62,
        max_context=131072,
        source="model card",
        as_of="2026-10-01",
    )
    big = model.model_copy(
        update={"id": "gpt-oss-120b", "params_total_b": 117.0, "params_active_b": 5.1, "num_experts": 128}
    )
    engine = Engine(
        id="llama.cpp",
        name="llama.cpp",
        quant_families=("gguf-k",),
        vendors=("nvidia",),
        continuous_batching=True,
        prefix_cache=True,
        speculative=True,
        tensor_parallel=False,
        memory_fraction=0.95,
        memory_overhead_gib=0.6,
        max_batch=32,
        source="project page",
        as_of="2026-11-01",
    )
    token = ApiPrice(
        provider="acme",
        channel="api",
        model="gemma-3-27b",
        input_usd_per_mtok=0.1,
        output_usd_per_mtok=0.3,
        source=LIST,
        as_of="2026-11-20",
    )
    offer = CloudOffer(
        provider="cloudly",
        instance="l40s-1",
        gpu="L40S",
        count=1,
        usd_per_hour=1.9,
        price_type="on-demand",
        term="on-demand",
        source="Cloudly pricing",
        as_of="2026-11-11",
    )
    tariff = Tariff(id="us", country="United States", business_usd_per_kwh=0.13, source="EIA", as_of="2026-09-01")
    host = Assumption(
        id="host_price_usd",
        low=1500,
        value=2400,
        high=4000,
        unit="USD",
        title="Host machine",
        source="shipped default",
        as_of="2026-11-01",
    )
    return Library(
        hardware={h.id: h for h in (gpu, new, local)},
        machines={},
        models={m.id: m for m in (model, big)},
        engines={"llama.cpp": engine},
        prices=(token,),
        clouds=(offer,),
        tariffs={"us": tariff},
        assumptions={"host_price_usd": host},
        probes=(record(),),
    )


def record(status="complete"):
    return ProbeRecord(
        schema="planner.probe/1",
        id="device-20261130T101500Z-abc123",
        kind="device",
        started_at="2026-11-30T10:14:20Z",
        finished_at="2026-11-30T10:15:00Z",
        status=status,
        ended_by="precision",
        tool_version="0.1.0",
        environment={"os": "Linux", "cpu": "Acme CPU"},
        hardware="local",
        model=ProbeModel(id="smollm2-135m", hash="sha256:00ff", file="smollm2.gguf", quant="q4_k_m"),
        engine=ProbeEngine(name="llama.cpp", build="b1234"),
        settings={"threads": 2},
        figures=(
            speed(81.5, basis=Basis.MEASURED, context=0, hardware="local"),
            speed(410, "prefill", Basis.MEASURED, 0, "local"),
        ),
        samples=({"s": 1},),
    )


def profiles(lib):
    def of(kind, key, value, origin="shipped", overridden=()):
        return SimpleNamespace(
            kind=kind, id=key, value=value, origin=origin, path=f"profiles/{kind}/{key}.toml", overridden=overridden
        )

    return (
        *(of("hardware", key, value) for key, value in lib.hardware.items()),
        *(of("models", key, value) for key, value in lib.models.items()),
        *(of("prices", price.key, price) for price in lib.prices),
        *(of("clouds", offer.key, offer) for offer in lib.clouds),
        *(of("power", key, value) for key, value in lib.tariffs.items()),
        *(of("engines", key, value) for key, value in lib.engines.items()),
        *(of("assumptions", key, value) for key, value in lib.assumptions.items()),
    )


class SlowRun:
    """A probe that sleeps between events until it is cancelled."""

    def __init__(self, events, pause=0.0):
        self.events, self.pause, self.cancelled, self.closed, self.hurry = events, pause, False, False, False

    def __iter__(self):
        for event in self.events:
            yield event
            until = time.monotonic() + self.pause
            while time.monotonic() < until and not self.cancelled and not self.hurry:
                time.sleep(0.01)
            if self.cancelled:
                return

    def cancel(self):
        self.cancelled = True

    def close(self):
        self.closed = True


@dataclass
class FakeWorkspace:
    """The part of a workspace that the screens use, in memory."""

    hostile: bool = False
    last: str | None = None
    support: object = field(
        default_factory=lambda: SimpleNamespace(available=True, can_build=True, advice="Installed.")
    )
    run: object = None
    planned: list = field(default_factory=list)
    saved: list = field(default_factory=list)
    probe_args: list = field(default_factory=list)
    own: dict = field(default_factory=dict)
    delay: float = 0.0
    gate: threading.Event | None = None
    """A plan waits for it, so that a test sees the moment before, however slow the machine."""
    fail: Exception | None = None

    def library(self):
        base = library(self.hostile)
        changed = {
            key: value.model_copy(update=self.own.get(("hardware", key), {})) for key, value in base.hardware.items()
        }
        return replace(base, hardware=changed)

    def profiles(self):
        out = []
        for item in profiles(self.library()):
            mine = tuple(self.own.get((item.kind, item.id), {}))
            out.append(SimpleNamespace(**{**vars(item), "overridden": mine, "origin": "user" if mine else "shipped"}))
        return tuple(out)

    def refresh(self):
        pass

    def workload_names(self):
        return ["night-batch", "team-80-20"]

    def load_workload(self, name):
        if name == "team-80-20":
            return workload()
        if name == "night-batch":
            return workload().model_copy(update={"name": "night-batch"})
        raise InputError(f"There is no workload file {name!r}.", "Shipped workloads: night-batch, team-80-20.")

    def plan(self, work, today):
        time.sleep(self.delay)
        if self.gate is not None:
            self.gate.wait(60)
        if self.fail:
            raise self.fail
        self.planned.append(work)
        return plan(work, self.hostile)

    def save_workload(self, work, path):
        self.saved.append((work, Path(path)))

    def last_workload(self):
        return self.last

    def remember_workload(self, path):
        self.last = path

    def profile_path(self, kind, key):
        return Path("profiles") / kind / f"{key}.toml"

    def override(self, kind, key, name, value):
        self.own.setdefault((kind, key), {})[name] = value
        return Path("config") / f"{key}.toml"

    def clear_override(self, kind, key, name):
        del self.own[(kind, key)][name]
        return Path("config") / f"{key}.toml"

    def overrides(self):
        return ()

    def probes(self):
        return library().probes

    def run_probe(self, args):
        self.probe_args.append(list(args))
        return self.run

    def device_support(self):
        return self.support

    def build_device_support(self):
        yield {"event": "done", "text": "Device support is ready."}
