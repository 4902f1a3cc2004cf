"""Sends one chat request at a time slot and stamps what comes back; adapts to what the server accepts."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import Any

import openai

from probes.endpoint.faults import StatusError, explain, status_of
from probes.endpoint.hosts import Address
from probes.endpoint.reply import Reply
from probes.endpoint.sse import EventParser, loads

ERROR_BODY_BYTES = 64 * 1024
JSON_BYTES = 4 * 1024**2
CONNECT_S = 10.0
CLOSE_S = 2.0
IGNORES_EOS = ("vllm", "sglang", "llama.cpp")
"""Engines known to accept `ignore_eos`."""


@dataclass
class Dialect:
    """Which request fields this server takes; learnt from its refusals."""

    length_field: str = "max_tokens"
    include_usage: bool = True
    temperature: bool = True
    ignore_eos: bool = False
    min_tokens: bool = False

    def body(self, output_tokens: int, *, stream: bool) -> dict[str, Any]:
        """Return the optional request fields."""
        fields: dict[str, Any] = {self.length_field: output_tokens}
        if self.include_usage and stream:
            fields["stream_options"] = {"include_usage": True}
        if self.temperature:
            fields["temperature"] = 0
        if self.ignore_eos:
            fields["ignore_eos"] = True
        if self.min_tokens:
            fields["min_tokens"] = output_tokens
        return fields

    def learn(self, refusal: str) -> bool:
        """Give up the field that a refusal names; False when it names none of ours.

        The order matters: a message that recommends `max_completion_tokens` also names `max_tokens`.
        """
        text = refusal.casefold()
        if self.include_usage and ("stream_options" in text or "include_usage" in text):
            self.include_usage = False
        elif self.ignore_eos and "ignore_eos" in text:
            self.ignore_eos = False
        elif self.min_tokens and "min_tokens" in text:
            self.min_tokens = False
        elif self.length_field == "max_tokens" and "max_completion_tokens" in text:
            self.length_field = "max_completion_tokens"
        elif self.length_field == "max_completion_tokens" and "max_completion_tokens" in text:
            self.length_field = "max_tokens"
        elif self.temperature and "temperature" in text:
            self.temperature = False
        else:
            return False
        return True


@dataclass
class ChatClient:
    """One connection pool to one server."""

    address: Address
    model: str
    key: str | None
    timeout_s: float
    connections: int
    dialect: Dialect = field(default_factory=Dialect)

    def __post_init__(self) -> None:
        http = openai.DefaultAsyncHttpxClient(
            follow_redirects=False,
            # A proxy of the environment must not stand between the probe and this machine.
            trust_env=not self.address.loopback,
            event_hooks={"response": [_refuse_all_but_200]},
        )
        self.api = openai.AsyncOpenAI(
            # Local servers want no key, the client insists on one.
            api_key=self.key or "none",
            base_url=self.address.url,
            max_retries=0,
            timeout=openai.Timeout(self.timeout_s, connect=min(CONNECT_S, self.timeout_s)),
            http_client=http,
            default_headers={"Accept-Encoding": "identity"},
        )

    async def close(self) -> None:
        """Close all connections; a server that does not let go is left alone."""
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.api.close(), CLOSE_S)

    async def stream(self, prompt: str, output_tokens: int, timeout_s: float) -> Reply:
        """Send one streaming request and return its reply, failed or not."""
        now = time.perf_counter()
        reply = Reply(planned_at=now, sent_at=now)
        try:
            async with asyncio.timeout(min(timeout_s, self.timeout_s)):
                await self._stream(reply, prompt, output_tokens)
        except Exception as error:
            self._note(reply, error)
        reply.close(time.perf_counter())
        return reply

    async def ask(self, prompt: str, output_tokens: int, timeout_s: float) -> dict[str, Any] | None:
        """Send one request without streaming and return its JSON, or None when it failed."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(min(timeout_s, self.timeout_s)):
                request = self.api.chat.completions.with_streaming_response.create(
                    model=self.model,
                    messages=[{"role": "user", "content": prompt}],
                    extra_body=self.dialect.body(output_tokens, stream=False),
                )
                async with request as response:
                    # A server that streams all the same may never end.
                    if "event-stream" not in response.headers.get("content-type", ""):
                        return await _read_json(response)
        return None

    async def owner(self) -> str | None:
        """Return who owns the model according to `/models` (vLLM and others sign there), or None."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(min(5.0, self.timeout_s)):
                return await self._owner()
        return None

    async def _owner(self) -> str | None:
        async with self.api.models.with_streaming_response.list() as response:
            models = (await _read_json(response) or {}).get("data")
        rows = [row for row in models if isinstance(row, dict)] if isinstance(models, list) else []
        own = next((row for row in rows if row.get("id") == self.model), rows[0] if len(rows) == 1 else {})
        owner = own.get("owned_by")
        return owner[:100] if isinstance(owner, str) else None

    async def _stream(self, reply: Reply, prompt: str, output_tokens: int) -> None:
        parser = EventParser()
        limit = output_tokens + output_tokens // 2 + 16
        reply.sent_at = time.perf_counter()
        request = self.api.chat.completions.with_streaming_response.create(
            model=self.model,
            messages=[{"role": "user", "content": prompt}],
            stream=True,
            extra_body=self.dialect.body(output_tokens, stream=True),
        )
        async with request as response:
            reply.status = response.status_code
            async for data in response.iter_bytes():
                now = time.perf_counter()
                for event in parser.feed(data):
                    reply.take(event, now)
                if reply.n_chunks > limit:
                    reply.overrun = True
                if parser.done or reply.overrun or reply.error:
                    break
        for event in parser.close():
            reply.take(event, time.perf_counter())
        reply.malformed, reply.done = parser.malformed, parser.done

    def _note(self, reply: Reply, error: Exception) -> None:
        reply.fail(*explain(error, self.address.url))
        if (status := status_of(error)) is not None:
            reply.status, reply.retry_after_s = status.status, status.retry_after_s


async def _read_json(response: Any) -> dict[str, Any] | None:
    """Return a JSON object of bounded size, or None for anything else."""
    data = bytearray()
    async for part in response.iter_bytes():
        data += part
        if len(data) > JSON_BYTES:
            return None
    document = loads(data)
    return document if isinstance(document, dict) else None


async def _refuse_all_but_200(response: Any) -> None:
    """Stop at any other status before the client reads a body of unknown size."""
    if response.status_code == 200:
        return
    body = bytearray()
    with contextlib.suppress(Exception):
        async with asyncio.timeout(5.0):
            async for part in response.aiter_bytes():
                body += part
                if len(body) > ERROR_BODY_BYTES:
                    break
    with contextlib.suppress(Exception):
        await response.aclose()
    raise StatusError(response.status_code, dict(response.headers), bytes(body))
