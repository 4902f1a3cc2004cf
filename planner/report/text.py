"""A plan as text for people, made for 80 columns; the answer stands last, where the prompt is."""

from __future__ import annotations

from planner.domain.plan import Plan
from planner.report import overtaking, sections
from planner.report.format import Footnotes, currency_of
from planner.report.sections import View

WIDTH = 80
SECTIONS = (
    sections.title,
    sections.work,
    sections.money,
    sections.speed,
    sections.batch,
    overtaking.break_even,
    sections.notes,
    sections.ruled_out,
    sections.advice,
    sections.warnings,
    sections.verdict,
)


def render(plan: Plan, width: int = WIDTH) -> str:
    """Return the plan as text of at most `width` columns, ending with the verdict and a line break."""
    view = View(plan, currency_of(plan), Footnotes(), max(60, width))
    blocks = (section(view) for section in SECTIONS)
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"
