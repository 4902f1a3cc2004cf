"""What one streamed reply said, and the numbers in it. Times are seconds on one monotonic clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SHORT_OUTPUT_TOKENS = 16
"""Below this the fixed costs dominate: a length, not a speed."""
BURST_GAP_S = 0.0002
BUFFERED_CHUNKS = 8
BUNDLED = 1.05


@dataclass
class Reply:
    """One request's reply, filled chunk by chunk."""

    planned_at: float
    sent_at: float
    chunk_at: list[float] = field(default_factory=list)
    """Arrival of every chunk that carried output: text, reasoning or a tool call."""
    first_visible_at: float | None = None
    """Arrival of the first output that is no reasoning."""
    ended_at: float | None = None
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    timings: dict[str, Any] | None = None
    error: str | None = None
    error_kind: str | None = None
    hint: str = ""
    status: int | None = None
    retry_after_s: float | None = None
    malformed: int = 0
    done: bool = False
    overrun: bool = False
    """The server went on far beyond the asked length, so the stream was cut."""
    reasoning_chunks: int = 0
    thinking: bool = False

    def take(self, event: dict[str, Any], now: float) -> None:
        """Take one parsed event of the stream."""
        if event.get("error"):
            self.fail("in_body_error", _error_text(event["error"]))
            return
        extra = event.get("x_groq")
        usage = event.get("usage") or (extra.get("usage") if isinstance(extra, dict) else None)
        if isinstance(usage, dict):
            # Running totals or one final count: the last one is right in both cases.
            self.usage = usage
        if isinstance(event.get("timings"), dict):
            self.timings = _timings(event["timings"])
        choices = event.get("choices")
        if not isinstance(choices, list):
            return
        for choice in choices:
            if isinstance(choice, dict):
                self._choice(choice, now)

    def fail(self, kind: str, text: str, hint: str = "") -> None:
        """Note that the request failed; the first reason counts."""
        if self.error is None:
            self.error_kind, self.error, self.hint = kind, text[:600], hint

    def close(self, now: float) -> None:
        """Note the end of the stream; an end without a finish reason is a failed request."""
        self.ended_at = now
        if self.error is None and self.finish_reason is None and not self.overrun:
            if not self.chunk_at and not self.done:
                self.fail("nonsense", "the reply was no event stream of chat completions")
            elif not self.done:
                self.fail("stream_cut", "the stream ended in the middle")
            elif not self.chunk_at:
                self.fail("empty", "the reply carried no output")
            else:
                self.fail("no_finish", "the stream ended without a finish reason")

    def _choice(self, choice: dict[str, Any], now: float) -> None:
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.finish_reason = reason[:40]
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return
        thought = bool(delta.get("reasoning") or delta.get("reasoning_content"))
        text = delta.get("content")
        visible = bool(text) or bool(delta.get("tool_calls")) or bool(delta.get("function_call"))
        if not (thought or visible):
            return
        self.chunk_at.append(now)
        inline = isinstance(text, str) and self._inside_think(text)
        self.reasoning_chunks += bool((thought and not visible) or inline)
        if visible and not inline and self.first_visible_at is None:
            self.first_visible_at = now

    def _inside_think(self, text: str) -> bool:
        if "<think>" in text:
            self.thinking = True
        if "</think>" in text:
            self.thinking = False
            return not text.rpartition("</think>")[2].strip()
        return self.thinking

    @property
    def ok(self) -> bool:
        """Say whether the reply is complete."""
        return self.error is None and bool(self.chunk_at)

    @property
    def n_chunks(self) -> int:
        """Return the number of chunks with output."""
        return len(self.chunk_at)

    @property
    def n_out(self) -> int | None:
        """Return the output tokens as the server counts them, reasoning included; None when it does not."""
        return count(self.usage, "completion_tokens")

    @property
    def n_prompt(self) -> int | None:
        """Return the prompt tokens as the server counts them."""
        return count(self.usage, "prompt_tokens")

    @property
    def n_cached(self) -> int | None:
        """Return the prompt tokens that the server did not process again, where it says so."""
        details = (self.usage or {}).get("prompt_tokens_details")
        found = count(details if isinstance(details, dict) else None, "cached_tokens")
        return found if found is not None else count(self.timings, "cache_n")

    @property
    def n_reasoning(self) -> int | None:
        """Return the reasoning tokens within the output, where the server says so."""
        details = (self.usage or {}).get("completion_tokens_details")
        return count(details if isinstance(details, dict) else None, "reasoning_tokens")

    @property
    def ttft_s(self) -> float | None:
        """Return the time to first token. Formula: first chunk with any output - sent."""
        return self.chunk_at[0] - self.sent_at if self.chunk_at else None

    @property
    def e2e_s(self) -> float | None:
        """Return the time to the last chunk with output."""
        return self.chunk_at[-1] - self.sent_at if self.chunk_at else None

    @property
    def gaps_s(self) -> list[float]:
        """Return the times between chunks, which are tokens only where each chunk holds one."""
        return [later - earlier for earlier, later in zip(self.chunk_at, self.chunk_at[1:], strict=False)]

    def tokens_per_chunk(self, n_out: int | None) -> float | None:
        """Return tokens a chunk after the first. Formula: (n_out - 1) / (chunks - 1)."""
        return (n_out - 1) / (self.n_chunks - 1) if n_out and self.n_chunks > 1 else None

    @property
    def buffered(self) -> bool:
        """Say whether something on the way held the stream back: many chunks in one or two bursts."""
        if self.n_chunks < BUFFERED_CHUNKS:
            return False
        bursts = 1 + sum(gap > BURST_GAP_S for gap in self.gaps_s)
        return bursts <= 2

    @property
    def hidden_reasoning(self) -> bool:
        """Say whether tokens were made that the stream did not show."""
        return bool(self.n_reasoning) and not self.reasoning_chunks

    def tpot_s(self, n_out: int | None) -> tuple[float | None, str]:
        """Return the time per output token, or None with the reason.

        Formula: (last content - first token) / (output tokens - 1); the window ends at the last content.
        """
        if n_out is None:
            return None, "the number of output tokens is unknown"
        if n_out < SHORT_OUTPUT_TOKENS:
            return None, f"the output ended after {n_out} tokens; fewer than {SHORT_OUTPUT_TOKENS} give no speed"
        if self.hidden_reasoning:
            return None, "reasoning tokens are counted but not streamed"
        if self.n_chunks < 2:
            return None, "the whole output came in one chunk"
        if self.buffered:
            return None, "the stream was buffered on the way: many chunks at once"
        window = self.chunk_at[-1] - self.chunk_at[0]
        return (window / (n_out - 1), "") if window > 0 else (None, "all output came at one moment")


def count(source: dict[str, Any] | None, key: str) -> int | None:
    """Return a non-negative whole number from a server's JSON, or None for nonsense."""
    value = (source or {}).get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


def _timings(found: dict[str, Any]) -> dict[str, float]:
    """Return what a llama.cpp server says about its own times; a stranger's object may hold anything."""
    known = ("cache_n", "prompt_n", "prompt_ms", "predicted_n", "predicted_ms", "draft_n", "draft_n_accepted")
    numbers = {key: found[key] for key in known if isinstance(found.get(key), int | float)}
    return {key: value for key, value in numbers.items() if 0 <= value < 1e12}


def _error_text(error: Any) -> str:
    if isinstance(error, dict):
        code = error.get("code")
        return f"{error.get('message') or 'error without a message'}" + (f" (code {code})" if code else "")
    return str(error)
