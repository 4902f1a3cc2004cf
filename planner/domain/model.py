"""Open-weight models: shapes, attention kinds, experts."""

from __future__ import annotations

from typing import Literal

from planner.domain.base import Frozen

AttentionKind = Literal["full", "sliding", "mla", "linear", "ssm", "sparse", "chunked"]


class ServedAs(Frozen):
    """Who sells these very weights by the token, and under which name."""

    provider: str
    """The price provider's id, such as `deepinfra` or `aws`."""
    model: str
    region: str | None = None


class ModelSpec(Frozen):
    """The shape of one open-weight model, as far as its source gives it."""

    id: str
    hf_repo: str = ""
    aliases: tuple[str, ...] = ()
    params_total_b: float | None = None
    params_active_b: float | None = None
    layers: int
    hidden_size: int
    intermediate_size: int | None = None
    moe_intermediate_size: int | None = None
    attention_heads: int | None = None
    kv_heads: int
    head_dim: int | None = None
    vocab_size: int | None = None
    attention_type: str = "gqa"
    """The source's own wording; the layer counts below are what is computed with."""
    attention_pattern: str = ""
    full_layers: int
    """Layers whose KV grows with the context (full attention or MLA)."""
    sliding_layers: int = 0
    sliding_window: int | None = None
    linear_layers: int = 0
    """Layers with a constant state: linear attention, state space, convolution."""
    full_kv_heads: int | None = None
    """KV heads of the full layers where they differ from the sliding ones."""
    full_head_dim: int | None = None
    full_k_equals_v: bool = False
    """Full layers store K and V once."""
    kv_lora_rank: int | None = None
    qk_rope_head_dim: int | None = None
    kv_compress_ratios: tuple[tuple[int, int], ...] = ()
    """(layers, ratio) pairs: those layers keep one entry per `ratio` tokens beside their window."""
    num_experts: int | None = None
    experts_per_token: int | None = None
    shared_experts: int | None = None
    dense_layers: int = 0
    """Layers without experts in a mixture-of-experts model."""
    moe_layers: int | None = None
    tied_embeddings: bool = False
    native_quant: str = "bf16"
    """The precision in which the weights were published (gpt-oss: mxfp4)."""
    max_context: int | None = None
    licence: str = ""
    licence_checked: str = ""
    params_basis: str = ""
    served_as: tuple[ServedAs, ...] = ()
    notes: str = ""
    source: str
    as_of: str

    @property
    def is_moe(self) -> bool:
        """Say whether tokens choose among experts."""
        return bool(self.num_experts and self.num_experts > 1)

    @property
    def is_mla(self) -> bool:
        """Say whether the KV cache holds a compressed latent instead of heads."""
        return bool(self.kv_lora_rank)
