"""Model files and profiles: which profile a GGUF is, and a profile for a GGUF that nobody has written one for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.domain.errors import InputError
from planner.domain.library import Library
from planner.domain.model import ModelSpec
from planner.domain.probe import ProbeRecord
from planner.domain.quant import QUANTS, fold
from planner.importers.gguf import facts_of, model_spec, read_gguf

_TRAILING = re.compile(r"[-_. ]+(\d{5}-of-\d{5}|UD|instruct|it|chat)$", re.IGNORECASE)


def identified(args: list[str], library: Callable[[], Library]) -> tuple[list[str], dict[str, Any]]:
    """Return a device probe's arguments with `--model-id` where a profile fits, and the model file's facts.

    Other probes' arguments come back as they are. Raises InputError for a missing or broken model file.
    """
    file = _option(args, "--model")
    if not args or args[0] != "device" or file is None:
        return args, {}
    facts = facts_of(read_gguf(Path(file).expanduser()))
    if _option(args, "--model-id") is not None:
        return args, facts
    found = known_model(facts, file, library())
    return ([*args, "--model-id", found.id] if found else args), facts


def known_model(facts: Mapping[str, Any], file: str, library: Library) -> ModelSpec | None:
    """Return the profile whose name and shape a model file has, if any."""
    table = library.aliases.get("model", {})
    for name in _candidates(facts, file):
        model_id = table.get(fold(name))
        if model_id is None:
            continue
        spec = library.models[model_id]
        if facts.get("layers") == spec.layers and facts.get("hidden_size") == spec.hidden_size:
            return spec
    return None


def with_facts(record: ProbeRecord, facts: Mapping[str, Any]) -> ProbeRecord:
    """Return the record with what the file's header said; the probe's own facts win."""
    if not facts:
        return record
    own = {key: value for key, value in record.model.facts.items() if value is not None}
    model = record.model.model_copy(update={"facts": {**facts, **own}})
    return record.model_copy(update={"model": model})


def with_probed_models(library: Library) -> Library:
    """Return the library with a model for every probed file that no profile describes, newest record first."""
    table = library.aliases.get("model", {})
    added: dict[str, ModelSpec] = {}
    for record in library.probes:
        model = record.model
        if model.id in added or fold(model.id) in table or not model.facts or record.kind == "endpoint":
            continue
        try:
            source = f"GGUF header, probe {record.id}"
            added[model.id] = model_spec(
                model.facts, model.id, source=source, as_of=record.finished_at[:10], file=model.file or ""
            )
        except InputError:
            # An odd header cannot be planned with, but the record stays readable.
            continue
    return replace(library, models={**library.models, **added}) if added else library


def _candidates(facts: Mapping[str, Any], file: str) -> Iterator[str]:
    base, size = facts.get("basename"), facts.get("size_label")
    name = facts.get("name")
    for text in (name, f"{base}-{size}" if base and size else base, _without_quant(Path(file).stem)):
        if not isinstance(text, str):
            continue
        yield text
        shorter = text
        while (cut := _TRAILING.sub("", shorter)) != shorter:
            shorter = cut
            yield cut


def _without_quant(stem: str) -> str:
    stem = _TRAILING.sub("", stem)
    head, _, last = re.sub(r"[.]", "-", stem).rpartition("-")
    return stem[: len(head)] if head and fold(last).replace("-", "_") in QUANTS else stem


def _option(args: list[str], name: str) -> str | None:
    for index, text in enumerate(args):
        if text == name and index + 1 < len(args):
            return args[index + 1]
        if text.startswith(f"{name}="):
            return text.partition("=")[2]
    return None
