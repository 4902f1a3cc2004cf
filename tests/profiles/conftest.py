"""The shipped profiles, read with nothing but tomllib and the domain models."""

from __future__ import annotations

import csv
import tomllib
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from planner.domain.engine import Engine
from planner.domain.hardware import Hardware, Machine
from planner.domain.model import ModelSpec
from planner.domain.prices import Tariff
from planner.domain.quant import fold
from planner.domain.workload import Workload

ONE_A_FILE = {
    "hardware": Hardware,
    "machines": Machine,
    "models": ModelSpec,
    "engines": Engine,
    "power": Tariff,
    "workloads": Workload,
}


class Shipped:
    """Everything under `profiles/`."""

    root = Path(__file__).resolve().parents[2] / "profiles"

    def files(self, folder: str) -> list[Path]:
        return sorted(p for p in (self.root / folder).glob("*.toml") if not p.name.endswith(".fit.toml"))

    def load(self, path: Path) -> dict[str, Any]:
        return tomllib.loads(path.read_text(encoding="utf-8"))

    @cached_property
    def things(self) -> dict[str, dict[str, Any]]:
        """Folder -> file name -> domain object."""
        return {
            folder: {path.stem: model.model_validate(self.load(path)) for path in self.files(folder)}
            for folder, model in ONE_A_FILE.items()
        }

    def rows(self, folder: str, key: str) -> list[dict[str, Any]]:
        return [row for path in self.files(folder) for row in self.load(path).get(key, [])]

    def names(self, kind: str) -> dict[str, str]:
        """Folded name -> id; two ids with one name fail."""
        table: dict[str, str] = {}
        for id_, thing in self.things[kind].items():
            own = thing.hf_repo if kind == "models" else thing.name
            for name in filter(None, (id_, own, *thing.aliases)):
                other = table.setdefault(fold(name), id_)
                assert other == id_, f"{name!r} names both {other} and {id_}"
        return table

    def measured(self, column: str, tables: str = "*") -> set[str]:
        """Distinct texts of a column over the measurement tables that have it."""
        found: set[str] = set()
        for path in (self.root / "measurements").glob(f"{tables}.csv"):
            with path.open(encoding="utf-8", newline="") as file:
                found |= {row[column] for row in csv.DictReader(file) if row.get(column)}
        return found


@pytest.fixture(scope="session")
def shipped() -> Shipped:
    return Shipped()
