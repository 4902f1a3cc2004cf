"""A plan made by hand from round numbers, independent of the planning code: the formats' test case."""

from __future__ import annotations

from planner.domain.figures import Axes, Basis, Figure, Speed, unknown, unknown_speed
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
    Explanation,
    MemoryFigures,
    Option,
    OptionBasis,
    Plan,
    Slot,
    TokensPerMonth,
    UsdPerMtok,
    Verdict,
)
from planner.domain.prices import FxRate
from planner.domain.workload import Workload

DAY = "2026-12-01"
NO_SPEED = "no speed is published; run `planner probe endpoint`"


def money(value, low=None, high=None, basis=Basis.LISTED, unit="USD", source="price list of Acme"):
    return Figure(value=value, low=low, high=high, unit=unit, basis=basis, source=source, as_of=DAY)


def plain(value, unit, low=None, high=None, basis=Basis.ESTIMATED, source="roofline of llama.cpp"):
    return Figure(value=value, low=low, high=high, unit=unit, basis=basis, source=source, as_of=DAY)


def none(unit, reason="not computed here", basis=Basis.ASSUMED):
    return unknown(unit, basis, reason, source="none", as_of=DAY)


def speed(value, low, high, kind="decode_per_request", basis=Basis.ESTIMATED, model="gemma-3-27b"):
    axes = Axes(context_tokens=2000, model=model, quant="q4_k_m", engine="llama.cpp", hardware="rtx-3090")
    label = {"basis": basis, "source": "roofline of llama.cpp", "as_of": DAY}
    return Speed(value=value, low=low, high=high, kind=kind, axes=axes, **label)


def no_speed(kind="decode_per_request"):
    axes = Axes(model="gemma-3-27b", quant="unknown", engine="unknown", hardware="acme")
    return unknown_speed(kind, axes, Basis.CLAIMED, NO_SPEED, source="Acme")


def api_slot(mix="routine", share=0.8, model="gemma-3-27b", provider="acme"):
    return Slot(
        mix=mix, share=share, model=model, same_weights=True, served_by="api", provider=provider,
        decode_tok_s_per_request=no_speed(), prefill_tok_s=no_speed("prefill"),
        ttft_s=none("s", NO_SPEED, Basis.CLAIMED), task_s=none("s", NO_SPEED, Basis.CLAIMED),
        max_concurrency=none("requests", "rate limits were not entered", Basis.CLAIMED),
        utilisation=none("ratio", "an API has no machine to fill", Basis.CLAIMED),
    )  # fmt: skip


def own_slot(mix="routine", share=0.8, model="gemma-3-27b", basis=Basis.ESTIMATED, decode=38.25):
    return Slot(
        mix=mix, share=share, model=model, same_weights=True, served_by="owned", hardware="rtx-3090", count=2,
        machines=1, engine="llama.cpp", quant="q4_k_m", kv_quant="f16",
        decode_tok_s_per_request=speed(decode, 30.0, 48.5, basis=basis, model=model),
        prefill_tok_s=speed(1250.0, 900.0, 1600.0, "prefill", model=model),
        ttft_s=plain(1.75, "s", 1.4, 2.2), task_s=plain(9.6, "s", 7.8, 12.1),
        max_concurrency=plain(6.0, "requests"), utilisation=plain(0.125, "ratio"),
        memory_gib=MemoryFigures(weights=plain(15.5, "GiB"), kv=plain(4.0, "GiB"), overhead=plain(1.5, "GiB"),
                                 available=plain(46.0, "GiB")),
    )  # fmt: skip


def option(oid, path, name, slots, *, month, all_in, upfront, mtok, speed=Basis.ESTIMATED, **more):
    rates = UsdPerMtok(blended=mtok, input=money(0.1, unit="USD/Mtok"), output=money(0.4, unit="USD/Mtok"))
    fields = {
        "id": oid, "path": path, "name": name, "feasible": "yes", "slots": tuple(slots),
        "basis": OptionBasis(speed=speed, money=Basis.LISTED, demand=Basis.STATED),
        "usd_upfront": upfront, "usd_per_month": month, "usd_per_month_all_in": all_in, "usd_per_mtok": rates,
        "usd_per_task": money(0.0012, unit="USD/task"),
        "usd_per_accepted_task": none("USD/task", "no acceptance rate entered"),
        "usd_npv": none("USD"), "irr": none("1/year"), "payback_months": none("months"),
        "usd_levelised_per_mtok": none("USD/Mtok"), "p_wins": none("probability"),
        "kwh_per_mtok": none("kWh/Mtok"), "gco2e_per_mtok": none("gCO2e/Mtok"),
    }  # fmt: skip
    return Option(**{**fields, **more})


def batch(rate, hours, in_time, usd):
    return BatchResult(
        name="night summaries", tokens_per_hour=rate, finish_hours=hours, meets_deadline=in_time, usd=usd
    )


def point(status="never", reason="the other option costs less from the first month", **more):
    return BreakEvenPoint(status=status, reason=reason, **more)


def _break_even() -> BreakEven:
    month = plain(30.5, "months", 24.0, 41.0, Basis.LISTED)
    return BreakEven(
        **{"from": "api-acme"}, to="owned-2x3090",
        month=point("reached", "cumulative costs cross", value=month, low=24.0, high=41.0, searched=(0, 36)),
        month_discounted=point("not_reached", "not within the horizon of 36 months", searched=(0, 36)),
        tokens_per_month=point(
            "reached", "the cheaper option changes", searched=(1e6, 1e10),
            crossings=(Crossing(value=412_000_000, low=350e6, high=500e6, winner_above="owned-2x3090"),),
        ),
        utilisation=point(), users=point(), hours_per_day=point(), api_price=point(),
    )  # fmt: skip


def workload(**money_fields) -> Workload:
    return Workload.model_validate({
        "name": "sample-team", "title": "Ten people, two models", "question": "Should we buy a machine?",
        "demand": {"users": 10, "hours_per_day": 8, "days_per_month": 21,
                   "requests_per_user_hour": 6, "peak_factor": 2},
        "request": {"input_tokens": 2000, "output_tokens": 400},
        "mix": [
            {"name": "routine", "share": 0.8, "model": "gemma-3-27b"},
            {"name": "hard", "share": 0.2, "model": "gpt-oss-120b"},
        ],
        "batch": [{"name": "night summaries", "documents": 2000, "input_tokens": 8000, "output_tokens": 500,
                   "deadline_hours": 10, "runs_per_month": 21}],
        "money": money_fields,
    })  # fmt: skip


HARD = ("hard", 0.2, "gpt-oss-120b")
MACHINE = money(4200.0, 3900.0, 4800.0, Basis.ASSUMED)


def _month(*values, basis=Basis.LISTED):
    return money(*values, basis=basis, unit="USD/month")


def _mtok(*values, basis=Basis.LISTED):
    return money(*values, basis=basis, unit="USD/Mtok")


def api_option():
    window = plain(24.0, "h", basis=Basis.PUBLISHED, source="the vendor's batch window")
    return option(
        "api-acme", "api", "Acme API", [api_slot(), api_slot(*HARD)],
        feasible="unverified", speed=Basis.CLAIMED,
        month=_month(41.3), all_in=_month(41.3, 41.3, 41.3), upfront=money(0.0), mtok=_mtok(0.141),
        reasons=("no speed is known",),
        batch=(batch(none("tokens/h", NO_SPEED, Basis.CLAIMED), window, False, money(1.28)),),
    )  # fmt: skip


def owned_option():
    rows = (CashRow(name="machine", values=(4200.0, 0.0)), CashRow(name="energy", values=(0.0, 95.5)))
    job = batch(plain(3_400_000.0, "tokens/h", 2.7e6, 4.3e6), plain(5.0, "h", 3.95, 6.3), True,
                money(0.62, basis=Basis.ASSUMED))  # fmt: skip
    return option(
        "owned-2x3090", "owned", "2× RTX 3090 with llama.cpp", [own_slot(), own_slot(*HARD)], upfront=MACHINE,
        month=_month(95.5, 70.0, 120.0, basis=Basis.ASSUMED),
        all_in=_month(212.25, 180.0, 260.0, basis=Basis.ASSUMED),
        mtok=_mtok(0.725, 0.6, 0.9, basis=Basis.ASSUMED),
        batch=(job,), cash_flow=CashFlow(months=(0, 1), rows=rows, total=(4200.0, 95.5)),
    )  # fmt: skip


def mixed_option():
    return option(
        "mixed-3090-acme", "mixed", "2× RTX 3090, the hard part at Acme",
        [own_slot(basis=Basis.MEASURED), api_slot(*HARD)], feasible="unverified", speed=Basis.CLAIMED,
        month=_month(101.0), all_in=_month(218.0, 190.0, 265.0, basis=Basis.ASSUMED), upfront=MACHINE,
        mtok=_mtok(0.744),
    )  # fmt: skip


def rented_option():
    return option(
        "rented-l4", "rented", "1× L4 by the hour", [own_slot(decode=31.5)],
        feasible="no", month=_month(168.0),
        reasons=("gpt-oss-120b does not fit: 61 GiB of weights, 22 GiB of room",), all_in=_month(168.0),
        upfront=money(0.0), mtok=_mtok(0.574),
    )  # fmt: skip


def options() -> tuple[Option, ...]:
    return (owned_option(), api_option(), mixed_option(), rented_option())


def plan(**changes) -> Plan:
    stated = {"basis": Basis.STATED, "source": "workload"}
    fields = {
        "as_of": DAY, "currency": "USD", "workload": workload(), "options": options(),
        "demand": DemandSummary(
            requests_per_month=plain(10_080.0, "requests/month", **stated),
            model_calls_per_month=plain(10_080.0, "calls/month", **stated),
            tokens_per_month=TokensPerMonth(
                input=plain(356_160_000.0, "tokens/month", **stated),
                cached_input=plain(0.0, "tokens/month", **stated),
                output=plain(25_032_000.0, "tokens/month", **stated)),
            peak_requests_per_second=plain(1 / 30, "requests/s", **stated)),
        "break_even": (_break_even(),),
        "curves_by_month": (Curve(option="api-acme", x=(0.0, 1.0), y=(0.0, 41.3)),),
        "curves_by_volume": (Curve(option="api-acme", x=(1e6, 1e7), y=(0.141, 1.41)),),
        "advice": (Advice(id="measure-first", text="Measure one month of real use before buying."),),
        "verdict": Verdict(
            text="Stay on the API: Acme costs $41.30 a month; the cheapest machine that meets the targets "
                 "costs $212 a month.",
            recommended_option="api-acme", path="api",
            flips_at=plain(412_000_000.0, "tokens/month", basis=Basis.LISTED, source="break-even")),
        "warnings": ("The API's speed is unverified; run `planner probe endpoint`.",),
        "explanations": (Explanation(
            key="options.owned-2x3090.usd_per_month_all_in", result="212.25 USD/month",
            formula="up front / months + running - resale / months",
            inputs=(("up front", "4,200 USD (shop, 2026-12-01)"), ("months", "36")),
            source="finance.cashflow", change_with=("money.horizon_months", "money.residual_fraction")),),
        "considered": 4,
    }  # fmt: skip
    return Plan(**{**fields, **changes})


def euro_plan() -> Plan:
    fx = FxRate(currency="EUR", rate=0.8, as_of="2026-11-30", source="central bank")
    return plan(currency="EUR", fx=fx, workload=workload(currency="EUR", fx=fx.model_dump()))
