"""Facts of this machine and, if wanted, its memory bandwidth."""

from __future__ import annotations

from planner.domain.figures import Basis
from planner.domain.probe import Measure, ProbeEngine
from probes import bandwidth as memory
from probes.environment import environment
from probes.lifeline import InterruptGuard
from probes.processors import default_threads
from probes.session import EndedBy, Session, Status


def run_machine(session: Session, guard: InterruptGuard, *, bandwidth: bool) -> tuple[Status, EndedBy]:
    """Describe the machine into the session's record."""
    session.start()
    session.environment = environment()
    guard.check()
    if bandwidth:
        session.engine = ProbeEngine(name="numpy")
        session.progress("memory bandwidth", 0.2)
        add_bandwidth(session, default_threads())
    session.progress("done", 1.0)
    return "complete", "time_cap"


def add_bandwidth(session: Session, threads: int) -> None:
    """Measure the memory bandwidth and add it to the record's figures; raises ProbeError without memory."""
    for found in memory.measure(threads):
        what = f"numpy on {found.threads} thread(s), a lower bound of the hardware's"
        session.figures.append(
            Measure(
                kind=found.kind,
                value=found.gb_s.median,
                low=found.gb_s.low,
                high=found.gb_s.high,
                unit="GB/s",
                basis=Basis.MEASURED,
                source=f"probe {session.id}: {what}",
                as_of=session.today,
                threads=found.threads,
            )
        )
