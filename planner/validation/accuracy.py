"""The README's accuracy table: errors on the published measurements, seen and unseen.

Run: `python -m planner.validation.accuracy`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from planner.store.folders import shipped_profiles
from planner.validation.rows import Measurement, load
from planner.validation.score import Score, Scored, ask, by_parts, left_out, part_of
from planner.workspace import Workspace

HEAD = (
    "| median / P90 error | rows | as shipped | device never seen | model never seen |",
    "|---|---|---|---|---|",
)


def measured() -> list[Measurement]:
    """Return the shipped measurements, speculative decoding apart."""
    with tempfile.TemporaryDirectory() as empty:
        rows, _ = load(shipped_profiles() / "measurements", Workspace(Path(empty)).library())
    return [row for row in rows if row.setup.speculative is None]


def scores(measurements: Sequence[Measurement]) -> dict[str, dict[str, Score]]:
    """Return the scores by part as shipped and by cross-validation: `shipped`, `device`, `model`."""
    shipped = [one for one in map(ask, measurements) if isinstance(one, Scored)]
    found = {"shipped": shipped, "device": left_out(measurements, "device"), "model": left_out(measurements, "model")}
    return {name: {score.name: score for score in by_parts(scored, part_of)} for name, scored in found.items()}


def markdown(table: Mapping[str, Mapping[str, Score]]) -> str:
    """Return the table, one line a part."""
    lines = list(HEAD)
    for part, shipped in table["shipped"].items():
        cells = [f"{score.median:.0%} / {score.p90:.0%}" for score in (table[name][part] for name in table)]
        lines.append(f"| {part} | {shipped.rows} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table; returns the exit code."""
    sys.stdout.write(markdown(scores(measured())) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
