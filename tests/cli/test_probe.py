"""`planner probe`: events to lines, the record to a summary and an exit code; questions first."""

import json

import pytest

from planner.cli import probe_device, probe_endpoint
from planner.domain.figures import Axes, Basis, Speed
from planner.domain.prices import ApiPrice
from planner.domain.probe import ProbeEngine, ProbeModel, ProbeRecord
from planner.workspace import DeviceSupport, Workspace

ESTIMATE = {"requests": 23, "input_tokens": 13_000, "output_tokens": 1_472, "usd": 0.0123}
REFUSAL = {"event": "error", "code": "needs_yes", "message": "It costs money.", "hint": "--yes", "estimate": ESTIMATE}


def record(status="complete", errors=()):
    axes = Axes(model="m", quant="q4_k_m", engine="llama.cpp", hardware="local")
    figure = Speed(
        value=42.5, low=41.0, high=44.0, kind="decode_per_request", axes=axes, basis=Basis.MEASURED, source="probe"
    )
    return ProbeRecord(
        id="device-1", kind="device", started_at="2026-12-01T10:00:00Z", finished_at="2026-12-01T10:00:40Z",
        status=status, ended_by="precision", tool_version="0", environment={}, hardware="local",
        model=ProbeModel(id="m", quant="q4_k_m"), engine=ProbeEngine(name="llama.cpp", build="b1"),
        figures=(figure,) if status != "failed" else (), errors=errors,
    )  # fmt: skip


class FakeRun:
    """A child process that says what it is told to."""

    def __init__(self, events, final):
        self.events, self.final, self.record = events, final, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __iter__(self):
        for event in self.events:
            if isinstance(event, BaseException):
                self.record = self.final
                raise event
            yield event
        self.record = self.final
        if self.final is not None:
            yield {"event": "record", "record": self.final.model_dump(mode="json", by_alias=True)}


@pytest.fixture
def runs(monkeypatch):
    """Replace the child process; returns the list of (arguments) it was started with and the runs to come."""
    calls, queue = [], []

    def start(self, arguments):
        calls.append(list(arguments))
        return FakeRun(*queue.pop(0))

    monkeypatch.setattr(Workspace, "run_probe", start)
    monkeypatch.setattr(Workspace, "device_support", lambda self: support(True))
    return calls, queue


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    return path


def support(available, compiler="/usr/bin/c++"):
    return DeviceSupport(
        available=available, version=None, compiler=compiler, command=("pip", "install", "llama-cpp-python"),
        minutes=(4.0, 12.0), advice="It has to be compiled once, about 4 to 12 minutes on this machine.",
    )  # fmt: skip


PROGRESS = {"event": "progress", "stage": "decode at 0", "done": 0.5, "elapsed_s": 10.0}


def test_a_device_probe_shows_progress_on_stderr_and_the_record_on_stdout(planner, runs, model):
    calls, queue = runs
    queue.append(([PROGRESS], record()))
    code, out, err = planner("probe", "device", "--model", model, "--gpu-layers", "-1", "--max-seconds", "20")
    assert code == 0
    assert calls == [["device", "--model", str(model), "--gpu-layers=-1", "--max-seconds=20.0"]]
    # Half done after ten seconds: ten seconds are left.
    assert "50% decode at 0, about 10 s left" in err
    assert "decode per request" in out
    assert "42.5" in out
    assert "%" not in out


def test_json_prints_one_object_a_line_and_the_record_last(planner, runs, model):
    runs[1].append(([{"event": "start"}, PROGRESS], record()))
    code, out, err = planner("probe", "device", "--model", model, "--json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert [line["event"] for line in lines] == ["start", "progress", "record"]
    assert lines[-1]["record"]["schema"] == "planner.probe/1"


@pytest.mark.parametrize(("status", "code"), [("failed", 4), ("cancelled", 130), ("partial", 0), ("complete", 0)])
def test_the_exit_code_follows_the_record(planner, runs, model, status, code):
    runs[1].append(([], record(status, ("the model is broken",))))
    found, out, err = planner("probe", "device", "--model", model)
    assert found == code
    assert "the model is broken" in out
    assert ("planner: error: the model is broken" in err) is (status == "failed")


def test_ctrl_c_says_what_was_kept(planner, runs, model):
    runs[1].append(([KeyboardInterrupt()], record("partial")))
    code, _, err = planner("probe", "device", "--model", model)
    assert code == 130
    assert "kept as device-1" in err


def test_a_probe_without_a_model_is_refused_before_anything_is_built(planner, monkeypatch):
    monkeypatch.setattr(Workspace, "device_support", lambda self: pytest.fail("must not be asked"))
    code, _, err = planner("probe", "device")
    assert code == 2
    assert "--model FILE.gguf" in err
    code, _, err = planner("probe", "device", "--model", "no-such.gguf")
    assert code == 2
    assert "no-such.gguf" in err


def test_without_a_terminal_a_missing_engine_is_told_with_the_command(planner, runs, monkeypatch, model):
    monkeypatch.setattr(Workspace, "device_support", lambda self: support(False))
    code, _, err = planner("probe", "device", "--model", model)
    assert code == 5
    assert "4 to 12 minutes" in err
    assert "--yes" in err
    assert runs[0] == []


def test_without_a_compiler_one_sentence_says_what_to_install(planner, monkeypatch, model):
    lacking = support(False, compiler=None)
    monkeypatch.setattr(Workspace, "device_support", lambda self: lacking)
    code, _, err = planner("probe", "device", "--model", model, "--yes")
    assert code == 5
    assert lacking.advice in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("agreed", [True, False])
def test_the_engine_is_built_after_a_yes_and_the_probe_goes_on(planner, runs, monkeypatch, model, agreed):
    built = []

    def build(self):
        built.append(True)
        yield {"event": "progress", "text": "[12/345] ggml.c", "fraction": 0.03, "estimate_s": 300.0}
        yield {"event": "done", "text": "Device support is ready.", "seconds": 1.0}

    runs[1].append(([], record()))
    monkeypatch.setattr(Workspace, "device_support", lambda self: support(False))
    monkeypatch.setattr(Workspace, "build_device_support", build)
    monkeypatch.setattr(probe_device, "can_ask", lambda: True)
    monkeypatch.setattr(probe_device, "ask", lambda question: agreed)
    code, _, err = planner("probe", "device", "--model", model)
    assert bool(built) is agreed
    assert len(runs[0]) == int(agreed)
    if agreed:
        assert code == 0
        assert "3% [12/345] ggml.c, about 5 min left" in err
    else:
        assert code == 5
        assert "Nothing was built." in err


URL = "https://api.openai.com/v1"


def test_an_endpoint_that_costs_money_is_not_asked_anything_without_a_yes(planner, runs):
    calls, queue = runs
    queue.append(([REFUSAL], None))
    code, out, err = planner("probe", "endpoint", URL, "--model", "gpt-x", "--max-usd", "0.1")
    assert (code, out) == (2, "")
    assert "It costs money." in err
    # To the child a limit is consent: it must not get one before the person agreed.
    assert calls == [["endpoint", URL, "--model=gpt-x"]]


@pytest.mark.parametrize("agreed", [True, False])
def test_on_a_terminal_the_cost_is_asked_about(planner, runs, monkeypatch, agreed):
    calls, queue = runs
    queue += [([REFUSAL], None), ([], record())]
    asked = []
    monkeypatch.setattr(probe_endpoint, "can_ask", lambda: True)
    monkeypatch.setattr(probe_endpoint, "ask", lambda question: asked.append(question) or agreed)
    code, _, err = planner("probe", "endpoint", URL, "--model", "gpt-x", "--max-usd", "0.1")
    assert "23 requests" in asked[0]
    assert "13,000 input and 1,472 output tokens" in asked[0]
    assert "$0.0123" in asked[0]
    assert "$0.10" in asked[0]
    if agreed:
        assert code == 0
        assert calls[1][-2:] == ["--yes", "--max-usd=0.1"]
    else:
        assert code == 2
        assert len(calls) == 1
        assert "Nothing was sent." in err


def test_yes_skips_the_question(planner, runs):
    calls, queue = runs
    queue.append(([], record()))
    code, _, _ = planner("probe", "endpoint", URL, "--model", "gpt-x", "--yes", "--concurrency", "1,2")
    assert code == 0
    assert calls == [["endpoint", URL, "--model=gpt-x", "--concurrency=1,2", "--yes"]]


def test_a_known_price_lets_the_probe_count_and_stop(home):
    library = Workspace(home).library()
    price = probe_endpoint.price_at(library, URL, "gpt-4.1")
    assert isinstance(price, ApiPrice)
    assert price.provider == "openai"
    # The same name on one's own server costs nothing per token.
    assert probe_endpoint.price_at(library, "http://127.0.0.1:8000/v1", "gpt-4.1") is None
    assert probe_endpoint.price_at(library, "http://[broken", "gpt-4.1") is None


def test_records_are_listed_and_shown(planner, tmp_path, monkeypatch):
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path))
    assert "No probe has run yet" in planner("probe", "list")[1]
    Workspace(tmp_path).store_probe(record())
    assert "device-1" in planner("probe", "list")[1]
    listed = json.loads(planner("probe", "list", "--json")[1])
    shown = json.loads(planner("probe", "show", "device-1", "--json")[1])
    assert listed == [shown]
    assert shown["figures"][0]["value"] == 42.5
    assert "42.5" in planner("probe", "show", "device-1")[1]
    code, _, err = planner("probe", "show", "device-2")
    assert code == 2
    assert "'device-1'" in err
