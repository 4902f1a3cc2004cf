"""How many tokens a reply really had: the server's count where it is believable, else the next best, said so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from probes.endpoint.reply import Reply, count

Source = Literal["usage", "length", "chunks"]


@dataclass(frozen=True)
class Counted:
    """Output tokens of one reply and where the number comes from."""

    n_out: int | None
    source: Source


@dataclass
class Counter:
    """Knows what this server has shown about its counts."""

    asked: int
    """Output tokens asked for in each request."""
    honours_length: bool = False
    """A reference call without streaming stopped at exactly the asked length."""
    prompt_tokens: dict[int, int] = field(default_factory=dict)
    """Prompt length asked for -> tokens that a reference call counted."""
    implausible: int = 0

    def learn(self, prompt_length: int, answer: dict[str, Any]) -> None:
        """Take the counts of a reference call."""
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else None
        if (tokens := count(usage, "prompt_tokens")) is not None:
            self.prompt_tokens[prompt_length] = tokens
        choices = answer.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        reason = first.get("finish_reason") if isinstance(first, dict) else None
        self.honours_length = count(usage, "completion_tokens") == self.asked and reason == "length"

    def output(self, reply: Reply) -> Counted:
        """Return the output tokens of a reply."""
        if reply.n_out is not None and self._believable(reply, reply.n_out):
            return Counted(reply.n_out, "usage")
        if reply.n_out is not None:
            self.implausible += 1
        elif self.honours_length and reply.finish_reason == "length":
            return Counted(self.asked, "length")
        return Counted(reply.n_chunks or None, "chunks")

    def prompt(self, reply: Reply, prompt_length: int) -> int | None:
        """Return the prompt tokens of a reply."""
        return reply.n_prompt if reply.n_prompt else self.prompt_tokens.get(prompt_length)

    def _believable(self, reply: Reply, n_out: int) -> bool:
        """A chunk holds a token or more, and no server that honours the limit makes more than was asked for."""
        too_many = n_out > self.asked + 8 and not reply.overrun
        return not too_many and reply.n_chunks <= n_out * 1.1 + 2
