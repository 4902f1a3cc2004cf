"""`planner`: the whole screen in a terminal, the plan as text elsewhere, and the commands."""

from __future__ import annotations

import sys

from planner.cli.main import main as command_line


def main() -> int:
    """Run the program and return its exit code."""
    return command_line(screen=_screen)


def _screen(workload: str | None, mouse: bool) -> int:
    # Textual takes a third of a second to import: only for those who see it.
    from planner.tui.app import run

    return run(workload, mouse=mouse)


if __name__ == "__main__":
    sys.exit(main())
