"""How long an agent's task takes, and how its context grows turn by turn."""

from __future__ import annotations

from typing import NamedTuple

from planner.domain.workload import Agent, Request


class Turn(NamedTuple):
    """One model call of an agent's task, in tokens."""

    prompt_tokens: int
    """Everything that the call sends."""
    new_tokens: int
    """Of those, what no earlier turn had: what a prefix cache leaves to process."""
    cached_tokens: int
    """Of those, what the previous turn's cache can hold."""


def task_seconds(
    *,
    turns: int,
    ttft_s: float,
    decode_tok_s: float,
    output_tokens: float,
    tools_per_turn: int,
    seconds_per_tool: float,
    parallel_tools: bool,
) -> float:
    """Return seconds of a whole task.

    `tools_per_turn` tools follow every turn, one after another or at once. Formula: Σ turns (TTFT + output/decode)
    + Σ tools; 4 turns × 200 tokens at 50 tok/s with one 0.3 s tool each take 4·4 + 4·0.3 = 17.2 s.
    """
    tools = min(tools_per_turn, 1) if parallel_tools else tools_per_turn
    return turns * (ttft_s + output_tokens / decode_tok_s + tools * seconds_per_tool)


def turn_contexts(request: Request, agent: Agent) -> tuple[Turn, ...]:
    """Return the calls of one task: each sends the whole conversation so far, of which only the end is new.

    The first turn's cached part is the shared prefix at the stated hit rate, rounded down.
    """
    turns = []
    first_cached = int(request.shared_prefix_tokens * request.cache_hit_rate)
    prompt, cached = request.input_tokens, first_cached
    for _ in range(agent.turns):
        turns.append(Turn(prompt_tokens=prompt, new_tokens=prompt - cached, cached_tokens=cached))
        cached = prompt + request.output_tokens
        prompt = cached + agent.tool_result_tokens
    return tuple(turns)
