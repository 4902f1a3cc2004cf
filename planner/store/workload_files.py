"""A workload as TOML text, keeping the comments and the order of a file that exists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Table

from planner.domain.errors import InputError
from planner.domain.workload import Workload
from planner.store.files import read_text


def workload_toml(workload: Workload, path: Path) -> str:
    """Return the TOML of a workload; an existing file at `path` keeps its comments where keys stay.

    Raises InputError when `path` is a folder.
    """
    values = workload.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
    values = {"schema": workload.schema_, **values}
    document = tomlkit.document()
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file.")
    if path.exists():
        try:
            document = tomlkit.parse(read_text(path))
        except (TOMLKitError, InputError):
            # Saving must not fail because what is replaced was unreadable.
            document = tomlkit.document()
    _merge(document, values)
    return tomlkit.dumps(document)


def _merge(table: Any, values: dict[str, Any]) -> None:
    for key in [key for key in table if key not in values]:
        del table[key]
    plain = {key: item for key, item in values.items() if not _is_table(item)}
    tables = {key: item for key, item in values.items() if _is_table(item)}
    # In TOML a plain key after a table belongs to that table.
    for key, item in plain.items():
        if key not in table or table[key] != item:
            table[key] = item
    for key, item in tables.items():
        old = table.get(key)
        if isinstance(item, dict) and isinstance(old, Table):
            _merge(old, item)
        elif isinstance(item, list) and isinstance(old, AoT) and len(old) == len(item):
            for row, new in zip(old, item, strict=True):
                _merge(row, new)
        elif old is None or old != item:
            table[key] = item


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))
