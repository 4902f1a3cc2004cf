"""The only user of llama-cpp-python: its low-level API behind a few safe calls.

llama.cpp aborts the process on misuse (such as a batch above n_batch), so every size is checked here first.
"""

from __future__ import annotations

import ctypes
import hashlib
import random
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.domain.errors import ProbeError
from probes.model_file import KV_TYPES
from probes.session import RefusalError


def load_bindings() -> Any:
    """Return the llama_cpp module; raises RefusalError when it is not installed or does not load."""
    try:
        import llama_cpp  # noqa: PLC0415 - optional, and slow to load
    except ImportError:
        raise RefusalError(
            "no_engine",
            "The device probe needs llama-cpp-python, which is not installed.",
            "Install it with `pip install 'inference-planner[device]'` (needs a C++ compiler).",
        ) from None
    except (OSError, RuntimeError) as error:
        message = f"llama-cpp-python is installed but does not load: {error}."
        raise RefusalError("no_engine", message, "Build it again for this machine.") from None
    return llama_cpp


@dataclass(frozen=True)
class ContextSettings:
    """How a context is made; also the identity of a configuration."""

    n_ctx: int
    n_threads: int
    n_batch: int = 2048
    n_ubatch: int = 512
    kv_quant: str = "f16"
    flash_attention: bool = True


@dataclass
class Timing:
    """One timed call."""

    wall_s: float
    cpu_s: float
    major_faults: int | None


@dataclass
class Engine:
    """A loaded model."""

    lib: Any
    model: Any
    n_vocab: int
    load_s: float
    log: deque[str]
    keep: list[Any] = field(default_factory=list, repr=False)

    @classmethod
    def load(cls, lib: Any, path: Path, gpu_layers: int, verbose: bool = False) -> Engine:
        """Load a model into memory without mmap, so that no page is read during a timed step."""
        log: deque[str] = deque(maxlen=40)
        callback = _log_callback(lib, log, verbose)
        lib.llama_log_set(callback, ctypes.c_void_p(0))
        lib.llama_backend_init()
        params = lib.llama_model_default_params()
        params.n_gpu_layers = gpu_layers
        params.load_mode = lib.LLAMA_LOAD_MODE_NONE
        started = time.perf_counter_ns()
        model = lib.llama_model_load_from_file(str(path).encode(), params)
        load_s = (time.perf_counter_ns() - started) / 1e9
        if not model:
            raise ProbeError(f"llama.cpp could not load {path.name}: {_reason(log)}.")
        n_vocab = int(lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model)))
        if n_vocab < 2 or not lib.llama_model_has_decoder(model):
            raise ProbeError(f"{path.name} is no text-generating model.", "Give a decoder model.")
        return cls(lib, model, n_vocab, load_s, log, [callback])

    def context(self, settings: ContextSettings) -> Context:
        """Make a fresh context; raises ProbeError with llama.cpp's reason when it can't."""
        lib = self.lib
        params = lib.llama_context_default_params()
        params.n_ctx = settings.n_ctx
        params.n_batch = settings.n_batch
        params.n_ubatch = settings.n_ubatch
        params.n_threads = params.n_threads_batch = settings.n_threads
        params.type_k = params.type_v = KV_TYPES[settings.kv_quant]
        state = "ENABLED" if settings.flash_attention else "DISABLED"
        params.flash_attn_type = getattr(lib, f"LLAMA_FLASH_ATTN_TYPE_{state}")
        handle = lib.llama_init_from_model(self.model, params)
        if not handle:
            raise ProbeError(f"llama.cpp could not make a context: {_reason(self.log)}.")
        return Context(self, handle)

    def build(self) -> str:
        """Return the engine build: binding, ggml version and commit."""
        ggml = [text for name in ("ggml_version", "ggml_commit") if (text := _ggml_text(self.lib, name))]
        return f"llama-cpp-python {self.lib.__version__}" + (f" (ggml {' '.join(ggml)})" if ggml else "")

    def facts(self) -> dict[str, Any]:
        """Return what the build says about itself."""
        version = getattr(self.lib, "llama_version", None)
        return {
            "llama_cpp_python": self.lib.__version__,
            "llama_cpp": version().decode() if version else None,
            "ggml": _ggml_text(self.lib, "ggml_version"),
            "ggml_commit": _ggml_text(self.lib, "ggml_commit"),
            "system_info": self.lib.llama_print_system_info().decode("utf-8", "replace").strip(),
            "gpu_offload": bool(self.lib.llama_supports_gpu_offload()),
            "libraries_sha256": libraries_sha256(self.lib),
        }

    def close(self) -> None:
        """Free the model."""
        self.lib.llama_model_free(self.model)


class Context:
    """A context with its KV cache. Times are around decode and synchronise together."""

    def __init__(self, engine: Engine, handle: Any) -> None:
        self.engine, self.lib, self.handle = engine, engine.lib, handle
        self.memory = self.lib.llama_get_memory(handle)
        self.n_ctx = int(self.lib.llama_n_ctx(handle))
        self.n_batch = int(self.lib.llama_n_batch(handle))
        self.used = 0

    def queried(self) -> dict[str, int]:
        """Return the sizes that the engine really uses; it may clamp what was asked."""
        lib, handle = self.lib, self.handle
        return {
            "n_ctx": self.n_ctx,
            "n_batch": self.n_batch,
            "n_ubatch": int(lib.llama_n_ubatch(handle)),
            "n_threads": int(lib.llama_n_threads(handle)),
            "n_threads_batch": int(lib.llama_n_threads_batch(handle)),
        }

    def clear(self) -> None:
        """Forget everything, data included."""
        self.lib.llama_memory_clear(self.memory, True)
        self.used = 0

    def rewind(self, depth: int) -> bool:
        """Drop what lies after `depth` tokens; False where the model's state can't be cut."""
        if self.used == depth:
            return True
        if not self.lib.llama_memory_seq_rm(self.memory, 0, depth, -1):
            return False
        self.used = depth
        return True

    def tokens(self, count: int, rng: random.Random) -> Any:
        """Return random token ids."""
        return (self.lib.llama_token * count)(*(rng.randrange(self.engine.n_vocab) for _ in range(count)))

    def decode(self, tokens: Any) -> Timing:
        """Process tokens in chunks of n_batch and wait for the result; raises ProbeError on failure."""
        count = len(tokens)
        if self.used + count > self.n_ctx:
            raise ProbeError(f"{self.used + count} tokens do not fit the context of {self.n_ctx}.")
        token, faults = self.lib.llama_token, _major_faults()
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        for start in range(0, count, self.n_batch):
            size = min(self.n_batch, count - start)
            # The array is passed by address, so a chunk needs no copy.
            chunk = (token * size).from_buffer(tokens, start * ctypes.sizeof(token))
            code = self.lib.llama_decode(self.handle, self.lib.llama_batch_get_one(chunk, size))
            if code:
                raise ProbeError(f"llama_decode failed with code {code}: {_reason(self.engine.log)}.")
        self.lib.llama_synchronize(self.handle)
        wall, cpu = time.perf_counter_ns() - wall, time.process_time_ns() - cpu
        self.used += count
        after = _major_faults()
        return Timing(wall / 1e9, cpu / 1e9, None if faults is None or after is None else after - faults)

    def close(self) -> None:
        """Free the context."""
        self.lib.llama_free(self.handle)


def libraries_sha256(lib: Any) -> str | None:
    """Return one hash over the engine's native libraries: builds of one version differ by compiler flags."""
    folder = Path(lib.__file__).parent / "lib"
    sha = hashlib.sha256()
    try:
        files = [path for path in sorted(folder.iterdir()) if path.is_file() and not path.is_symlink()]
        for path in files:
            with path.open("rb") as stream:
                sha.update(hashlib.file_digest(stream, "sha256").digest())
    except OSError:
        return None
    return sha.hexdigest() if files else None


def _log_callback(lib: Any, log: deque[str], verbose: bool) -> Any:
    def keep(level: int, text: bytes, data: object) -> None:
        line = text.decode("utf-8", "replace").strip() if text else ""
        if not line:
            return
        # ggml's levels: 3 = warning, 4 = error.
        if level >= 3:
            log.append(line)
        if verbose:
            print(line, file=sys.stderr)

    return lib.llama_log_callback(keep)


def _reason(log: deque[str]) -> str:
    lines = [line for line in log if "error" in line.casefold() or "fail" in line.casefold()]
    return (lines[0] if lines else log[-1] if log else "no reason given").rstrip(". ")[:300]


def _ggml_text(lib: Any, name: str) -> str | None:
    folder = Path(lib.__file__).parent / "lib"
    try:
        path = next(path for path in sorted(folder.iterdir()) if "ggml-base" in path.name)
        function = getattr(ctypes.CDLL(str(path)), name)
    except (OSError, StopIteration, AttributeError):
        return None
    function.restype = ctypes.c_char_p
    text: bytes | None = function()
    return text.decode("utf-8", "replace") if text else None


def _major_faults() -> int | None:
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt
