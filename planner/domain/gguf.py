"""Reads the header of a GGUF model file: metadata and tensor table, never the weights.

Every length in the file is checked against a limit and against what is left of the file before anything is
read or allocated, so that a truncated or hostile file costs neither memory nor time.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from planner.domain.errors import InputError
from planner.domain.ggml_types import FILE_TYPES, GGML_TYPES

MAX_HEADER_BYTES = 128 * 1024**2
MAX_KEYS = 65_536
MAX_TENSORS = 262_144
MAX_ARRAY_ITEMS = 4_000_000
MAX_NAME_BYTES = 65_535
KEPT_ITEMS = 1024
"""Longer arrays (vocabularies) are skipped; only their length is kept."""

_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True)
class GgufTensor:
    """One row of the tensor table."""

    name: str
    shape: tuple[int, ...]
    type: str
    offset: int
    n_bytes: int

    @property
    def elements(self) -> int:
        """Return the number of weights."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class SkippedArray:
    """A long array whose items were not kept."""

    length: int


@dataclass(frozen=True)
class GgufHeader:
    """What a GGUF file says about itself."""

    version: int
    metadata: dict[str, Any] = field(repr=False)
    tensors: tuple[GgufTensor, ...] = field(repr=False)
    file_bytes: int
    header_sha256: str
    """SHA-256 over metadata, tensor table and file size: the model's identity without reading its weights."""

    @property
    def architecture(self) -> str:
        """Return `general.architecture`, such as `llama`."""
        value = self.metadata.get("general.architecture")
        return value if isinstance(value, str) else "unknown"

    @property
    def name(self) -> str | None:
        """Return the name that the file's maker gave it."""
        value = self.metadata.get("general.name")
        return value if isinstance(value, str) and value else None

    @property
    def params(self) -> int:
        """Return the number of weights of all tensors."""
        return sum(tensor.elements for tensor in self.tensors)

    @property
    def tensor_bytes(self) -> int:
        """Return the bytes of all tensors, as stored."""
        return sum(tensor.n_bytes for tensor in self.tensors)

    @property
    def bytes_by_type(self) -> dict[str, int]:
        """Return tensor type -> bytes, largest first."""
        sums: Counter[str] = Counter()
        for tensor in self.tensors:
            sums[tensor.type] += tensor.n_bytes
        return dict(sums.most_common())

    @property
    def quant(self) -> str:
        """Return the quantisation: the declared file type, or the type that holds most bytes."""
        by_type = self.bytes_by_type
        bulk = next(iter(by_type), "unknown")
        # Makers of mxfp4 files often declare the type of the few tensors around the experts.
        if bulk == "mxfp4":
            return bulk
        declared = self.metadata.get("general.file_type")
        return FILE_TYPES.get(declared, bulk) if isinstance(declared, int) else bulk

    def arch(self, key: str) -> int | None:
        """Return an integer of the architecture's section, the largest where it differs by layer."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        if isinstance(value, list):
            numbers = [item for item in value if isinstance(item, int)]
            return max(numbers, default=None)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def facts(self) -> dict[str, Any]:
        """Return the shape as plain values; an absent one is None."""
        heads, hidden = self.arch("attention.head_count"), self.arch("embedding_length")
        head_dim = self.arch("attention.key_length") or (hidden // heads if heads and hidden else None)
        vocab = self.metadata.get("tokenizer.ggml.tokens")
        n_vocab = vocab.length if isinstance(vocab, SkippedArray) else len(vocab) if vocab else None
        return {
            "name": self.name, "basename": self.metadata.get("general.basename"),
            "size_label": self.metadata.get("general.size_label"), "architecture": self.architecture,
            "params": self.params, "tensor_bytes": self.tensor_bytes, "file_bytes": self.file_bytes,
            "layers": self.arch("block_count"), "hidden_size": hidden,
            "intermediate_size": self.arch("feed_forward_length"), "attention_heads": heads,
            "kv_heads": self.arch("attention.head_count_kv") or heads, "head_dim": head_dim,
            "vocab_size": self.arch("vocab_size") or n_vocab, "max_context": self.arch("context_length"),
            "sliding_window": self.arch("attention.sliding_window"),
            "kv_lora_rank": self.arch("attention.kv_lora_rank"), "num_experts": self.arch("expert_count"),
            "experts_per_token": self.arch("expert_used_count"), "quant": self.quant,
            "bytes_by_type": self.bytes_by_type, "split_count": self.metadata.get("split.count"),
        }  # fmt: skip


class _Reader:
    """A counted, hashed, bounded view of a stream."""

    def __init__(self, stream: BinaryIO, label: str) -> None:
        self.stream, self.label = stream, label
        self.size = stream.seek(0, 2)
        stream.seek(0)
        self.at = 0
        self.limit = min(self.size, MAX_HEADER_BYTES)
        self.items = 0
        self.sha = hashlib.sha256()

    def fault(self, what: str) -> InputError:
        hint = "Is the file complete? Compare its size or download it again."
        return InputError(f"{self.label}: {what}.", hint)

    def need(self, n_bytes: int) -> None:
        if self.at + n_bytes > self.limit:
            why = "the file is truncated" if self.limit == self.size else "the header is larger than 128 MiB"
            raise self.fault(f"{why} (at byte {self.at}, {n_bytes} more needed)")

    def take(self, n_bytes: int) -> bytes:
        self.need(n_bytes)
        data = self.stream.read(n_bytes)
        if len(data) != n_bytes:
            raise self.fault(f"the file ends at byte {self.at + len(data)}")
        self.sha.update(data)
        self.at += n_bytes
        return data

    def scalar(self, code: str) -> Any:
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def count(self, limit: int, what: str) -> int:
        value = int(self.scalar("<Q"))
        if value > limit:
            raise self.fault(f"{value} {what} are more than any real model has")
        return value

    def string(self, limit: int = MAX_HEADER_BYTES) -> str:
        return self.take(self.count(limit, "bytes of text")).decode("utf-8", "replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            return self.array(depth + 1)
        if kind not in _SCALARS:
            raise self.fault(f"unknown metadata type {kind} at byte {self.at}")
        if kind == 7:
            return self.take(1) != b"\0"
        return self.scalar(_SCALARS[kind])

    def array(self, depth: int) -> list[Any] | SkippedArray:
        if depth > 4:
            raise self.fault("metadata arrays are nested too deeply")
        kind = int(self.scalar("<I"))
        length = self.count(MAX_ARRAY_ITEMS, "array items")
        self.items += length
        if self.items > MAX_ARRAY_ITEMS:
            raise self.fault("its metadata has more array items than any real model")
        if kind in _SCALARS and length > KEPT_ITEMS:
            self.take(struct.calcsize(_SCALARS[kind]) * length)
            return SkippedArray(length)
        kept = []
        for index in range(length):
            item = self.value(kind, depth)
            if index < KEPT_ITEMS:
                kept.append(item)
        return kept if length <= KEPT_ITEMS else SkippedArray(length)


def parse_gguf(stream: BinaryIO, label: str = "GGUF file") -> GgufHeader:
    """Parse the header of a GGUF file from a seekable binary stream; the weights are not read.

    Raises InputError, naming `label`, for anything but a complete, little-endian GGUF of version 2 or 3.
    Format: ggml's docs/gguf.md (versions 2 and 3).
    """
    reader = _Reader(stream, label)
    version = _version(reader)
    n_tensors = reader.count(MAX_TENSORS, "tensors")
    n_keys = reader.count(MAX_KEYS, "metadata keys")
    metadata: dict[str, Any] = {}
    for _ in range(n_keys):
        key = reader.string(MAX_NAME_BYTES)
        if key in metadata:
            raise reader.fault(f"the metadata key {key[:80]!r} occurs twice")
        metadata[key] = reader.value(int(reader.scalar("<I")))
    tensors = tuple(_tensor(reader) for _ in range(n_tensors))
    _check_extent(reader, tensors, metadata.get("general.alignment", 32))
    reader.sha.update(struct.pack("<Q", reader.size))
    return GgufHeader(version, metadata, tensors, reader.size, reader.sha.hexdigest())


def _version(reader: _Reader) -> int:
    if reader.size < 24:
        raise reader.fault(f"{reader.size} bytes are too few for a GGUF file")
    if (magic := reader.take(4)) != b"GGUF":
        raise InputError(f"{reader.label} is not a GGUF file (it starts with {magic!r}).")
    version = int(reader.scalar("<I"))
    if version in (2, 3):
        return version
    if version & 0xFFFF == 0:
        raise InputError(f"{reader.label} is a big-endian GGUF file.", "Convert it to little-endian first.")
    raise InputError(f"{reader.label} has GGUF version {version}; versions 2 and 3 are known.")


def _tensor(reader: _Reader) -> GgufTensor:
    name = reader.string(MAX_NAME_BYTES)
    n_dims = int(reader.scalar("<I"))
    if n_dims > 4:
        raise reader.fault(f"tensor {name[:80]!r} has {n_dims} dimensions")
    shape = tuple(int(reader.scalar("<Q")) for _ in range(n_dims))
    kind = int(reader.scalar("<I"))
    if kind not in GGML_TYPES:
        raise reader.fault(f"tensor {name[:80]!r} has the unknown type {kind}")
    ggml = GGML_TYPES[kind]
    if shape and shape[0] % ggml.block:
        raise reader.fault(f"tensor {name[:80]!r}: rows of {shape[0]} do not divide into {ggml.name} blocks")
    n_bytes = math.prod(shape) // ggml.block * ggml.n_bytes
    return GgufTensor(name, shape, ggml.name, int(reader.scalar("<Q")), n_bytes)


def _check_extent(reader: _Reader, tensors: tuple[GgufTensor, ...], alignment: object) -> None:
    if not isinstance(alignment, int) or not 0 < alignment <= 1 << 20 or alignment & (alignment - 1):
        raise reader.fault(f"general.alignment is {alignment!r}, not a power of two")
    data = -(-reader.at // alignment) * alignment
    end = max((data + tensor.offset + tensor.n_bytes for tensor in tensors), default=0)
    if end > reader.size:
        raise reader.fault(f"its tensors need {end} bytes, the file has {reader.size}: it is truncated")
