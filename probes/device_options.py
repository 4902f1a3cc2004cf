"""What a person can choose for a device probe, and the checks before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.domain.errors import InputError
from probes.model_file import KV_TYPES, ModelFile

MAX_TOKENS = 1 << 20
BANDWIDTH_S = 4.0
"""What the memory bandwidth takes after the model, of the same time cap."""
FLOAT_KV = ("f16", "f32", "bf16")


@dataclass(frozen=True)
class DeviceOptions:
    """Options of `python -m probes device`. Empty prompts or depths: chosen to fit the time."""

    model: Path
    model_id: str | None = None
    prompts: tuple[int, ...] = ()
    depths: tuple[int, ...] = ()
    threads: int | None = None
    gpu_layers: int = -1
    kv_quant: str = "f16"
    flash_attention: bool = True
    n_batch: int = 2048
    n_ubatch: int = 512
    precision: float = 0.03
    max_seconds: float = 40.0
    seed: int | None = None
    machine: bool = True
    """Also measure the memory bandwidth, after the model is gone."""
    verbose: bool = False

    @property
    def model_seconds(self) -> float:
        """Return the seconds for the model, the rest of the cap being for the memory bandwidth."""
        return self.max_seconds - (min(BANDWIDTH_S, self.max_seconds / 5) if self.machine else 0.0)

    @property
    def longest(self) -> int:
        """Return the most tokens that any case will hold, chosen ones at their usual size."""
        return max((*self.prompts, *self.depths, 512))

    def settings(self, threads: int) -> dict[str, Any]:
        """Return what is stored with the record."""
        return {
            "precision": self.precision,
            "max_seconds": self.max_seconds,
            "threads": threads,
            "threads_chosen_by": "user" if self.threads else "physical cores, affinity and quota",
            "gpu_layers": self.gpu_layers,
            "kv_quant": self.kv_quant,
            "flash_attention_requested": self.flash_attention,
            "definitions": "prefill = prompt tokens / wall, decode = 1 / median step; random ids",
        }

    def check(self) -> None:
        """Raise InputError, naming the flag, for a value that the engine could not take."""
        counts = {"--threads": self.threads, "--batch": self.n_batch, "--ubatch": self.n_ubatch}
        for flag, value in counts.items():
            if value is not None and not 1 <= value <= 65_536:
                raise InputError(f"{flag} is {value}; it must lie between 1 and 65536.")
        if not 0.001 <= self.precision <= 0.5:
            raise InputError(f"--precision is {self.precision}; give a fraction such as 0.03.")
        if not 1 <= self.max_seconds <= 86_400:
            raise InputError(f"--max-seconds is {self.max_seconds}; it must lie between 1 and 86400.")
        if self.gpu_layers < -1:
            raise InputError(f"--gpu-layers is {self.gpu_layers}; -1 means all layers.")
        if self.kv_quant not in KV_TYPES:
            raise InputError(f"--kv-quant {self.kv_quant!r} is unknown.", f"Known: {', '.join(KV_TYPES)}.")
        if self.kv_quant not in FLOAT_KV and not self.flash_attention:
            raise InputError("A quantised KV cache needs flash attention.", "Leave out --no-flash-attention.")

    def check_lengths(self, model: ModelFile) -> None:
        """Raise InputError for a prompt or depth beyond the model's context."""
        most = min(model.header.facts()["max_context"] or MAX_TOKENS, MAX_TOKENS) - 1
        for flag, values, least in (("--prompts", self.prompts, 1), ("--depths", self.depths, 0)):
            for value in values:
                if not least <= value <= most:
                    raise InputError(f"{flag} has {value}; this model takes {least} to {most}.")
