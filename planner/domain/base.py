"""The common shape of all domain objects: frozen, strict about unknown keys."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value that never changes; unknown keys are errors and attribute docstrings are the schema's texts."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
