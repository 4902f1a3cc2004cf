"""All profiles together, as the evaluation sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.domain.engine import Engine
from planner.domain.errors import InputError, nearest
from planner.domain.hardware import Hardware, Machine
from planner.domain.model import ModelSpec
from planner.domain.prices import (
    ApiPrice,
    Assumption,
    CloudOffer,
    ProvisionedUnit,
    PublishedSpeed,
    RateLimit,
    Retirement,
    Tariff,
)
from planner.domain.probe import ProbeRecord
from planner.domain.quant import fold


@dataclass(frozen=True)
class Library:
    """Every profile by id, and this machine's own measurements. Built by the store, read by everything else."""

    hardware: Mapping[str, Hardware]
    machines: Mapping[str, Machine]
    models: Mapping[str, ModelSpec]
    engines: Mapping[str, Engine]
    prices: tuple[ApiPrice, ...]
    clouds: tuple[CloudOffer, ...]
    tariffs: Mapping[str, Tariff]
    assumptions: Mapping[str, Assumption]
    rate_limits: tuple[RateLimit, ...] = ()
    provisioned: tuple[ProvisionedUnit, ...] = ()
    retirements: tuple[Retirement, ...] = ()
    published_speeds: tuple[PublishedSpeed, ...] = ()
    probes: tuple[ProbeRecord, ...] = ()
    aliases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """kind -> folded name -> id, over ids, names and aliases."""

    def find_hardware(self, name: str) -> Hardware:
        """Return a device by id, name or alias; raises InputError naming the nearest."""
        return self.hardware[self._resolve("hardware", name, self.hardware)]

    def find_model(self, name: str) -> ModelSpec:
        """Return a model by id, repository or alias; raises InputError naming the nearest."""
        return self.models[self._resolve("model", name, self.models)]

    def find_engine(self, name: str) -> Engine:
        """Return an engine by id or alias; raises InputError naming the nearest."""
        return self.engines[self._resolve("engine", name, self.engines)]

    def _resolve(self, kind: str, name: str, known: Mapping[str, object]) -> str:
        if name in known:
            return name
        table = self.aliases.get(kind, {})
        found = table.get(fold(name))
        if found is None:
            hint = nearest(name, [*known, *table]) or f"`planner profiles list {kind}` shows all."
            raise InputError(f"Unknown {kind} {name!r}.", hint)
        return found
