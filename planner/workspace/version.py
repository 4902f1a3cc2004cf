"""The planner's own version."""

from __future__ import annotations

import contextlib
import importlib.metadata

from planner.workspace.device import DISTRIBUTION


def tool_version() -> str:
    """Return the installed version, `0` in a checkout that was never installed."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(DISTRIBUTION)
    return "0"
