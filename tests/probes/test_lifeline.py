"""A probe ends with its parent, and an interrupt still gives the record."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from tests.probes.harness import command, environment
from tests.probes.server import ROLE, Answer, QuirkServer, chunk, steady


def start(args, **options):
    return subprocess.Popen(
        args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), **options
    )


def hanging():
    yield ROLE
    while True:
        yield chunk(content="")
        yield 0.05


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_gives_what_was_measured(number):
    def play(body):
        return Answer(steady(body, gap=0.002) if len(server.bodies) < 6 else hanging())

    with QuirkServer(play) as server:
        child = start(command("endpoint", server.url, "--model", "m", "--prompts", "60,120", "--output", "24"))
        while len(server.bodies) < 6:
            time.sleep(0.02)
        child.send_signal(number)
        out, err = child.communicate(timeout=20)
    record = json.loads(out.splitlines()[-1])["record"]
    assert (child.returncode, record["status"], record["ended_by"]) == (130, "cancelled", "user")
    assert any(figure.get("kind") == "decode_per_request" and figure["value"] for figure in record["figures"])
    assert b"Traceback" not in err


def test_closing_stdin_ends_the_child():
    with QuirkServer(lambda body: Answer(hanging())) as server:
        child = start(command("endpoint", server.url, "--model", "m"))
        while not server.bodies:
            time.sleep(0.02)
        child.stdin.close()
        assert child.wait(timeout=20) == 130


def test_native_code_that_does_not_return_cannot_hold_the_record_back():
    # A C call that keeps the main thread busy for a minute, as a long decode would.
    code = textwrap.dedent(
        """
        import ctypes, sys
        from probes.command import run_probe
        from probes.session import Emitter
        def run(session, guard):
            session.start()
            ctypes.CDLL(None).select(0, None, None, None, (ctypes.c_long * 2)(60, 0))
            while True:
                ctypes.CDLL(None).select(0, None, None, None, (ctypes.c_long * 2)(60, 0))
        sys.exit(run_probe("device", run, Emitter(sys.stdout), own_process=True))
        """
    )
    child = start([sys.executable, "-c", code])
    assert json.loads(child.stdout.readline())["event"] == "start"
    child.send_signal(signal.SIGTERM)
    out, _ = child.communicate(timeout=20)
    assert json.loads(out.splitlines()[-1])["record"]["status"] == "cancelled"
    assert child.returncode == 130
