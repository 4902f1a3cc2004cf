from __future__ import annotations

import pytest

from planner.domain.errors import InputError
from probes.endpoint.client import Dialect
from probes.endpoint.counting import Counted, Counter
from probes.endpoint.figures import slope, steady_output
from probes.endpoint.hosts import parse_address
from probes.endpoint.reply import Reply
from probes.endpoint.spending import Estimate, Meter
from probes.endpoint.sse import EventParser, StreamTooBigError
from probes.endpoint.sweep import Request


def reply(*times, n_out=None, finish="length", start=0.0):
    made = Reply(planned_at=start, sent_at=start)
    for at in times:
        made.take({"choices": [{"delta": {"content": "x"}}]}, at)
    made.take({"choices": [{"delta": {}, "finish_reason": finish}]}, times[-1])
    if n_out:
        made.take({"choices": [], "usage": {"completion_tokens": n_out, "prompt_tokens": 5}}, times[-1] + 3)
    made.close(times[-1] + 3)
    return made


def test_tpot_by_hand():
    # First token at 0.5 s, last content at 2.4 s, 20 tokens: 1.9 / 19 = 0.1 s. The usage chunk 3 s later is outside.
    found = reply(0.5, 1.0, 2.4, n_out=20)
    assert found.ttft_s == 0.5 and found.e2e_s == 2.4
    assert found.tpot_s(found.n_out)[0] == pytest.approx(0.1)
    # (20 - 1) / (3 - 1) = 9.5 tokens a chunk after the first.
    assert found.tokens_per_chunk(20) == 9.5


def test_sixteen_tokens_are_a_speed_and_fifteen_are_not():
    made = reply(0.0, 1.5)
    assert made.tpot_s(16)[0] == pytest.approx(0.1)
    assert made.tpot_s(15)[0] is None


def test_slope_by_hand():
    # 900 more tokens in 0.3 s more: 3000 tok/s. Extremes: 900 / (0.52 - 0.19) and 900 / (0.49 - 0.21).
    value, low, high, _ = slope([(100, 0.19), (100, 0.2), (100, 0.21)], [(1000, 0.49), (1000, 0.5), (1000, 0.52)])
    assert (value, low, high) == pytest.approx((3000, 900 / 0.33, 900 / 0.28))


def test_slope_says_why_it_is_unknown():
    assert "no longer" in slope([(10, 0.2)], [(90, 0.2)])[3]
    assert "noise" in slope([(10, 0.2), (10, 0.4)], [(90, 0.3), (90, 0.5)])[3]
    assert "cut" in slope([(90, 0.2)], [(90, 0.5)])[3]


def test_steady_window_by_hand():
    # Worker 0 streams 21 chunks from 0.0 to 2.0, worker 1 from 0.5 to 2.5: both busy from 0.5 to 2.0.
    # Inside (0.5, 2.0]: 15 chunks of each, one token each: 30 tokens / 1.5 s = 20 tok/s.
    group = []
    for worker, start in ((0, 0.0), (1, 0.5)):
        made = reply(*(round(start + i * 0.1, 9) for i in range(21)), n_out=21)
        group.append(Request(made, 60, 60, Counted(21, "usage"), 2, worker))
    assert steady_output(group)[0] == pytest.approx(20.0)
    assert "not every" in steady_output(group[:1])[1]


def test_counts_that_cannot_be_right():
    counter = Counter(asked=20)
    assert counter.output(reply(0, 1, 2, n_out=20)) == Counted(20, "usage")
    assert counter.output(reply(0, 1, 2, n_out=5000)) == Counted(3, "chunks")
    assert counter.output(reply(*range(30), n_out=2)) == Counted(30, "chunks")
    assert counter.implausible == 2
    counts = {"prompt_tokens": 66, "completion_tokens": 20}
    counter.learn(60, {"usage": counts, "choices": [{"finish_reason": "length"}]})
    assert counter.output(reply(0, 1, 2)) == Counted(20, "length")
    assert counter.output(reply(0, 1, 2, finish="stop")) == Counted(3, "chunks")


def test_money_by_hand():
    # 2000 in at $3 and 100 out at $15 a million: 0.006 + 0.0015.
    assert Estimate(1, 2000, 100).usd(3, 15) == pytest.approx(0.0075)
    meter = Meter(3, 15, max_usd=0.01)
    assert meter.allows(2000, 100)
    meter.charge(2000, 100, None)
    assert not meter.allows(2000, 100) and meter.usd == pytest.approx(0.0075)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_the_stream_may_be_cut_anywhere(size):
    raw = (
        b': hi\r\n\r\ndata:{"a": "\xc3\xa9"}\r\n\r\ndata: {"b":\ndata: 2}\n\n'
        b'data: {"cut": data: {"c": 3}\n\ndata: [DONE]\n\n'
    )
    parser = EventParser()
    found = [event for i in range(0, len(raw), size) for event in parser.feed(raw[i : i + size])]
    assert found == [{"a": "é"}, {"b": 2}, {"c": 3}]
    assert parser.done and parser.malformed == 1


def test_lines_are_bounded():
    parser = EventParser()
    with pytest.raises(StreamTooBigError):
        for _ in range(100):
            parser.feed(b"y" * 50_000)


def test_fields_are_given_up_one_by_one():
    dialect = Dialect()
    assert dialect.learn("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    assert dialect.length_field == "max_completion_tokens"
    assert dialect.learn("stream_options is not permitted") and not dialect.include_usage
    assert not dialect.learn("model is overloaded")


def test_addresses():
    address = parse_address("https://API.openai.com/v1/chat/completions/")
    assert (address.url, address.port, address.paid) == ("https://API.openai.com/v1", 443, "api.openai.com")
    assert parse_address("http://[::1]:8000/v1").loopback
    assert parse_address("https://my.openai.azure.com/openai").paid == "openai.azure.com"
    assert parse_address("https://notopenrouter.ai/v1").paid is None
    # A general key never goes out in clear text over a network, a chosen one does.
    lan = parse_address("http://10.0.0.5:8000/v1")
    assert lan.key_name(None) is None and lan.key_name("X") == "X"
    for bad in ("x", "http://", "http://a:99999/v1", "file:///etc/passwd"):
        with pytest.raises(InputError):
            parse_address(bad)
