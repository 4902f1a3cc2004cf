"""The user's own profiles: single fields laid over shipped ones, written without losing comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from planner.domain.errors import InputError, nearest
from planner.store.files import read_text, write_atomically
from planner.store.kinds import Kind, find_kind
from planner.store.profiles import Profile
from planner.store.validate import build, keys_of

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,119}")
_PROTECTED = frozenset({"id", "origin"})


@dataclass(frozen=True)
class Override:
    """One field that the user laid over a profile, or one of a profile they added."""

    kind: str
    id: str
    field: str
    value: Any
    path: str


def overrides_of(profiles: Iterable[Profile]) -> tuple[Override, ...]:
    """Return every field the user has set, by kind and id."""
    found = []
    for profile in profiles:
        if profile.origin != "user":
            continue
        values = profile.value.model_dump(mode="json", exclude_defaults=True)
        fields = profile.overridden or tuple(values)
        found += [Override(profile.kind, profile.id, name, values.get(name), profile.path) for name in fields]
    return tuple(found)


def find_profile(profiles: Iterable[Profile], kind: Kind, profile_id: str) -> Profile:
    """Return one profile; raises InputError naming the nearest id."""
    ids = {profile.id: profile for profile in profiles if profile.kind == kind.name}
    if profile_id not in ids:
        hint = nearest(profile_id, ids) or f"`planner profiles list {kind.name}` shows all."
        raise InputError(f"Unknown {kind.name} profile {profile_id!r}.", hint)
    return ids[profile_id]


def override(folder: Path, profile: Profile, field: str, value: Any) -> Path:
    """Set one field of a profile in the user's folder and return the file.

    The result is checked before anything is written. Raises InputError for an unknown field or a wrong value.
    """
    kind = find_kind(profile.kind)
    _check_field(kind, field)
    path = override_path(folder, profile)
    values = profile.value.model_dump(mode="json", exclude_defaults=True)
    build(kind.model, {**values, field: value}, f"{kind.name} {profile.id!r}")
    document = _document(path)
    table = _table_of(document, kind, values, create=True)
    table[field] = value
    write_atomically(path, tomlkit.dumps(document))
    return path


def clear_override(folder: Path, profile: Profile, field: str) -> Path:
    """Take a field back to its shipped value; the file goes when nothing is left in it.

    Raises InputError when the user never set the field.
    """
    kind = find_kind(profile.kind)
    path = override_path(folder, profile)
    values = profile.value.model_dump(mode="json", exclude_defaults=True)
    document = _document(path)
    table = _table_of(document, kind, values, create=False)
    if table is None or field not in table or field in kind.key_fields:
        raise InputError(f"{field!r} of {kind.name} {profile.id!r} is not overridden.")
    del table[field]
    if set(table) <= set(kind.key_fields):
        _drop(document, kind, table)
    if not document.unwrap():
        path.unlink(missing_ok=True)
    else:
        write_atomically(path, tomlkit.dumps(document))
    return path


def override_path(folder: Path, profile: Profile) -> Path:
    """Return the user's file for a profile: its own, or one per provider where a file holds many."""
    kind = find_kind(profile.kind)
    if profile.origin == "user" and profile.path and Path(profile.path).is_relative_to(folder):
        return Path(profile.path)
    name = profile.id
    if kind.table is not None:
        name = str(getattr(profile.value, "provider", "") or getattr(profile.value, "vendor", "") or kind.name)
        name = re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-.")
    if not _FILE_NAME.fullmatch(name):
        raise InputError(f"{name!r} cannot be the name of a profile file.")
    return folder / kind.folder / f"{name}.toml"


def _check_field(kind: Kind, field: str) -> None:
    known = [name for name in keys_of(kind.model) if name not in _PROTECTED and name not in kind.key_fields]
    if field not in known:
        hint = nearest(field, known) or f"Fields: {', '.join(known)}."
        raise InputError(f"{kind.name} profiles have no field {field!r} that can be overridden.", hint)


def _document(path: Path) -> tomlkit.TOMLDocument:
    if not path.exists():
        return tomlkit.document()
    try:
        return tomlkit.parse(read_text(path))
    except TOMLKitError as error:
        raise InputError(f"{path} is not valid TOML: {error}.") from error


def _table_of(document: Any, kind: Kind, values: Mapping[str, Any], *, create: bool) -> Any:
    if kind.table is None:
        return document
    rows = document.get(kind.table)
    wanted = {name: values[name] for name in kind.key_fields if values.get(name)}
    for row in rows or ():
        if kind.key(row) == kind.key(wanted):
            return row
    if not create:
        return None
    if rows is None:
        rows = tomlkit.aot()
        document.append(kind.table, rows)
    row = tomlkit.table()
    for name, item in wanted.items():
        row[name] = item
    rows.append(row)
    return document[kind.table][-1]


def _drop(document: Any, kind: Kind, table: Any) -> None:
    if kind.table is None:
        for key in list(document):
            del document[key]
        return
    rows = document[kind.table]
    for index, row in enumerate(rows):
        if row is table:
            del rows[index]
            break
    if not len(rows):
        del document[kind.table]
