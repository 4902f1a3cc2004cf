"""The KV cache: bytes per token and layer by the kind of attention."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.errors import InputError, nearest
from planner.domain.model import ModelSpec
from planner.domain.quant import KV_BYTES

STATE_BYTES = 4.0
"""Linear-attention and state-space states are kept in 32 bits."""
STATE_WIDTH = 128
"""Key width of a head's state (Gated DeltaNet, Mamba-2: 128), values twice the hidden size."""
COMPUTE_WINDOW = 512
"""llama.cpp keeps a micro-batch of tokens beside the window in its sliding-window cache."""


@dataclass(frozen=True, slots=True)
class KvShape:
    """Bytes of one sequence's cache. Window layers keep `min(tokens, window)` tokens."""

    full_bytes: float
    """Per token, over all layers that keep the whole context."""
    window_bytes: float
    """Per token, over all layers with a sliding window."""
    window: int
    state_bytes: float
    """Constant, whatever the context."""
    latent: bool
    """A latent (MLA) or single head that every tensor-parallel rank holds whole."""
    splits: int
    """Ranks over which heads can be divided."""
    sparse_limit: int
    """Most tokens that a step reads of the full layers, where an index picks them; 0 = all."""

    def stored(self, tokens: float, window_extra: int = 0) -> float:
        """Return bytes that a sequence of so many tokens occupies."""
        kept = min(tokens, self.window + window_extra) if self.window else 0.0
        return self.full_bytes * tokens + self.window_bytes * kept + self.state_bytes

    def read(self, tokens: float) -> float:
        """Return bytes that one decode step reads for a sequence of so many tokens."""
        kept = min(tokens, self.window) if self.window else 0.0
        seen = min(tokens, self.sparse_limit) if self.sparse_limit else tokens
        index = 0.03 * self.full_bytes * tokens if self.sparse_limit else 0.0
        return self.full_bytes * seen + index + self.window_bytes * kept + self.state_bytes


def kv_bytes_of(kv_quant: str) -> float:
    """Return bytes per cached element; raises InputError naming the nearest."""
    found = KV_BYTES.get(kv_quant.casefold())
    if found is None:
        raise InputError(f"Unknown KV quantisation {kv_quant!r}.", nearest(kv_quant, KV_BYTES))
    return found


def _head_dim(model: ModelSpec) -> int:
    if model.head_dim:
        return model.head_dim
    return model.hidden_size // (model.attention_heads or 1)


def _full_layer(model: ModelSpec) -> float:
    """Return cached elements per token of one layer with the whole context."""
    if model.is_mla:
        return float((model.kv_lora_rank or 0) + (model.qk_rope_head_dim or 0))
    heads = model.full_kv_heads or model.kv_heads
    width = model.full_head_dim or _head_dim(model)
    return heads * width * (1.0 if model.full_k_equals_v else 2.0)


def kv_shape(model: ModelSpec, kv_quant: str) -> KvShape:
    """Return a model's cache shape at a KV quantisation.

    Formula: full attention 2·kv_heads·head_dim per layer and token; MLA kv_lora_rank + rope_dim; K = V once; a
    compressed layer keeps one entry per `ratio` tokens beside its window; linear layers a state of 128 × 2·hidden.
    """
    element = kv_bytes_of(kv_quant)
    window = model.sliding_window or 0
    window_element = 2.0 * model.kv_heads * _head_dim(model)
    full = model.full_layers * _full_layer(model)
    sliding_layers = model.sliding_layers
    compressed = 0.0
    for layers, ratio in model.kv_compress_ratios:
        if ratio > 1:
            compressed += layers * _full_layer(model) / ratio
    if model.kv_compress_ratios and sliding_layers == 0:
        sliding_layers = sum(layers for layers, _ in model.kv_compress_ratios)
    if model.kv_compress_ratios:
        window_element /= 2.0
    splits = 1 if model.is_mla else max(model.full_kv_heads or model.kv_heads, 1)
    state = model.linear_layers * STATE_WIDTH * 2.0 * model.hidden_size * STATE_BYTES
    return KvShape(
        full_bytes=(full + compressed) * element,
        window_bytes=sliding_layers * window_element * element if window else 0.0,
        window=window,
        state_bytes=state if _keeps_matrix_state(model) else state / STATE_WIDTH,
        latent=model.is_mla,
        splits=splits,
        sparse_limit=_sparse_limit(model),
    )


def _keeps_matrix_state(model: ModelSpec) -> bool:
    """Say whether linear layers keep a matrix; short convolutions keep a few columns only."""
    return "conv" not in model.attention_type.casefold() and not model.id.startswith("lfm")


def _sparse_limit(model: ModelSpec) -> int:
    text = f"{model.attention_type} {model.attention_pattern} {model.notes}".casefold()
    return 2048 if model.is_mla and ("indexer" in text or "top-2048" in text) else 0
