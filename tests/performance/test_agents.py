from __future__ import annotations

import pytest

from planner.domain.workload import Agent, Request
from planner.performance.agents import task_seconds, turn_contexts


def seconds(**changed):
    plain = {
        "turns": 4, "ttft_s": 0.0, "decode_tok_s": 50.0, "output_tokens": 200, "tools_per_turn": 1,
        "seconds_per_tool": 0.3, "parallel_tools": False,
    }  # fmt: skip
    return task_seconds(**{**plain, **changed})


def test_the_worked_example():
    # 4 · 200/50 = 16 s of decoding and 4 · 0.3 s of tools.
    assert seconds() == pytest.approx(17.2)


def test_parallel_tools_help_only_within_a_turn():
    assert seconds(parallel_tools=True) == pytest.approx(17.2)
    # One turn with four tools: 4 s + 1.2 s one after another, 4 s + 0.3 s at once.
    assert seconds(turns=1, tools_per_turn=4) == pytest.approx(5.2)
    assert seconds(turns=1, tools_per_turn=4, parallel_tools=True) == pytest.approx(4.3)


def test_context_grows_turn_by_turn_and_repeats_are_cached():
    request = Request(input_tokens=1000, output_tokens=200, shared_prefix_tokens=500, cache_hit_rate=0.9)
    turns = turn_contexts(request, Agent(turns=3, tools_per_turn=1, tool_result_tokens=300))
    # Turn 2 sends 1000 + 200 + 300; of it the first 1200 were seen before.
    assert [tuple(turn) for turn in turns] == [(1000, 550, 450), (1500, 300, 1200), (2000, 300, 1700)]
