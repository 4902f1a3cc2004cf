"""A server that means harm, or is only broken in odd ways: the record stays whole and the key stays secret."""

from __future__ import annotations

import json

import pytest

from probes.endpoint.sse import loads
from tests.probes.harness import run, run_here
from tests.probes.server import DONE, ROLE, Answer, QuirkServer, chunk, event, n_words, steady, usage

QUICK = ("--model", "m", "--prompts", "60,120", "--output", "24", "--concurrency", "1", "--max-seconds", "15")
KEY = "sk-secret"


def test_a_server_that_repeats_the_key_does_not_get_it_printed():
    refusal = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}).encode()
    with QuirkServer(lambda body: Answer([refusal], 401, kind="application/json")) as server:
        out = run("endpoint", server.url, *QUICK, OPENAI_API_KEY=KEY)
    assert server.keys[0] == f"Bearer {KEY}"
    assert out.code == 4 and out.first("error")["code"] == "http_401"
    assert "[key]" in out.first("error")["message"]
    assert KEY not in json.dumps(out.events) and KEY not in out.stderr


def test_values_that_json_alone_allows_do_not_break_the_record():
    def play(body):
        finish = {"choices": [{"delta": {}, "finish_reason": "length\ud800" + "x" * 100_000}]}
        odd = b'data: {"choices": [], "timings":{"prompt_ms": NaN, "predicted_ms": 1e999, "cache_n": 0, "x":"%s"}}\n\n'
        parts = [part for part in steady(body, gap=0.002, counted=False) if part not in (DONE,)]
        return Answer([*parts, event(finish), odd % (b"y" * 100_000), usage(n_words(body), 24), DONE])

    with QuirkServer(play) as server:
        out = run_here("endpoint", server.url, *QUICK)
    assert out.code == 0
    for request in out.requests():
        assert request["server_timings"] == {"cache_n": 0}
        assert request["finish_reason"].startswith("length?") and len(request["finish_reason"]) <= 40
    assert len(out.record.model_dump_json()) < 200_000


def test_an_error_with_half_a_character_is_still_an_error_with_a_record():
    with QuirkServer(lambda body: Answer([ROLE, chunk(content="a"), event({"error": "bad \ud800 day"})])) as server:
        out = run_here("endpoint", server.url, *QUICK)
    assert (out.code, out.record.status) == (4, "failed")
    assert out.first("error")["code"] == "in_body_error" and "bad ? day" in out.first("error")["message"]


@pytest.mark.parametrize("usage_value", [True, -5, 1.5, "24", 10**30, None, [], {"a": 1}])
def test_counts_that_are_no_counts_are_no_counts(usage_value):
    def play(body):
        parts = [part for part in steady(body, gap=0.001, counted=False) if part != DONE]
        counts = {"prompt_tokens": usage_value, "completion_tokens": usage_value, "prompt_tokens_details": usage_value}
        return Answer([*parts, event({"choices": [], "usage": counts}), DONE])

    with QuirkServer(play) as server:
        out = run_here("endpoint", server.url, *QUICK, "--max-seconds", "3")
    assert out.code == 0
    assert {request["n_out"] for request in out.requests()} == {24}
    assert {request["n_prompt_usage"] for request in out.requests()} == {None}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": NaN}', {"a": None}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        ('{"a": "\\uDC00"}', {"a": "?"}),
        ("[" * 100_000, None),
        ("1" * 10_000, None),
        ("", None),
    ],
)
def test_json_of_strangers(text, value):
    assert loads(text) == value


@pytest.mark.parametrize("name", ["a\nb", "\udcff", "x" * 301, "  "])
def test_a_model_name_that_is_none_is_refused(name):
    out = run_here("endpoint", "http://127.0.0.1:9/v1", "--model", name)
    assert out.code == 2 and [one["event"] for one in out.events] == ["error"]


def test_an_owner_with_half_a_character():
    with QuirkServer(lambda body: Answer(steady(body, gap=0.001)), owner="vl\ud800lm") as server:
        out = run_here("endpoint", server.url, *QUICK, "--max-seconds", "4")
    assert out.code == 0 and out.record.settings["owned_by"] == "vl?lm"
