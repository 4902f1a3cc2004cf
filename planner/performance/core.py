"""The speed model as arithmetic: seconds of a decode step and of a prompt from numbers alone.

Every function works on floats and, element by element, on numpy arrays: planning calls it thousands of times, the
fit calls it on all measurements at once, and both must be the same formula.

Formula: roofline, t = max(bytes / (bandwidth·e_b), FLOP / (peak·e_f)) + overheads + tensor-parallel traffic, with the
maximum smoothed to (a^p + b^p)^(1/p) because real kernels overlap imperfectly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Num = Any
"""A float or a numpy array of floats."""

SMOOTH = 2.0
"""The exponent p of the smoothed maximum."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A setup reduced to numbers: bytes and FLOP per step, rates, counts. Bytes, seconds and FLOP/s throughout."""

    dense_bytes: Num
    """Weights on devices that every step reads."""
    expert_bytes: Num
    """Routed experts on devices, all of them."""
    host_dense_bytes: Num
    host_expert_bytes: Num
    dense_params: Num
    """Weights that every token is multiplied with, head included."""
    head_params: Num
    expert_params: Num
    """Expert weights that one token is multiplied with."""
    num_experts: Num
    """1 for a dense model."""
    top_k: Num
    layers: Num
    moe_layers: Num
    linear_layers: Num
    host_layers: Num
    """Layers that hand over to the host and back."""
    hidden: Num
    attention_width: Num
    """heads × head dimension, summed over the layers that look at the whole context."""
    window_width: Num
    """The same over layers with a sliding window."""
    window: Num
    bandwidth: Num
    """Bytes per second of one device."""
    peak: Num
    """FLOP per second of one device."""
    host_bandwidth: Num
    tensor: Num
    """Devices that work on one layer together."""
    stages: Num
    """Devices that work one after another (layer split)."""
    link: Num
    """Bytes per second between devices, one direction."""
    kv_heads_split: Num
    """Ranks over which the KV cache can really be divided; 1 for a latent, which every rank holds whole."""


@dataclass(frozen=True, slots=True)
class DecodeRates:
    """Fitted coefficients of a decode step."""

    bandwidth: Num
    """Share of peak bandwidth reached reading weights."""
    expert_bandwidth: Num
    """The same for routed experts, relative to `bandwidth`."""
    kv_bandwidth: Num
    """Share of peak bandwidth reached reading the KV cache."""
    compute: Num
    """Share of peak FLOP/s reached on a step's matrix products, unpacking of quantised weights included."""
    layer_s: Num
    """Seconds of launches and synchronisation per layer."""
    moe_s: Num
    """More seconds per layer with experts: routing and dispatch."""
    linear_s: Num
    """More seconds per linear-attention or state-space layer."""
    step_s: Num
    """Seconds per step, once: sampling, scheduling."""
    sequence_s: Num
    """Seconds per step and sequence in the batch."""
    reduce_s: Num
    """Seconds of latency per all-reduce."""
    host_bandwidth: Num
    """Share of host memory bandwidth reached."""
    host_s: Num
    """Seconds per layer that is handed to the host and back."""
    scale: Num = 1.0
    """What this device and model take beyond the above: exp of their fitted offsets."""


@dataclass(frozen=True, slots=True)
class PrefillRates:
    """Fitted coefficients of processing a prompt."""

    compute: Num
    """Share of peak FLOP/s reached on large matrix products."""
    expert_compute: Num
    """The same for experts, relative to `compute`."""
    attention: Num
    """Share of peak FLOP/s reached on attention."""
    bandwidth: Num
    half_tokens: Num
    """Tokens per matrix product at which half the compute rate is reached."""
    layer_s: Num
    chunk_s: Num
    reduce_s: Num
    host_bandwidth: Num
    """Share of host memory bandwidth (or of the link, where faster) at which offloaded weights are used."""
    host_compute: Num
    """FLOP per byte of host bandwidth that the host reaches on large products."""
    linear_s: Num
    """Seconds per linear-attention layer and thousand tokens."""
    burst: Num
    """Share of the others' prompts that a request finds ahead of its own when all clients start together."""
    scale: Num = 1.0


def touched_share(num_experts: Num, top_k: Num, tokens: Num) -> Num:
    """Return the share of routed experts that at least one of so many tokens chose.

    Formula: 1 − (1 − k/E)^tokens, tokens choosing independently and evenly.
    """
    return 1.0 - (1.0 - top_k / num_experts) ** tokens


def smooth_max(first: Num, second: Num) -> Num:
    """Return the smoothed maximum of two times."""
    return (first**SMOOTH + second**SMOOTH) ** (1.0 / SMOOTH)


def all_reduce(n: Numbers, tokens: Num, latency_s: Num) -> Num:
    """Return seconds of tensor-parallel traffic of one pass: two all-reduces a layer, 16-bit activations.

    Formula: ring all-reduce moves 2·(n−1)/n of the data over each link; no device, no traffic.
    """
    share = (n.tensor - 1.0) / n.tensor
    moved = 2.0 * share * tokens * n.hidden * 2.0 / n.link
    return 2.0 * n.layers * (latency_s * share * 2.0 + moved)


@dataclass(frozen=True, slots=True)
class StepShape:
    """A decode step as a function of the batch alone, in seconds."""

    dense_s: Num
    experts_s: Num
    """Were all experts read."""
    missed: Num
    """Probability that one token leaves an expert untouched."""
    compute_s: Num
    """Per sequence."""
    kv_s: Num
    """Per sequence."""
    fixed_s: Num
    sequence_s: Num
    host_dense_s: Num
    host_experts_s: Num
    scale: Num


def step_shape(n: Numbers, r: DecodeRates, kv_bytes: Num) -> StepShape:
    """Return the decode step of sequences that read `kv_bytes` of cache each."""
    rate = n.bandwidth * r.bandwidth * n.tensor
    host = n.host_bandwidth * r.host_bandwidth
    traffic = all_reduce(n, 0.0, r.reduce_s)
    launches = n.layers * r.layer_s + n.moe_layers * r.moe_s + n.linear_layers * r.linear_s
    return StepShape(
        dense_s=n.dense_bytes / rate,
        experts_s=n.expert_bytes / rate / r.expert_bandwidth,
        missed=1.0 - n.top_k / n.num_experts,
        compute_s=2.0 * (n.dense_params + n.expert_params) / n.tensor / (n.peak * r.compute),
        kv_s=kv_bytes / n.kv_heads_split / (n.bandwidth * r.kv_bandwidth),
        fixed_s=launches + r.step_s * n.stages + n.host_layers * r.host_s + traffic,
        sequence_s=r.sequence_s + all_reduce(n, 1.0, r.reduce_s) - traffic,
        host_dense_s=n.host_dense_bytes / host,
        host_experts_s=n.host_expert_bytes / host,
        scale=r.scale,
    )


def step_s(shape: StepShape, batch: Num) -> Num:
    """Return seconds of one decode step of `batch` sequences; experts are read as far as the batch touches them."""
    touched = 1.0 - shape.missed**batch
    work = smooth_max(shape.dense_s + shape.experts_s * touched, shape.compute_s * batch)
    host = shape.host_dense_s + shape.host_experts_s * touched
    return shape.scale * (work + host + shape.fixed_s + (shape.kv_s + shape.sequence_s) * batch)


def decode_step_s(n: Numbers, r: DecodeRates, kv_bytes: Num, batch: Num) -> Num:
    """Return seconds of one decode step of `batch` sequences that read `kv_bytes` of cache each."""
    return step_s(step_shape(n, r, kv_bytes), batch)


def prefill_terms(n: Numbers, r: PrefillRates, tokens: Num, depth: Num, window_seen: Num, chunk: Num) -> dict[str, Num]:
    """Return the terms of processing `tokens` prompt tokens behind `depth` cached ones, in seconds.

    `window_seen` is the mean number of tokens a window layer looks at; `chunk` the tokens of one pass, so that
    weights are read tokens/chunk times.
    """
    passes = tokens / chunk
    per_expert = chunk * n.top_k / n.num_experts
    touched = touched_share(n.num_experts, n.top_k, chunk)
    peak = n.peak * r.compute * n.tensor
    dense_flop = 2.0 * (n.dense_params - n.head_params) * chunk * (1.0 + r.half_tokens / chunk)
    expert_flop = 2.0 * n.expert_params * chunk * (1.0 + r.half_tokens / per_expert) / r.expert_compute
    host_bytes = n.host_dense_bytes + n.host_expert_bytes * touched
    here = (n.dense_bytes + n.expert_bytes) / (
        n.dense_bytes + n.expert_bytes + n.host_dense_bytes + n.host_expert_bytes
    )
    host_flop = 2.0 * (n.dense_params + n.expert_params) * chunk * (1.0 - here)
    copied = host_bytes / (n.host_bandwidth * r.host_bandwidth)
    computed = host_flop / (n.host_bandwidth * r.host_compute)
    attention = 4.0 * (n.attention_width * (depth + tokens / 2.0) + n.window_width * window_seen)
    return {
        "compute": passes * (dense_flop * here + expert_flop * here) / peak,
        "weights": passes * (n.dense_bytes + n.expert_bytes * touched) / n.tensor / (n.bandwidth * r.bandwidth),
        "attention": tokens * attention / (n.peak * r.attention * n.tensor),
        "layers": passes * (n.layers * r.layer_s + r.chunk_s * n.stages),
        "linear": tokens * n.linear_layers * r.linear_s * 1e-3,
        "traffic": passes * all_reduce(n, chunk, r.reduce_s),
        "host": passes * copied * computed / (copied + computed + 1e-30),
    }


def prefill_s(n: Numbers, r: PrefillRates, tokens: Num, depth: Num, window_seen: Num, chunk: Num) -> Num:
    """Return seconds of processing a prompt of one request."""
    t = prefill_terms(n, r, tokens, depth, window_seen, chunk)
    work = smooth_max(t["compute"], t["weights"])
    return r.scale * (work + t["attention"] + t["layers"] + t["linear"] + t["traffic"] + t["host"])


def closed_ttft_s(r: PrefillRates, prompt_s: Num, step_s: Num, first_step_s: Num, output: Num, batch: Num) -> Num:
    """Return the mean time to first token when `batch` clients each send the next request after the last answer.

    Formula: own prompt, slowed by the decoding it shares passes with; the first step; half of the running step;
    and a share of the other clients' prompts.
    """
    cycle = output * step_s + batch * prompt_s
    busy = batch * prompt_s / cycle
    others = batch - 1.0
    return prompt_s * (1.0 + 0.5 * busy + r.burst * others) + first_step_s + 0.5 * step_s * others / batch


def tpot_s(step_s: Num, prompt_s: Num, output: Num, batch: Num) -> Num:
    """Return seconds per output token of one request among `batch`: the others' prompts run between its tokens."""
    return step_s + (batch - 1.0) * prompt_s / output


def requests_per_s(step_s: Num, prompt_s: Num, output: Num, batch: Num) -> Num:
    """Return requests per second that a replica completes at a batch: 1/(prefill + output·t(B)/B)."""
    return batch / (output * step_s + batch * prompt_s)
