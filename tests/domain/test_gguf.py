from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.domain.errors import InputError
from planner.domain.gguf import SkippedArray, parse_gguf


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def key(name: str, kind: int, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", kind) + value


def u32(value: int) -> bytes:
    return struct.pack("<I", value)


def tensor(name: str, shape: tuple[int, ...], kind: int, offset: int) -> bytes:
    dims = b"".join(struct.pack("<Q", n) for n in shape)
    return text(name) + u32(len(shape)) + dims + u32(kind) + struct.pack("<Q", offset)


def build(keys: list[bytes], tensors: list[bytes], data: int, version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys)) + b"".join(keys) + b"".join(tensors)
    return head + b"\0" * (-len(head) % 32 + data)


KEYS = [
    key("general.architecture", 8, text("llama")),
    key("general.name", 8, text("Tiny")),
    key("general.file_type", 4, u32(15)),
    key("llama.block_count", 4, u32(2)),
    key("llama.embedding_length", 4, u32(256)),
    key("llama.attention.head_count", 4, u32(4)),
    key("llama.attention.head_count_kv", 9, u32(4) + struct.pack("<Q", 2) + u32(1) + u32(2)),
    key("tokenizer.ggml.tokens", 9, u32(8) + struct.pack("<Q", 2000) + text("ab") * 2000),
]
# q4_k: blocks of 256 weights in 144 bytes: 256 x 3 = 3 blocks = 432 bytes. f32: 256 x 4 = 1024 bytes at offset 448.
TENSORS = [tensor("a", (256, 3), 12, 0), tensor("b", (256,), 0, 448)]
GOOD = build(KEYS, TENSORS, 448 + 1024)


def parse(data: bytes):
    return parse_gguf(io.BytesIO(data), "x.gguf")


def test_shape_sizes_and_quant():
    header = parse(GOOD)
    assert header.params == 256 * 3 + 256
    assert header.tensor_bytes == 432 + 1024
    assert header.quant == "q4_k_m"
    facts = header.facts()
    # Heads differ by layer: the largest counts. Head dimension 256 / 4.
    assert (facts["layers"], facts["kv_heads"], facts["head_dim"], facts["vocab_size"]) == (2, 2, 64, 2000)
    assert header.metadata["tokenizer.ggml.tokens"] == SkippedArray(2000)


def test_identity_changes_with_content_and_size_but_not_with_the_weights():
    other = bytearray(GOOD)
    other[-1] ^= 1
    assert parse(bytes(other)).header_sha256 == parse(GOOD).header_sha256
    assert parse(GOOD + b"\0").header_sha256 != parse(GOOD).header_sha256
    renamed = build([*KEYS[:1], key("general.name", 8, text("Tinz")), *KEYS[2:]], TENSORS, 448 + 1024)
    assert parse(renamed).header_sha256 != parse(GOOD).header_sha256


def test_mxfp4_bulk_outranks_the_declared_type():
    tensors = [tensor("e", (32, 100), 39, 0)]
    assert parse(build([*KEYS[:1], key("general.file_type", 4, u32(1))], tensors, 1700)).quant == "mxfp4"


@pytest.mark.parametrize("cut", [0, 3, 10, 24, 60, 500, len(GOOD) - 1])
def test_truncated_files_are_refused(cut):
    with pytest.raises(InputError, match=r"x\.gguf"):
        parse(GOOD[:cut])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\x03\x04" + GOOD[4:], "not a GGUF"),
        (build(KEYS, TENSORS, 2000, version=9), "version 9"),
        (b"GGUF" + struct.pack(">I", 3) + GOOD[8:], "big-endian"),
        (build([KEYS[0], KEYS[0]], [], 0), "twice"),
        (build([key("a", 77, b"")], [], 0), "unknown metadata type"),
        (build([key("a", 9, u32(8) + struct.pack("<Q", 2**60))], [], 0), "array items"),
        (build([key("a", 8, struct.pack("<Q", 2**62))], [], 64), "bytes of text"),
        (build([key("a", 9, (u32(9) + struct.pack("<Q", 1)) * 9)], [], 200), "nested"),
        (build([], [tensor("t", (2**40, 2**20), 0, 0)], 0), "truncated"),
        (build([], [tensor("t", (100,), 12, 0)], 400), "blocks"),
        (build([], [tensor("t", (32,), 31, 0)], 400), "unknown type"),
        (build([key("general.alignment", 4, u32(7))], [], 0), "power of two"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**50, 0) + b"\0" * 64, "tensors"),
    ],
)
def test_hostile_files_are_refused(data, words):
    with pytest.raises(InputError, match=words):
        parse(data)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_damage_is_an_input_error_or_a_header(data):
    raw = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, 420))] = data.draw(st.integers(0, 255))
    try:
        header = parse(bytes(raw))
    except InputError:
        return
    assert header.tensor_bytes <= len(raw)
    header.facts()


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_behind_the_magic(tail):
    try:
        parse(b"GGUF\x03\0\0\0" + tail)
    except InputError:
        return
