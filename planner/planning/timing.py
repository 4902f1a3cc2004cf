"""How long a whole task takes, from labelled speeds."""

from __future__ import annotations

from planner.domain.figures import Figure, Speed, unknown, weaker
from planner.domain.workload import Agent
from planner.performance.agents import task_seconds


def task_time(ttft: Figure, decode: Speed, generated_tokens: int, agent: Agent) -> Figure:
    """Return the wall time of a task in s, tools included; unknown when a speed is.

    Formula: Σ turns (TTFT + tokens / decode) + Σ tools, parallel tools counted once a turn.
    """
    basis = weaker(ttft.basis, decode.basis)
    if ttft.value is None or not decode.value:
        return unknown("s", basis, decode.reason or ttft.reason or "no speed is known", source=decode.source)

    def seconds(first: float, speed: float) -> float:
        return task_seconds(
            turns=agent.turns, ttft_s=first, decode_tok_s=speed, output_tokens=generated_tokens,
            tools_per_turn=agent.tools_per_turn, seconds_per_tool=agent.seconds_per_tool,
            parallel_tools=agent.parallel_tools,
        )  # fmt: skip

    first, speed = ttft.range, decode.range
    return Figure(
        value=seconds(first[1], speed[1]), low=seconds(first[0], speed[2]), high=seconds(first[2], speed[0]),
        unit="s", basis=basis, source=f"TTFT: {ttft.source}; decode: {decode.source}", as_of=decode.as_of,
    )  # fmt: skip
