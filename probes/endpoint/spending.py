"""What a probe will cost at most, what it has cost, and when it must stop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from planner.domain.units import TOKENS_PER_MTOK


@dataclass(frozen=True)
class Estimate:
    """An upper estimate of the tokens of a whole probe."""

    requests: int
    input_tokens: int
    output_tokens: int

    def usd(self, price_in: float | None, price_out: float | None) -> float | None:
        """Return dollars at prices per million tokens, or None without prices."""
        if price_in is None or price_out is None:
            return None
        return (self.input_tokens * price_in + self.output_tokens * price_out) / TOKENS_PER_MTOK

    def as_dict(self, price_in: float | None, price_out: float | None) -> dict[str, Any]:
        """Return the estimate for an event."""
        return {
            "requests": self.requests,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": self.usd(price_in, price_out),
        }


@dataclass
class Meter:
    """Counts what was spent. A request that failed is counted as if it had been answered in full."""

    price_in: float | None = None
    price_out: float | None = None
    max_usd: float | None = None
    max_tokens: int | None = None
    """Bound on all tokens together where no price is known."""
    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    by_error: dict[str, int] = field(default_factory=dict)

    @property
    def usd(self) -> float | None:
        """Return dollars so far, or None without prices."""
        return Estimate(self.requests, self.input_tokens, self.output_tokens).usd(self.price_in, self.price_out)

    def allows(self, input_tokens: int, output_tokens: int) -> bool:
        """Say whether another request of this size stays within the budget."""
        after = Estimate(1, self.input_tokens + input_tokens, self.output_tokens + output_tokens)
        usd = after.usd(self.price_in, self.price_out)
        if self.max_usd is not None and usd is not None and usd > self.max_usd:
            return False
        return self.max_tokens is None or after.input_tokens + after.output_tokens <= self.max_tokens

    def charge(self, input_tokens: int, output_tokens: int, error: str | None) -> None:
        """Count one request."""
        self.requests += 1
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        if error:
            self.by_error[error] = self.by_error.get(error, 0) + 1
