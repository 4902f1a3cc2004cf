"""What the planner looks for in an endpoint probe's record is what the probe writes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from planner.planning.token_ways import _probed
from probes.endpoint.hosts import PAID_HOSTS, parse_address
from tests.probes.harness import run_here
from tests.probes.server import Answer, QuirkServer, steady


@pytest.fixture(scope="module")
def record():
    with QuirkServer(lambda body: Answer(steady(body, gap=0.004, prefill=0.001))) as server:
        out = run_here("endpoint", server.url, "--model", "google/gemma-3-27b-it", "--prompts", "60,120",
                       "--output", "24", "--concurrency", "1,2", "--max-seconds", "20")  # fmt: skip
    assert out.code == 0
    return out.record


def way(provider="deepinfra", model="google/gemma-3-27b-it"):
    return SimpleNamespace(price=SimpleNamespace(provider=provider, model=model), model="gemma-3-27b")


def at(record, provider):
    return SimpleNamespace(probes=(record.model_copy(update={"settings": {**record.settings, "provider": provider}}),))


def test_the_plan_takes_single_stream_decode_prefill_and_ttft(record):
    decode, ttft, prefill = _probed(way(), at(record, "deepinfra"))
    assert decode in record.figures and decode.axes.concurrency == 1
    assert prefill in record.figures and prefill.kind == "prefill"
    # One token every 4 ms can't be more than 250 a second.
    assert 0 < decode.value < 250
    # The server waits 1 ms for each prompt token before its first chunk.
    assert ttft.unit == "s" and ttft.source.startswith("TTFT") and ttft.value > 0.001 * ttft.axes.prompt_tokens
    assert ttft.axes.concurrency == 1 and ttft.axes.prompt_tokens == decode.axes.prompt_tokens


def test_another_provider_or_model_is_not_taken(record):
    assert _probed(way("groq"), at(record, "deepinfra")) is None
    other = SimpleNamespace(price=SimpleNamespace(provider="deepinfra", model="x"), model="y")
    assert _probed(other, at(record, "deepinfra")) is None
    assert _probed(way(), at(record, None)) is None


def test_every_level_has_an_aggregate_and_the_record_names_what_it_is(record):
    levels = {f.axes.concurrency for f in record.figures if getattr(f, "kind", "") == "aggregate_output"}
    assert levels == {1, 2}
    assert (record.hardware, record.settings["provider"]) == ("127.0.0.1", None)
    assert record.engine.name == "as served" and record.model.quant == "as served"


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.deepinfra.com/v1/openai", "deepinfra"),
        ("https://openrouter.ai/api/v1", "openrouter"),
        ("https://api.groq.com/openai/v1", "groq"),
        ("https://api.x.ai/v1", "x-ai"),
        ("https://api.together.xyz/v1", "together"),
        ("https://team.openai.azure.com/openai/v1", "azure"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/v1", "aws"),
        ("http://192.168.1.9:8000/v1", None),
        ("https://notgroq.com/v1", None),
    ],
)
def test_paid_hosts_carry_the_id_of_the_price_lists(url, provider):
    assert parse_address(url).provider == provider


def test_every_paid_host_has_a_plain_id():
    for host in PAID_HOSTS:
        provider = parse_address(f"https://{host}/v1").provider
        assert provider and "." not in provider
