from __future__ import annotations

import pytest

from planner.domain.library import Library
from planner.workspace import Workspace


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The shipped profiles, without anybody's overrides."""
    return Workspace(tmp_path_factory.mktemp("home")).library()
