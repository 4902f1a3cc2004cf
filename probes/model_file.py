"""The model on disk: its header, all parts of a split file, and whether it fits before anything is loaded."""

from __future__ import annotations

import hashlib
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.domain.errors import InputError
from planner.domain.ggml_types import GGML_TYPES
from planner.domain.gguf import GgufHeader, parse_gguf
from planner.domain.quant import KV_BYTES, fold
from planner.domain.units import gib
from probes.session import RefusalError

COMPUTE_BYTES = 300 * 1024**2
"""Room for the engine's own buffers: graph, logits and scratch of a small context."""
SPARE_SHARE = 0.05
"""Share of the available memory left to the rest of the system."""


@dataclass(frozen=True)
class ModelFile:
    """A readable GGUF model, possibly in several parts."""

    path: Path
    header: GgufHeader
    n_bytes: int
    tensor_bytes: int
    params: int
    sha256: str
    """Of all parts' metadata, tensor tables and sizes."""

    @property
    def id(self) -> str:
        """Return an id from the name inside the file, such as `smollm2-135m`, else from the file's name."""
        base, size = (self.header.metadata.get(f"general.{key}") for key in ("basename", "size_label"))
        if isinstance(base, str) and base:
            extra = isinstance(size, str) and size and size.casefold() not in base.casefold()
            return fold(f"{base}-{size}" if extra else base)
        return fold(self.header.name or self.path.stem)

    def facts(self) -> dict[str, Any]:
        """Return the header's facts with sizes over all parts."""
        return {
            **self.header.facts(), "params": self.params, "tensor_bytes": self.tensor_bytes,
            "file_bytes": self.n_bytes,
        }  # fmt: skip

    def kv_bytes(self, tokens: int, kv_quant: str) -> int:
        """Return the bytes of a KV cache of `tokens`: an upper bound, all layers taken as full attention."""
        facts = self.header.facts()
        layers, heads, dim = facts["layers"], facts["kv_heads"], facts["head_dim"]
        if not (layers and heads and dim):
            return 0
        return int(2 * layers * heads * dim * tokens * KV_BYTES[kv_quant])


def open_model(path: Path) -> ModelFile:
    """Read the header of a model; raises InputError for a missing, unreadable or broken file or part."""
    headers = [_header(part) for part in _parts(path)]
    sha = hashlib.sha256("".join(header.header_sha256 for header in headers).encode())
    return ModelFile(
        path=path.absolute(),
        header=headers[0],
        n_bytes=sum(header.file_bytes for header in headers),
        tensor_bytes=sum(header.tensor_bytes for header in headers),
        params=sum(header.params for header in headers),
        sha256=headers[0].header_sha256 if len(headers) == 1 else sha.hexdigest(),
    )


def check_memory(
    model: ModelFile,
    *,
    tokens: int,
    kv_quant: str,
    gpu_share: float,
    host_bytes: int | None,
    gpu_bytes: int | None,
) -> dict[str, float]:
    """Raise RefusalError when the model cannot fit; return the sizes in GiB that were compared.

    `gpu_share` is the share of the layers that the engine will put on GPUs.
    """
    need = model.tensor_bytes + model.kv_bytes(tokens, kv_quant)
    places = (("GPU memory", gpu_share, gpu_bytes), ("memory", 1 - gpu_share, host_bytes))
    for place, share, free in places:
        wanted = need * share + COMPUTE_BYTES
        if share > 0 and free is not None and wanted > free * (1 - SPARE_SHARE):
            raise RefusalError(
                "too_big",
                f"{model.path.name} needs {gib(wanted):.1f} GiB of {place}, {gib(free):.1f} GiB are free.",
                "Close other programs, take a smaller quantisation, or set --gpu-layers.",
                needed_gib=round(gib(wanted), 2),
                available_gib=round(gib(free), 2),
            )
    return {
        "needed_gib": round(gib(need + COMPUTE_BYTES), 3),
        "weights_gib": round(gib(model.tensor_bytes), 3),
    }


def _header(path: Path) -> GgufHeader:
    try:
        if not path.is_file():
            raise InputError(f"There is no model file {path}.", "Give the path of a .gguf file with --model.")
        with path.open("rb") as stream:
            return parse_gguf(stream, path.name)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (struct.error, MemoryError, OverflowError) as error:
        raise InputError(f"{path.name} is not a usable GGUF file: {error}.") from None


def _parts(path: Path) -> list[Path]:
    found = re.fullmatch(r"(.*-)(\d{5})-of-(\d{5})(\.gguf)", path.name)
    if not found:
        return [path]
    stem, first, count, end = found.groups()
    if int(first) != 1:
        hint = f"Give part {stem}00001-of-{count}{end}."
        raise InputError(f"{path.name} is a later part of a split model.", hint)
    if int(count) > 999:
        raise InputError(f"{path.name} claims {int(count)} parts.")
    return [path.with_name(f"{stem}{part:05d}-of-{count}{end}") for part in range(1, int(count) + 1)]


KV_TYPES = {kind.name: number for number, kind in GGML_TYPES.items() if kind.name in KV_BYTES}
"""KV cache type -> ggml's number."""
