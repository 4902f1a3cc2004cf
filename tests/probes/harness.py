"""Runs `python -m probes` as its parent does, and reads the lines."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from planner.domain.probe import ProbeRecord
from probes.command import execute
from probes.session import Emitter


@dataclass
class Outcome:
    code: int
    events: list[dict[str, Any]]
    stderr: str

    @property
    def record(self) -> ProbeRecord:
        assert self.events[-1]["event"] == "record", self.events[-1]
        return ProbeRecord.model_validate(self.events[-1]["record"])

    def first(self, name: str) -> dict[str, Any]:
        return next(event for event in self.events if event["event"] == name)

    def warnings(self) -> set[str]:
        return {event["code"] for event in self.events if event["event"] == "warning"}

    def requests(self, stage: str = "single") -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == "sample" and event.get("stage") == stage]

    def figure(self, kind: str, **axes: Any) -> Any:
        for figure in self.record.figures:
            conditions = getattr(figure, "axes", None)
            if getattr(figure, "kind", None) == kind and all(getattr(conditions, k) == v for k, v in axes.items()):
                return figure
        raise AssertionError(f"no {kind} at {axes}")


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "probes", *args]


def environment(**extra: str) -> dict[str, str]:
    return {**{k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}, **extra}


def run_here(*args: str) -> Outcome:
    """Run the probe in this process: the same code without the second it takes to start."""
    out = io.StringIO()
    code = execute(args, Emitter(out), own_process=False)
    return Outcome(code, [json.loads(line) for line in out.getvalue().splitlines()], "")


def run(*args: str, timeout: float = 60, **env: str) -> Outcome:
    done = subprocess.run(
        command(*args),
        capture_output=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        env=environment(**env),
        check=False,
    )
    lines = done.stdout.decode().splitlines()
    return Outcome(done.returncode, [json.loads(line) for line in lines], done.stderr.decode())
