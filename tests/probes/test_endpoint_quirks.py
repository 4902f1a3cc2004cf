"""Each quirk of real servers, played by a real local server and met by the real child process."""

from __future__ import annotations

import json
import socket
import threading

import pytest

from planner.domain.figures import Basis
from tests.probes.harness import run, run_here
from tests.probes.server import DONE, FINISH, ROLE, Answer, QuirkServer, chunk, event, n_words, steady, usage

QUICK = ("--prompts", "60,120", "--output", "24", "--concurrency", "1", "--max-seconds", "15", "--timeout", "5")


def probe(server, *more):
    return run_here("endpoint", server.url, "--model", "m", *QUICK, *more)


def test_a_well_behaved_server_gives_every_figure():
    # 24 tokens, one every 10 ms: TPOT 10 ms plus the sleep's own delay. Prefill 1 ms a token: 1000 tok/s.
    with QuirkServer(lambda body: Answer(steady(body, gap=0.01, prefill=0.001)), owner="vllm") as server:
        out = probe(server, "--concurrency", "1,3")
    record = out.record
    assert (out.code, record.status, record.kind, record.engine.name) == (0, "complete", "endpoint", "vllm")
    assert record.hardware == "127.0.0.1"
    tpot = out.figure("tpot", concurrency=1)
    assert 0.008 <= tpot.value < 0.020
    decode = out.figure("decode_per_request", concurrency=1)
    assert decode.value == pytest.approx(1 / tpot.value) and decode.basis is Basis.MEASURED
    assert decode.axes.context_tokens == decode.axes.prompt_tokens
    assert out.figure("ttft", concurrency=1).value > 0.04
    assert 300 < out.figure("prefill").value < 2000
    assert out.figure("decode_per_request", concurrency=3).value < 125
    assert all(body["ignore_eos"] is True for body in server.bodies)
    assert all(body["stream_options"] == {"include_usage": True} for body in server.bodies)
    assert record.settings["requests"]["failed"] == {}


def test_no_two_prompts_begin_alike():
    with QuirkServer(lambda body: Answer(steady(body, gap=0.001))) as server:
        probe(server)
    beginnings = {" ".join(body["messages"][0]["content"].split()[:8]) for body in server.bodies}
    assert len(beginnings) == len(server.bodies) >= 13


def test_chunks_are_not_tokens():
    # 1, 4, 0 and 7 tokens a chunk, twelve in all and twice: 24 tokens, 23 after the first within 6 gaps of 10 ms.
    def play(body):
        parts = [ROLE]
        for text in ("a ", "a b c d ", "", "a b c d e f g ") * 2:
            parts += [chunk(content=text), 0.01]
        return Answer([*parts, FINISH, usage(n_words(body), 24), DONE])

    with QuirkServer(play) as server:
        out = probe(server)
    # From the first chunk to the seventh kept position: 6 waits of 10 ms over 23 tokens = 2.6 ms, not 10 ms.
    request = out.requests()[0]
    assert (request["n_chunks"], request["n_out"]) == (6, 24)
    assert 0.03 / 23 * 1000 <= request["tpot_ms"] < 8
    assert "bundled" in out.warnings()


def test_running_totals_on_every_chunk_are_not_added_up():
    def play(body):
        parts = [ROLE]
        for index in range(24):
            counts = {"prompt_tokens": n_words(body), "completion_tokens": index + 1}
            parts += [event({"choices": [{"delta": {"content": "x"}}], "usage": counts}), 0.002]
        return Answer([*parts, FINISH, DONE])

    with QuirkServer(play) as server:
        out = probe(server)
    assert {request["n_out"] for request in out.requests()} == {24}


def test_without_usage_the_asked_length_counts_once_it_is_confirmed():
    def play(body):
        if body.get("stream"):
            return Answer(steady(body, gap=0.002, counted=False))
        reply = {
            "id": "1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "x"}}],
            "usage": {"prompt_tokens": n_words(body) + 7, "completion_tokens": 24, "total_tokens": 1},
        }  # fmt: skip
        return Answer([json.dumps(reply).encode()], kind="application/json")

    with QuirkServer(play) as server:
        out = probe(server)
    assert {request["token_source"] for request in out.requests()} == {"length"}
    assert out.figure("decode_per_request").basis is Basis.MEASURED
    assert all(request["n_prompt"] and request["n_out_usage"] is None for request in out.requests())


def test_without_any_count_chunks_are_only_an_estimate():
    def play(body):
        if not body.get("stream"):
            return Answer([b"{}"], 500, kind="application/json")
        return Answer(steady(body, gap=0.002, counted=False))

    with QuirkServer(play) as server:
        out = probe(server)
    assert {request["token_source"] for request in out.requests()} == {"chunks"}
    assert out.figure("decode_per_request").basis is Basis.ESTIMATED
    assert "no_usage" in out.warnings()


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_counts_as_first_token(field):
    def play(body):
        parts = [ROLE]
        for index in range(24):
            parts += [chunk(**{field if index < 12 else "content": "x"}), 0.004]
        details = {"completion_tokens_details": {"reasoning_tokens": 12}}
        return Answer([*parts, FINISH, usage(n_words(body), 24, **details), DONE])

    with QuirkServer(play) as server:
        out = probe(server)
    for request in out.requests():
        # The first visible chunk leaves 12 waits of 4 ms after the first reasoning chunk; arrivals jitter.
        assert request["ttfo_ms"] - request["ttft_ms"] >= 24
        assert request["tpot_ms"] is not None


def test_hidden_reasoning_gives_no_speed():
    def play(body):
        parts = [ROLE, 0.05]
        for _ in range(8):
            parts += [chunk(content="x"), 0.002]
        details = {"completion_tokens_details": {"reasoning_tokens": 16}}
        return Answer([*parts, FINISH, usage(n_words(body), 24, **details), DONE])

    with QuirkServer(play) as server:
        out = probe(server)
    figure = out.figure("decode_per_request")
    assert figure.value is None and "not streamed" in figure.reason


def test_an_early_end_is_a_label_not_a_speed():
    def play(body):
        parts = [ROLE, chunk(content="a"), 0.002, chunk(content="b"), 0.002, chunk(content="c")]
        stop = event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        return Answer([*parts, stop, usage(n_words(body), 3), DONE])

    with QuirkServer(play) as server:
        out = probe(server)
    figure = out.figure("decode_per_request")
    assert figure.value is None and "3 tokens" in figure.reason
    assert "short_output" in out.warnings()
    assert out.figure("ttft").value is not None


def test_a_buffering_proxy_gives_no_tpot():
    def play(body):
        return Answer([0.1, ROLE + b"".join(chunk(content="x") for _ in range(24)) + FINISH + usage(60, 24) + DONE])

    with QuirkServer(play) as server:
        out = probe(server)
    assert out.figure("tpot").value is None and "buffered" in out.figure("tpot").reason
    assert "buffered" in out.warnings()


def test_odd_framing_is_understood():
    def play(body):
        first = json.dumps({"choices": [], "prompt_filter_results": []}).encode()
        parts = [b": OPENROUTER PROCESSING\n\n", b"data: : keepalive\n\n", b"data:\n\n", b"data:" + first + b"\r\n\r\n"]
        whole = chunk(content="é")
        for _ in range(24):
            cut = whole.index(b"\\u") + 3
            parts += [whole[:cut], 0.002, whole[cut:].replace(b"\n\n", b"\r\n\r\n")]
        parts += [chunk(content=""), FINISH, usage(n_words(body), 24)]
        return Answer(parts)  # ends without [DONE], after finish_reason: a success

    with QuirkServer(play) as server:
        out = probe(server)
    assert out.code == 0
    assert all(request["error"] is None and request["n_chunks"] == 24 for request in out.requests())


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([ROLE, chunk(content="a"), chunk(content="b")], "stream_cut"),
        ([ROLE, chunk(content="a"), event({"error": {"message": "out of memory", "code": 500}})], "in_body_error"),
        ([event({"error": {"message": "daily limit", "code": 429}, "choices": []})], "in_body_error"),
        ([ROLE, chunk(content="a"), DONE], "no_finish"),
        ([b"<html>hello</html>"], "nonsense"),
        ([b"data: {broken\n\n"], "nonsense"),
        ([b"x" * 2_000_000], "too_big"),
    ],
)
def test_failed_streams_are_errors_not_fast_answers(parts, kind):
    with QuirkServer(lambda body: Answer(list(parts))) as server:
        out = probe(server)
    assert (out.code, out.record.status, out.record.ended_by) == (4, "failed", "error")
    assert out.first("error")["code"] == kind
    assert "Traceback" not in out.stderr


def test_a_failure_in_the_middle_is_counted_and_the_rest_kept():
    calls = []

    def play(body):
        calls.append(1)
        return Answer([ROLE, chunk(content="a")]) if len(calls) == 4 else Answer(steady(body, gap=0.001))

    with QuirkServer(play) as server:
        out = probe(server)
    assert (out.code, out.record.status) == (0, "partial")
    assert out.record.settings["requests"]["failed"] == {"stream_cut": 1}
    assert out.figure("decode_per_request").value is not None


@pytest.mark.parametrize("field", ["stream_options", "max_tokens", "temperature", "min_tokens"])
def test_a_refused_field_is_left_out(field):
    told = {"max_tokens": "use 'max_completion_tokens' instead of 'max_tokens'"}.get(field, f"unknown field {field}")

    def play(body):
        if field in body:
            error = json.dumps({"error": {"message": told}}).encode()
            return Answer([error], 400, kind="application/json")
        return Answer(steady(body, gap=0.001))

    with QuirkServer(play) as server:
        out = probe(server)
    assert out.code == 0
    assert field not in server.bodies[-1]


@pytest.mark.parametrize(
    ("headers", "least"),
    [
        ({"retry-after": "0.3"}, 0.3),
        ({"retry-after-ms": "200"}, 0.2),
        ({"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"}, 0.0),
    ],
)
def test_rate_limits_are_counted_and_honoured(headers, least):
    calls = []

    def play(body):
        calls.append(1)
        if len(calls) == 3:
            return Answer([b'{"error":{"message":"slow down"}}'], 429, headers, "application/json")
        return Answer(steady(body, gap=0.001))

    with QuirkServer(play) as server:
        out = probe(server)
    assert out.record.settings["requests"]["failed"] == {"http_429": 1}
    assert "rate_limited" in out.warnings()
    sent = [event["sent_s"] for event in out.events if event["event"] == "sample"]
    # The limited request is the third; the wait lies between it and the fourth.
    assert sent[3] - sent[2] >= least


def test_a_server_that_never_ends_is_left_in_time():
    def forever():
        yield ROLE
        while True:
            yield chunk(content="x")
            yield 0.05

    with QuirkServer(lambda body: Answer(forever())) as server:
        out = run_here("endpoint", server.url, "--model", "m", "--timeout", "1", "--max-seconds", "5")
    assert out.code == 4 and out.first("error")["code"] == "timeout"


def test_a_server_that_ignores_the_length_is_cut():
    def play(body):
        return Answer(part for _ in range(5000) for part in (chunk(content="x"), 0.002))

    with QuirkServer(play) as server:
        out = probe(server)
    assert "overrun" in out.warnings()
    # 24 asked, cut beyond 24 + 12 + 16 chunks; one more read may hold several.
    assert max(request["n_chunks"] for request in out.requests()) < 500
    assert out.figure("decode_per_request").basis is Basis.ESTIMATED


def test_a_lying_token_count_is_not_believed():
    def play(body):
        return Answer([*(p for p in steady(body, gap=0.002, counted=False) if p != DONE), usage(60, 100_000), DONE])

    with QuirkServer(play) as server:
        out = probe(server)
    assert "usage_implausible" in out.warnings()
    assert out.figure("decode_per_request").value < 1000


def test_a_silently_cut_prompt_is_noticed():
    def play(body):
        parts = [p for p in steady(body, gap=0.001, counted=False) if p != DONE]
        return Answer([*parts, usage(min(70, n_words(body)), 24), DONE])

    with QuirkServer(play) as server:
        out = probe(server, "--prompts", "60,600")
    assert "prompt_cut" in out.warnings()


def test_cached_tokens_are_not_counted_as_processed():
    def play(body):
        tokens = n_words(body)
        parts = [p for p in steady(body, gap=0.001, prefill=0.001, counted=False) if p != DONE]
        return Answer([*parts, usage(tokens, 24, prompt_tokens_details={"cached_tokens": 20}), DONE])

    with QuirkServer(play) as server:
        out = probe(server)
    assert "cached" in out.warnings()
    assert out.figure("ttft").axes.cached_prefix_tokens == 20


def test_a_redirect_is_not_followed_and_named():
    with QuirkServer(lambda body: Answer([], 302, {"location": "http://elsewhere.test/v1"})) as server:
        out = probe(server)
    assert out.code == 4
    assert out.first("error")["code"] == "redirect" and "elsewhere.test" in out.first("error")["message"]


@pytest.mark.parametrize(("status", "code"), [(401, "http_401"), (404, "http_404"), (500, "http_500")])
def test_http_errors_are_clear(status, code):
    answer = b'{"error":{"message":"because of this"}}' + b" " * 3_000_000
    with QuirkServer(lambda body: Answer([answer], status, kind="application/json")) as server:
        out = probe(server)
    assert out.code == 4 and out.first("error")["code"] == code
    assert "Traceback" not in out.stderr


def test_nothing_there_and_something_else_there():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    out = run_here("endpoint", f"http://127.0.0.1:{port}/v1", "--model", "m")
    assert out.code == 4 and out.first("error")["code"] == "no_connection"
    with socket.create_server(("127.0.0.1", 0)) as other:
        def babble():
            while True:
                try:
                    peer, _ = other.accept()
                except OSError:
                    return
                peer.sendall(b"220 mail ready\r\n")
                peer.close()

        threading.Thread(target=babble, daemon=True).start()
        out = run_here("endpoint", f"http://127.0.0.1:{other.getsockname()[1]}/v1", "--model", "m")
    assert out.code == 4 and out.first("error")["code"] == "broken"


def test_the_key_reaches_the_server_and_nothing_else():
    with QuirkServer(lambda body: Answer(steady(body, gap=0.001))) as server:
        out = run("endpoint", server.url, "--model", "m", *QUICK, "--key-env", "MY_KEY", MY_KEY="sk-very-secret-123")
    assert server.keys[0] == "Bearer sk-very-secret-123"
    assert "very-secret" not in json.dumps(out.events) and "very-secret" not in out.stderr


def test_a_paid_host_needs_a_yes_before_anything_is_sent():
    out = run("endpoint", "https://api.openai.com/v1", "--model", "m", OPENAI_API_KEY="sk-x")
    error = out.first("error")
    assert out.code == 2 and error["code"] == "needs_yes"
    assert error["estimate"]["input_tokens"] > 0 and error["estimate"]["requests"] > 0
    assert [event["event"] for event in out.events] == ["error"]


def test_the_budget_ends_the_probe():
    # 1 USD per million tokens in, 100 out: a request of 60 + 24 tokens costs at most 0.00246 USD; four fit 0.01.
    prices = ("--usd-per-mtok-in", "1", "--usd-per-mtok-out", "100", "--max-usd", "0.01")
    with QuirkServer(lambda body: Answer(steady(body, gap=0.001))) as server:
        out = probe(server, *prices)
    assert out.record.ended_by == "budget" and out.record.status == "partial"
    assert len(server.bodies) == 4
    assert out.record.settings["requests"]["usd"] <= 0.01


@pytest.mark.parametrize(
    "args",
    [
        ("endpoint", "ftp://x/v1", "--model", "m"),
        ("endpoint", "http://user:pw@x/v1", "--model", "m"),
        ("endpoint", "http://x/v1?key=1", "--model", "m"),
        ("endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--prompts", "5"),
        ("endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--concurrency", "0"),
        ("endpoint", "http://127.0.0.1:1/v1"),
        ("nonsense",),
        ("device", "--model", "/does/not/exist.gguf"),
    ],
)
def test_wrong_input_exits_2_with_one_error(args):
    out = run_here(*args)
    assert out.code == 2
    assert [event["event"] for event in out.events] == ["error"]
    assert "Traceback" not in out.stderr
