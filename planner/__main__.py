"""`planner`: the whole screen in a terminal, the plan as text elsewhere, and the commands."""

from __future__ import annotations

import contextlib
import signal
import sys


def main() -> int:
    """Run the program and return its exit code."""
    try:
        # Imported here, so that Ctrl-C in the first second ends in words and not in a traceback.
        from planner.cli.main import main as command_line  # noqa: PLC0415

        return command_line(screen=_screen)
    except KeyboardInterrupt:
        sys.stderr.write("planner: interrupted\n")
        return 130
    finally:
        # All is said and stored: a late Ctrl-C must not kill Python while it tidies up, nor show where it stood.
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _screen(workload: str | None, mouse: bool) -> int:
    # Textual takes a third of a second to import: only for those who see it.
    from planner.tui.app import run  # noqa: PLC0415

    return run(workload, mouse=mouse)


if __name__ == "__main__":
    sys.exit(main())
