from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from planner.domain.errors import InputError, ProbeError
from planner.domain.probe import ProbeRecord
from planner.workspace.probe_run import ProbeRun, child_environment
from tests.store.records import record

RECORD = record().model_dump_json(by_alias=True)


class Shelf:
    def __init__(self) -> None:
        self.records: list[ProbeRecord] = []

    def __call__(self, item: ProbeRecord) -> ProbeRecord:
        self.records.append(item)
        return item


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def child(shelf: Shelf, code: str) -> ProbeRun:
    code = f"import json, os, signal, sys, time\nRECORD = json.loads({RECORD!r})\n" + textwrap.dedent(code)
    code = "def say(event, **more): print(json.dumps({'event': event, **more}), flush=True)\n" + code
    return ProbeRun([], shelf, program=[sys.executable, "-c", code])


def test_events_come_through_and_the_record_is_stored_before_it_is_told(shelf: Shelf) -> None:
    code = """
        print("noise of a library")
        print('{"no": "event"}')
        sys.stderr.write("log\\n" * 20000)
        say("start")
        say("record", record=RECORD)
    """
    seen = []
    with child(shelf, code) as run:
        for event in run:
            seen.append(event["event"])
            if event["event"] == "record":
                assert [item.id for item in shelf.records] == ["device-1"]
    assert seen == ["start", "record"]
    assert run.record is not None and run.record.id == "device-1"


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_crash_is_told_in_words(shelf: Shelf) -> None:
    code = "sys.stderr.write('loading\\n'); os.kill(os.getpid(), signal.SIGSEGV)"
    with child(shelf, code) as run, pytest.raises(ProbeError, match=r"crashed .SIGSEGV.*loading"):
        list(run)
    assert shelf.records == []


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("sys.exit(3)", ProbeError, "exit code 3"),
        ("say('error', message='It is down.', hint='Start it.'); sys.exit(4)", ProbeError, "It is down. Start it."),
        ("say('error', message='Too big.', hint='Smaller.'); sys.exit(2)", InputError, "Too big. Smaller."),
        ("say('record', record={'id': 'x'})", ProbeError, "cannot be read"),
        ("raise RuntimeError('broke')", ProbeError, "broke"),
    ],
)
def test_endings_without_a_record(shelf: Shelf, code: str, kind: type[Exception], words: str) -> None:
    with child(shelf, code) as run, pytest.raises(kind, match=words):
        list(run)
    assert shelf.records == []


def test_cancel_lets_the_child_send_what_it_has(shelf: Shelf) -> None:
    code = """
        def stop(*_):
            say("record", record={**RECORD, "status": "cancelled", "ended_by": "user"})
            sys.exit(130)
        signal.signal(signal.SIGTERM, stop)
        say("start")
        time.sleep(60)
    """
    with child(shelf, code) as run:
        for event in run:
            if event["event"] == "start":
                threading.Thread(target=run.cancel).start()
    assert [item.status for item in shelf.records] == ["cancelled"]


def test_closing_ends_a_child_that_ignores_everything(shelf: Shelf) -> None:
    code = "signal.signal(signal.SIGTERM, signal.SIG_IGN); say('start'); time.sleep(60)"
    started = time.monotonic()
    with child(shelf, code) as run:
        assert next(iter(run))["event"] == "start"
    assert run._child.poll() is not None
    assert time.monotonic() - started < 30  # it would have slept for 60


def test_the_child_ends_with_its_parent(tmp_path: Path) -> None:
    """A planner that is killed leaves no probe behind: the pipe to the child's stdin closes with it."""
    ended = tmp_path / "ended"
    script = tmp_path / "child.py"
    script.write_text(
        "import pathlib, sys\n"
        "print('{\"event\": \"start\"}', flush=True)\n"
        "sys.stdin.read()\n"
        f"pathlib.Path({str(ended)!r}).touch()\n"
    )
    parent = f"""
        import os, sys
        from planner.workspace.probe_run import ProbeRun
        run = ProbeRun([], lambda item: item, program=[sys.executable, {str(script)!r}])
        next(iter(run))
        os._exit(9)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(parent)], check=False)
    for _ in range(200):
        if ended.exists():
            return
        time.sleep(0.05)
    raise AssertionError("the child lives on")


def test_the_real_probes_are_found_from_anywhere(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ProbeRun(["nonsense"], shelf) as run, pytest.raises(InputError):
        list(run)
    done = subprocess.run(
        [sys.executable, "-c", "import probes"], env=child_environment(), capture_output=True, check=False
    )
    assert done.returncode == 0
