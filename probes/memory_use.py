"""This process's memory use, where the system tells."""

from __future__ import annotations

import sys
from pathlib import Path

from probes.processors import read_text


def rss() -> int | None:
    """Return the resident bytes of this process now; None where the system does not tell."""
    text = read_text(Path("/proc/self/statm"))
    if text is None:
        return None
    import resource  # noqa: PLC0415 - not on Windows

    return int(text.split()[1]) * resource.getpagesize()


def peak_rss() -> int | None:
    """Return the most bytes this process has had resident; None where the system does not tell."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts KiB, macOS bytes.
    return peak if sys.platform == "darwin" else peak * 1024
