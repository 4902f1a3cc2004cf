from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from planner.domain.errors import InputError
from planner.importers.gguf import facts_of, model_spec, read_gguf


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_of(value: Any) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    kind, code = (7, "<?") if isinstance(value[0], bool) else (4, "<I")
    return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(struct.pack(code, item) for item in value)


def gguf(metadata: dict[str, Any], tensors: dict[str, tuple[int, ...]]) -> bytes:
    """A GGUF v3 with f32 tensors, by the format's documentation (ggml docs/gguf.md)."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        out += text(key) + value_of(value)
    offset = 0
    for name, shape in tensors.items():
        out += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", size) for size in shape)
        out += struct.pack("<IQ", 0, offset)
        count = 1
        for size in shape:
            count *= size
        offset += -(-count * 4 // 32) * 32
    out += b"\0" * (-len(out) % 32)
    return out + b"\0" * offset


def metadata(architecture: str = "llama", **more: Any) -> dict[str, Any]:
    base = {
        "block_count": 4, "embedding_length": 64, "feed_forward_length": 128, "attention.head_count": 8,
        "attention.head_count_kv": 2, "context_length": 2048,
    }  # fmt: skip
    section = {f"{architecture}.{key.replace('__', '.')}": value for key, value in {**base, **more}.items()}
    return {"general.architecture": architecture, "general.name": "Tiny 1M", "general.file_type": 0, **section}


TENSORS = {"token_embd.weight": (64, 100), "blk.0.attn_q.weight": (64, 64)}


@pytest.fixture
def write(tmp_path: Path):
    def make(data: bytes) -> Path:
        path = tmp_path / "tiny-F32.gguf"
        path.write_bytes(data)
        return path

    return make


def spec_of(path: Path):
    return model_spec(facts_of(read_gguf(path)), "tiny", source="test", as_of="2026-12-01", file=str(path))


def test_a_dense_model(write) -> None:
    spec = spec_of(write(gguf(metadata(), TENSORS)))
    assert (spec.layers, spec.hidden_size, spec.kv_heads) == (4, 64, 2)
    assert spec.head_dim == 8  # 64 / 8 heads
    assert spec.params_total_b == pytest.approx((64 * 100 + 64 * 64) / 1e9)
    assert (spec.full_layers, spec.sliding_layers, spec.linear_layers) == (4, 0, 0)
    assert spec.tied_embeddings  # no output.weight
    assert spec.native_quant == "f32"
    assert spec.aliases == ("Tiny 1M", "tiny-F32")


def test_experts_count_by_use(write) -> None:
    tensors = {**TENSORS, "output.weight": (64, 100), "blk.0.ffn_up_exps.weight": (64, 32, 8)}
    more = {"expert_count": 8, "expert_used_count": 2, "expert_feed_forward_length": 32}
    spec = spec_of(write(gguf(metadata("qwen3moe", **more), tensors)))
    rest = 64 * 100 * 2 + 64 * 64
    experts = 64 * 32 * 8
    assert spec.params_total_b == pytest.approx((rest + experts) / 1e9)
    assert spec.params_active_b == pytest.approx((rest + experts * 2 / 8) / 1e9)
    assert (spec.num_experts, spec.experts_per_token, spec.moe_intermediate_size) == (8, 2, 32)
    assert not spec.tied_embeddings


@pytest.mark.parametrize(
    ("architecture", "more", "expected"),
    [
        # Every sixth layer of 12 is global: 2 full, 10 windows.
        ("gemma3", {"block_count": 12, "attention__sliding_window": 512}, (2, 10, 0)),
        ("gpt-oss", {"attention__sliding_window": 128}, (2, 2, 0)),
        ("gemma3", {"attention__sliding_window": 512, "attention__sliding_window_pattern": [True, True, True, False]},
         (1, 3, 0)),
        ("gemma3", {"attention__sliding_window": 512, "attention__sliding_window_pattern": 2}, (2, 2, 0)),
        ("qwen3next", {}, (1, 0, 3)),
        ("qwen3next", {"full_attention_interval": 2}, (2, 0, 2)),
        # A layer with no KV heads keeps a state.
        ("jamba", {"attention__head_count_kv": [0, 2, 0, 0]}, (1, 0, 3)),
        ("llama", {"attention__sliding_window": 512}, (4, 0, 0)),
    ],
)  # fmt: skip
def test_layer_kinds(write, architecture: str, more: dict[str, Any], expected: tuple[int, int, int]) -> None:
    spec = spec_of(write(gguf(metadata(architecture, **more), TENSORS)))
    assert (spec.full_layers, spec.sliding_layers, spec.linear_layers) == expected
    assert spec.kv_heads == 2


def test_identity_follows_content_not_name(tmp_path: Path) -> None:
    data = gguf(metadata(), TENSORS)
    for name, content in (("a.gguf", data), ("b.gguf", data), ("c.gguf", data + b"\0" * 32)):
        (tmp_path / name).write_bytes(content)
    first, same, other = (read_gguf(tmp_path / name).header_sha256 for name in ("a.gguf", "b.gguf", "c.gguf"))
    assert first == same != other


def test_a_header_without_a_shape_names_what_it_lacks(write) -> None:
    path = write(gguf({"general.architecture": "clip"}, TENSORS))
    with pytest.raises(InputError, match=r"block_count, embedding_length, attention\.head_count_kv"):
        spec_of(path)


def test_folders_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder"):
        read_gguf(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        read_gguf(tmp_path / "none.gguf")
    with pytest.raises(InputError):
        read_gguf(Path("a\0b.gguf"))


WHOLE = gguf(metadata(), TENSORS)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, len(WHOLE) - 1))
def test_every_truncation_is_told(write, cut: int) -> None:
    with pytest.raises(InputError, match=r"tiny-F32\.gguf"):
        read_gguf(write(WHOLE[:cut]))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.integers(0, 700), junk=st.binary(min_size=1, max_size=12))
def test_damage_gives_a_model_or_one_sentence(write, where: int, junk: bytes) -> None:
    where = min(where, len(WHOLE) - len(junk))
    path = write(WHOLE[:where] + junk + WHOLE[where + len(junk) :])
    try:
        spec = spec_of(path)
    except InputError as error:
        assert "tiny" in str(error)
    else:
        assert spec.layers >= spec.full_layers + spec.sliding_layers + spec.linear_layers > 0
