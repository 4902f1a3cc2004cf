"""How a speed came about: bytes, FLOP, overheads, coefficients and the term that bounds."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from planner.domain.figures import Figure
from planner.domain.plan import Explanation
from planner.domain.units import BYTES_PER_GIB
from planner.performance import core
from planner.performance.estimate import DEFAULT_PROMPT, estimate, kind_of, placed
from planner.performance.prepared import Prepared, prepare
from planner.performance.setup import Setup

DECODE_FORMULA = "step = √(weights² + compute²) + KV·batch + launches + traffic + host; tok/s = batch / step"
PREFILL_FORMULA = "prompt = √(compute² + weights²) + attention + launches + traffic + host; tok/s = tokens / prompt"
MEMORY_FORMULA = "weights by tensor and bits + KV cache + buffers, on the fullest device"


def explain(setup: Setup, kind: str, **axes: Any) -> Explanation:
    """Return the terms behind a figure; takes the axes of `estimate` and raises what it raises."""
    name = kind_of(kind)
    found = estimate(setup, name, **axes)
    result = f"{found.number:.4g} {found.unit}" if isinstance(found, Figure) and found.known else str(found)
    source = found.source if isinstance(found, Figure) else "memory on the fullest device"
    prepared = prepare(placed(setup)) if name not in ("weights", "kv", "memory_total", "kv_capacity", "fits") else None
    if prepared is None:
        own = prepare(setup)
        return Explanation(key=name, formula=MEMORY_FORMULA, inputs=tuple(_sizes(own)), result=result, source=source)
    if name in ("prefill", "ttft"):
        prompt = float(axes.get("prompt_tokens") or DEFAULT_PROMPT)
        rows = _prompt(prepared, prompt, float(axes.get("context_tokens", 0)))
        return Explanation(key=name, formula=PREFILL_FORMULA, inputs=tuple(rows), result=result, source=source)
    before = axes.get("context_tokens", 0) + (axes.get("prompt_tokens") or 0)
    context = float(before + (axes.get("output_tokens") or 0) / 2)
    rows = _step(prepared, context, float(axes.get("concurrency", 1)))
    return Explanation(key=name, formula=DECODE_FORMULA, inputs=tuple(rows), result=result, source=source)


def _sizes(p: Prepared) -> list[tuple[str, str]]:
    cache = p.cache
    return [
        (
            "weights",
            f"{p.weight_bytes / BYTES_PER_GIB:.2f} GiB, {p.host_weight_bytes / BYTES_PER_GIB:.2f} of them on the host",
        ),
        ("KV per token, whole context", f"{cache.full_bytes / 1024:.1f} KiB"),
        ("KV per token, window layers", f"{cache.window_bytes / 1024:.1f} KiB, at most {cache.window} tokens"),
        ("constant state per sequence", f"{cache.state_bytes / 1024**2:.1f} MiB"),
    ]  # fmt: skip


def _step(p: Prepared, context: float, batch: float) -> list[tuple[str, str]]:
    shape = core.step_shape(p.numbers, p.decode, p.cache.read(context))
    touched = float(core.touched_share(p.numbers.num_experts, p.numbers.top_k, batch))
    terms = {
        "weights read": shape.dense_s + shape.experts_s * touched, "compute": shape.compute_s * batch,
        "KV read": shape.kv_s * batch, "launches, traffic, scheduling": shape.fixed_s + shape.sequence_s * batch,
        "host memory": shape.host_dense_s + shape.host_experts_s * touched,
    }  # fmt: skip
    rows = [*_sizes(p), ("experts touched", f"{touched:.0%}"), *_terms(terms)]
    return [*rows, *_coefficients(p.decode), ("interval", f"±{p.decode_found.log_sd:.2f} log sd")]


def _prompt(p: Prepared, tokens: float, depth: float) -> list[tuple[str, str]]:
    seen = min(depth + tokens / 2, p.cache.window) if p.cache.window else 0.0
    terms = core.prefill_terms(p.numbers, p.prefill, tokens, depth, seen, min(tokens, p.chunk))
    rows = [("tokens in one pass", f"{min(tokens, p.chunk):.0f}"), *_terms(terms)]
    return [*rows, *_coefficients(p.prefill), ("interval", f"±{p.prefill_found.log_sd:.2f} log sd")]


def _terms(terms: dict[str, float]) -> list[tuple[str, str]]:
    largest = max(terms, key=lambda name: terms[name])
    return [
        (name, f"{seconds * 1e3:.3g} ms" + (" (bounds)" if name == largest else "")) for name, seconds in terms.items()
    ]


def _coefficients(rates: core.DecodeRates | core.PrefillRates) -> list[tuple[str, str]]:
    return [(f"coefficient {field.name}", f"{getattr(rates, field.name):.4g}") for field in fields(rates)]
