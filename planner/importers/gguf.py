"""GGUF files as models: identity, quantisation mix, and the shape a plan needs. Only headers are read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planner.domain.errors import InputError
from planner.domain.gguf import GgufHeader, parse_gguf
from planner.domain.model import ModelSpec
from planner.domain.quant import fold

FULL_EVERY = {
    "afmoe": 4, "cohere2": 4, "exaone-moe": 4, "exaone4": 4, "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2,
    "mellum": 4, "olmo2": 4, "plamo3": 8,
}  # fmt: skip
"""Architecture -> every n-th layer sees the whole context, the others a window.

Source: load_swa_pattern calls of llama.cpp's src/models, as shipped with llama-cpp-python 0.3.36.
"""
LINEAR_FULL_EVERY = {"minimax-01": 8, "qwen35": 4, "qwen35moe": 4, "qwen3next": 4, "qwen4exp": 4}
"""Architecture -> every n-th layer is full attention, the others keep a constant state (same source)."""


def read_gguf(path: Path) -> GgufHeader:
    """Return a model file's header; raises InputError for a missing, truncated or hostile file."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder, not a GGUF file.")
        if not path.is_file():
            raise InputError(f"{path} does not exist or is not a regular file.")
        with path.open("rb") as stream:
            return parse_gguf(stream, str(path))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error


def facts_of(header: GgufHeader) -> dict[str, Any]:
    """Return the header's facts with the layer kinds and expert sizes that a speed estimate needs."""
    facts = header.facts()
    return {
        **facts,
        **_layer_kinds(header, facts),
        "tied_embeddings": not any(tensor.name == "output.weight" for tensor in header.tensors),
        "moe_intermediate_size": header.arch("expert_feed_forward_length"),
        "shared_experts": header.arch("expert_shared_count"),
        "dense_layers": header.arch("leading_dense_block_count"),
        "qk_rope_head_dim": header.arch("rope.dimension_count"),
        "active_params": _active_params(header, facts),
    }


def model_spec(facts: Mapping[str, Any], model_id: str, *, source: str, as_of: str, file: str = "") -> ModelSpec:
    """Return a model from a GGUF's facts; raises InputError naming what the file does not say.

    Where the file does not tell window layers apart, all layers count as full attention: the KV cache is then
    overestimated, never underestimated.
    """
    layers, hidden = _number(facts, "layers"), _number(facts, "hidden_size")
    kv_heads = _number(facts, "kv_heads")
    if layers is None or hidden is None or kv_heads is None:
        read = {"block_count": layers, "embedding_length": hidden, "attention.head_count_kv": kv_heads}
        lacking = ", ".join(name for name, value in read.items() if value is None)
        raise InputError(f"{file or model_id}: the GGUF header lacks {lacking}; it cannot be planned with.")
    full, sliding, linear = _split(facts, layers)
    params, active = _number(facts, "params"), _number(facts, "active_params")
    experts, lora = _number(facts, "num_experts"), _number(facts, "kv_lora_rank")
    return ModelSpec(
        id=model_id,
        aliases=tuple(_names(facts, model_id, file)),
        params_total_b=params / 1e9 if params else None,
        params_active_b=active / 1e9 if active else (params / 1e9 if params and not experts else None),
        layers=layers,
        hidden_size=hidden,
        intermediate_size=_number(facts, "intermediate_size"),
        moe_intermediate_size=_number(facts, "moe_intermediate_size"),
        attention_heads=_number(facts, "attention_heads"),
        kv_heads=kv_heads,
        head_dim=_number(facts, "head_dim"),
        vocab_size=_number(facts, "vocab_size"),
        attention_type="mla" if lora else "gqa",
        full_layers=full,
        sliding_layers=sliding,
        sliding_window=_number(facts, "sliding_window") if sliding else None,
        linear_layers=linear,
        kv_lora_rank=lora,
        qk_rope_head_dim=_number(facts, "qk_rope_head_dim") if lora else None,
        num_experts=experts,
        experts_per_token=_number(facts, "experts_per_token"),
        shared_experts=_number(facts, "shared_experts"),
        dense_layers=_number(facts, "dense_layers") or 0,
        moe_layers=layers - (_number(facts, "dense_layers") or 0) if experts else None,
        tied_embeddings=bool(facts.get("tied_embeddings", False)),
        native_quant=str(facts.get("quant") or "bf16"),
        max_context=_number(facts, "max_context"),
        params_basis="tensor table of the GGUF file",
        notes="Read from a GGUF header" + (f" ({facts['architecture']})." if facts.get("architecture") else "."),
        source=source,
        as_of=as_of,
    )


def _names(facts: Mapping[str, Any], model_id: str, file: str) -> list[str]:
    stem = re.sub(r"\.gguf$", "", file.replace("\\", "/").rpartition("/")[2], flags=re.IGNORECASE)
    found = [str(name) for name in (facts.get("name"), stem) if name]
    return [name for name in dict.fromkeys(found) if fold(name) != fold(model_id)]


def _number(facts: Mapping[str, Any], key: str) -> int | None:
    value = facts.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**15 else None


def _split(facts: Mapping[str, Any], layers: int) -> tuple[int, int, int]:
    """Return (full, sliding, linear) layers."""
    linear = min(_number(facts, "linear_layers") or 0, layers)
    sliding = _number(facts, "sliding_layers")
    if sliding is None and linear == 0 and "full_layers" not in facts:
        sliding, linear = _by_architecture(str(facts.get("architecture")), facts.get("sliding_window"), layers)
    sliding = min(sliding or 0, layers - linear)
    return layers - sliding - linear, sliding, linear


def _by_architecture(architecture: str, window: Any, layers: int) -> tuple[int, int]:
    """Return (sliding, linear) layers as llama.cpp lays the architecture out."""
    if every := LINEAR_FULL_EVERY.get(architecture):
        return 0, layers - layers // every
    every = FULL_EVERY.get(architecture)
    return (layers - layers // every, 0) if every and window else (0, 0)


def _layer_kinds(header: GgufHeader, facts: Mapping[str, Any]) -> dict[str, int]:
    layers = _number(facts, "layers")
    if layers is None:
        return {}
    sliding, linear = _by_architecture(header.architecture, facts.get("sliding_window"), layers)
    pattern = _per_layer(header, "attention.sliding_window_pattern")
    if facts.get("sliding_window") and isinstance(pattern, int) and pattern > 0:
        sliding = layers - layers // pattern
    elif facts.get("sliding_window") and isinstance(pattern, list) and len(pattern) >= layers:
        sliding = sum(1 for slides in pattern[:layers] if slides)
    recurrent, heads = (_per_layer(header, f"attention.{key}") for key in ("recurrent_layers", "head_count_kv"))
    interval = header.arch("full_attention_interval")
    if isinstance(recurrent, list) and len(recurrent) >= layers:
        linear = sum(1 for keeps_state in recurrent[:layers] if keeps_state)
    elif isinstance(heads, list) and len(heads) >= layers:
        # A layer without KV heads keeps a state instead of a cache.
        linear = sum(1 for count in heads[:layers] if count == 0)
    elif interval and linear:
        linear = layers - layers // interval
    sliding = min(sliding, layers - linear)
    return {"full_layers": layers - sliding - linear, "sliding_layers": sliding, "linear_layers": linear}


def _per_layer(header: GgufHeader, key: str) -> Any:
    return header.metadata.get(f"{header.architecture}.{key}")


def _active_params(header: GgufHeader, facts: Mapping[str, Any]) -> int | None:
    """Return the weights a token touches: all but the experts it does not choose."""
    experts, used = _number(facts, "num_experts"), _number(facts, "experts_per_token")
    if not experts or not used:
        return None
    routed = sum(tensor.elements for tensor in header.tensors if "_exps" in tensor.name)
    return header.params - routed + round(routed * used / experts)
