"""How many weights a model has, by the kind of tensor: kinds differ in precision and in how often they are read."""

from __future__ import annotations

from dataclasses import dataclass

from planner.domain.errors import NoAnswerError
from planner.domain.model import ModelSpec


@dataclass(frozen=True, slots=True)
class Tensors:
    """Weights by kind, in units of one weight. `None`-like unknown kinds are folded into `ffn`."""

    embed: float
    """Input embeddings: looked up, not multiplied."""
    head: float
    """Output head that is stored; 0 when tied to the embeddings."""
    head_read: float
    """Output head that is multiplied each step."""
    attention: float
    """Attention, linear-attention and state-space projections of all layers."""
    ffn: float
    """Dense feed-forward layers, shared experts and routers."""
    experts: float
    """All routed experts of all layers."""
    num_experts: int
    top_k: int
    moe_layers: int
    shaped: bool
    """False where the source gives only totals, so the split into kinds is coarse."""

    @property
    def total(self) -> float:
        """Return all stored weights."""
        return self.embed + self.head + self.attention + self.ffn + self.experts

    @property
    def active_dense(self) -> float:
        """Return the weights outside experts that every token is multiplied with."""
        return self.head_read + self.attention + self.ffn

    @property
    def active_experts(self) -> float:
        """Return the expert weights that one token is multiplied with."""
        return self.experts * self.top_k / self.num_experts if self.num_experts else 0.0


def _attention(model: ModelSpec) -> float | None:
    """Count attention projections: q and o, k and v; MLA from its ranks is left to the published total."""
    if model.attention_heads is None or model.is_mla:
        return None
    head_dim = model.head_dim or model.hidden_size // model.attention_heads
    queries = 2.0 * model.hidden_size * model.attention_heads * head_dim
    keys = 2.0 * model.hidden_size * model.kv_heads * head_dim
    return model.layers * (queries + keys)


def _moe_layers(model: ModelSpec) -> int:
    if not model.is_moe:
        return 0
    return model.moe_layers if model.moe_layers is not None else max(model.layers - model.dense_layers, 0)


def _experts(model: ModelSpec, total: float | None) -> float | None:
    """Count routed experts: three matrices each, two where three would exceed the published total."""
    width = model.moe_intermediate_size
    if not model.is_moe or not width or not model.num_experts:
        return None
    one = float(_moe_layers(model)) * model.num_experts * model.hidden_size * width
    if total and 3 * one > total * 1.02:
        return 2 * one if 2 * one <= total * 1.02 else None
    return 3 * one


def _experts_from_totals(model: ModelSpec, total: float) -> float:
    """Solve total = dense + E·x and active = dense + k·x for the experts E·x."""
    active, number, chosen = model.params_active_b, model.num_experts or 0, model.experts_per_token or 0
    if not active or number <= chosen:
        return total * 0.95
    each = (total - active * 1e9) / (number - chosen)
    return min(max(each * number, 0.0), total)


def count(model: ModelSpec) -> Tensors:
    """Return a model's weights by kind.

    The published total anchors the sum, so that kinds whose shapes are not listed (linear attention, MLA
    projections, shared experts) are counted too. Raises NoAnswerError when neither total nor shapes are known.
    """
    vocab = float((model.vocab_size or 0) * model.hidden_size)
    head = 0.0 if model.tied_embeddings else vocab
    total = model.params_total_b * 1e9 if model.params_total_b else None
    experts = _experts(model, total) if model.is_moe else 0.0
    attention = _attention(model)
    if total is None:
        dense_layers = model.layers - _moe_layers(model)
        if (model.is_moe and experts is None) or attention is None or not vocab:
            raise NoAnswerError(
                f"The number of parameters of {model.id} is unknown.",
                "Add params_total_b to its profile or give file_gib.",
            )
        ffn = 3.0 * model.hidden_size * (model.intermediate_size or 0) * dense_layers
        shared = 3.0 * model.hidden_size * (model.moe_intermediate_size or 0) * _moe_layers(model)
        total = vocab + head + attention + ffn + shared * (model.shared_experts or 0) + (experts or 0.0)
    if experts is None:
        experts = _experts_from_totals(model, total)
    body = max(total - vocab - head - experts, 0.0)
    attention = min(attention, body) if attention is not None else body * (0.85 if experts else 0.25)
    return Tensors(
        embed=vocab, head=head, head_read=vocab, attention=attention, ffn=body - attention, experts=experts,
        num_experts=(model.num_experts or 0) if experts else 0,
        top_k=(model.experts_per_token or 0) if experts else 0,
        moe_layers=_moe_layers(model) if experts else 0,
        shaped=bool(vocab),
    )  # fmt: skip
