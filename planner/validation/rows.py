"""Published measurements as questions to the estimator: one row of a table becomes a setup, its axes and an answer."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from planner.domain.errors import InputError, NoAnswerError
from planner.domain.library import Library
from planner.domain.quant import parse_quant
from planner.performance.estimate import placed
from planner.performance.setup import Parallel, Setup

Answer = Literal["decode_per_request", "prefill", "tpot", "ttft", "aggregate_output"]
SINGLE_STREAM = ("measured_llamacpp_open.csv", "measured_more_open.csv")
SERVING = ("measured_serving_open.csv", "measured_more_serving_open.csv")
CHAT_TOKENS = 200
"""Tokens that a row called "short chat" generates: between 100 and 300 (measurements/README.md)."""
Row = Mapping[str, str]


@dataclass(frozen=True)
class Measurement:
    """One measured value with everything needed to predict it."""

    setup: Setup
    kind: Answer
    measured: float
    context_tokens: float
    prompt_tokens: float | None
    output_tokens: float | None
    concurrency: float
    """0 = as many as fit."""
    confidence: str
    group: str
    """Hardware × model as the source names them: the unit that gets one vote."""
    date: str
    source: str
    row: int

    @property
    def device(self) -> str:
        """Return the device's id."""
        return self.setup.hardware.id

    @property
    def model(self) -> str:
        """Return the model's id."""
        return self.setup.model.id

    @property
    def phase(self) -> str:
        """Return decode, prefill, depth, tpot, ttft or aggregate: how scores are broken down."""
        if self.kind == "decode_per_request" and self.concurrency > 1:
            return "aggregate"
        if self.kind == "decode_per_request":
            return "depth" if self.context_tokens >= 8192 else "decode"
        return "aggregate" if self.kind == "aggregate_output" else self.kind

    @property
    def sort(self) -> str:
        """Return dense, moe, hybrid or cpu."""
        if self.setup.hardware.kind == "cpu":
            return "cpu"
        if self.setup.cpu_experts_layers or self.setup.gpu_layers is not None:
            return "hybrid"
        return "moe" if self.setup.model.is_moe else "dense"


def load(folder: Path, library: Library) -> tuple[list[Measurement], dict[str, int]]:
    """Return every usable measurement of the tables in a folder, and how many rows were left out, by reason."""
    found: list[Measurement] = []
    skipped: dict[str, int] = {}
    for name in (*SINGLE_STREAM, *SERVING):
        path = folder / name
        if not path.is_file():
            continue
        with path.open(newline="", encoding="utf-8") as stream:
            for number, row in enumerate(csv.DictReader(stream), start=2):
                try:
                    read = _single if name in SINGLE_STREAM else _serving
                    reader = read(row, number, name, library)
                    found.extend(reader)
                except (InputError, NoAnswerError) as error:
                    reason = re.sub(r"'[^']*'", "…", error.message)
                    skipped[reason] = skipped.get(reason, 0) + 1
    return found, skipped


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if value > 0 else None


def _kv_quant(notes: str) -> str:
    found = re.search(r"(?:KV|K)(?: cache)? (q\d_\d)|(q\d_\d) KV|KV (fp8)", notes, re.IGNORECASE)
    return next((group.casefold() for group in found.groups() if group), "f16") if found else "f16"


def _host(text: str, library: Library) -> float | None:
    """Return the host's memory bandwidth in GB/s from a label such as "RTX 4090 24GB + EPYC 9355 12x DDR5-6400"."""
    host = text.partition(" + ")[2]
    if not host:
        return None
    if channels := re.search(r"(\d+)x DDR\d-(\d+)", host):
        return int(channels[1]) * int(channels[2]) * 8 / 1000
    known = {"7950X": "cpu-7950x", "7975WX": "cpu-tr-7975wx", "9355": "cpu-epyc-9355"}
    for name, identity in known.items():
        if name in host and identity in library.hardware:
            return library.hardware[identity].memory_bandwidth_gb_s
    if "DDR4" in host and "PRO" in host:
        return 8 * 3200 * 8 / 1000
    return 89.6 if "DDR5" in host else None


def _expert_layers(text: str, notes: str, moe_layers: int) -> int | None:
    if found := re.search(r"\((\d+) expert layers on CPU\)", text):
        return int(found[1])
    if "experts on CPU" in text:
        return moe_layers
    if found := re.search(r"(\d+) MiB of weights on CPU, (\d+) MiB on GPU", notes):
        host, device = int(found[1]), int(found[2])
        return round(moe_layers * host / (host + device))
    return None


def _setup(row: Row, library: Library, quant_column: str, parallel: Parallel, count: int) -> Setup:
    hardware = library.find_hardware(row["hardware"])
    model = library.find_model(row["model"])
    engine = library.find_engine(row["engine"])
    notes = f"{row['notes']} {row[quant_column]}"
    moe = model.moe_layers if model.moe_layers is not None else max(model.layers - model.dense_layers, 0)
    offload = _expert_layers(row["hardware"], notes, moe) if model.is_moe else None
    return placed(Setup(
        hardware=hardware, model=model, engine=engine, quant=parse_quant(row[quant_column]).name,
        count=max(count, 1), parallel=parallel if count > 1 else "none", kv_quant=_kv_quant(notes),
        file_gib=_number(row.get("model_file_gib")), cpu_experts_layers=offload,
        host_memory_bandwidth_gb_s=_host(row["hardware"], library),
        backend=row.get("backend") or None,
        speculative="on" if "spec=on" in notes else None,
    ))  # fmt: skip


def _single(row: Row, number: int, source: str, library: Library) -> Iterator[Measurement]:
    measured = _number(row["tok_per_s"])
    if measured is None:
        raise InputError("no speed in the row")
    count = int(row["n_gpus"] or 1)
    setup = _setup(row, library, "quant", "layer", count)
    if "partial CPU offload" in row["notes"]:
        raise InputError("partly offloaded by an unknown share")
    test = re.match(r"(pp|tg) ?(\d+)?", row["test"])
    depth = _number(row["context_depth"]) or 0.0
    if test is None:
        raise InputError("unknown test")
    prefill = test[1] == "pp"
    tokens = float(test[2] or (512 if prefill else CHAT_TOKENS if "chat" in row["test"] else 128))
    yield Measurement(
        setup=setup, kind="prefill" if prefill else "decode_per_request", measured=measured,
        context_tokens=depth if prefill else depth + tokens / 2, prompt_tokens=tokens if prefill else None,
        output_tokens=None, concurrency=1, confidence=row["confidence"],
        group=f"{row['hardware']} × {row['model']}", date=row["date"], source=source, row=number,
    )  # fmt: skip


def _serving(row: Row, number: int, source: str, library: Library) -> Iterator[Measurement]:
    tensor = int(_number(row["tensor_parallel"]) or 1)
    count = int(row["n_gpus"] or 1)
    prompt, output = _number(row["input_len"]), _number(row["output_len"])
    if prompt is None or output is None or output < 8:
        raise InputError("no fixed prompt and output lengths")
    if tensor != count:
        raise InputError("data parallel or unstated parallelism")
    if _number(row["request_rate"]):
        raise InputError("open arrivals: not fitted")
    setup = _setup(row, library, "dtype_quant", "tensor", count)
    concurrency = _number(row["concurrency"]) or 0.0
    if concurrency == 0 and "max" not in row["concurrency"]:
        raise InputError("no concurrency")
    fields = row["measured_fields"]
    group = f"{row['hardware']} × {count} × {row['model']}"
    if "decode-phase" in fields:
        # llama-batched-bench times decoding apart from the prompts.
        total = _number(row["output_tok_per_s_total"])
        if total and concurrency:
            yield Measurement(
                setup=setup, kind="decode_per_request", measured=total / concurrency,
                context_tokens=prompt + output / 2, prompt_tokens=None, output_tokens=None, concurrency=concurrency,
                confidence=row["confidence"], group=group, date=row["date"], source=source, row=number,
            )  # fmt: skip
        return
    answers: list[tuple[Answer, float | None]] = []
    if "tpot_ms" in fields and concurrency:
        answers.append(("tpot", _thousandth(row["tpot_ms"])))
    if "ttft_ms" in fields and concurrency:
        answers.append(("ttft", _thousandth(row["ttft_ms"])))
    if "output_tok_per_s_total" in fields and "tpot_ms" not in fields:
        answers.append(("aggregate_output", _number(row["output_tok_per_s_total"])))
    for kind, value in answers:
        if value:
            yield Measurement(
                setup=setup, kind=kind, measured=value, context_tokens=0.0, prompt_tokens=prompt,
                output_tokens=output, concurrency=concurrency, confidence=row["confidence"], group=group,
                date=row["date"], source=source, row=number,
            )  # fmt: skip


def _thousandth(text: str) -> float | None:
    value = _number(text)
    return value / 1000.0 if value else None
