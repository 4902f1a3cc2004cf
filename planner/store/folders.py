"""Where the user's files and the shipped profiles live."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

DATABASE_NAME = "planner.duckdb"


@dataclass(frozen=True)
class Folders:
    """The user's data and config folders."""

    data: Path
    config: Path

    @property
    def database(self) -> Path:
        """Return the database file."""
        return self.data / DATABASE_NAME

    @property
    def profiles(self) -> Path:
        """Return the folder of the user's own profiles."""
        return self.config / "profiles"


def folders(home: Path | None = None) -> Folders:
    """Return the folders under `home`, else PLANNER_HOME, else where the operating system wants them."""
    chosen = home or (Path(os.environ["PLANNER_HOME"]) if os.environ.get("PLANNER_HOME") else None)
    if chosen is not None:
        root = chosen.expanduser().absolute()
        return Folders(data=root, config=root)
    import platformdirs  # noqa: PLC0415 - not needed where PLANNER_HOME is set

    app = "inference-planner"
    return Folders(
        data=Path(platformdirs.user_data_dir(app, appauthor=False)),
        config=Path(platformdirs.user_config_dir(app, appauthor=False)),
    )


def shipped_profiles() -> Path:
    """Return the folder of shipped profiles: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "profiles"
    return inside if inside.is_dir() else package.parent / "profiles"
