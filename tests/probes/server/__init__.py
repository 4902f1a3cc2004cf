"""A real HTTP server on the loopback that plays OpenAI-compatible servers with their quirks."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Part = bytes | float
"""Bytes to send at once, or seconds to wait."""


@dataclass
class Answer:
    """What the server does with one chat request."""

    parts: Iterable[Part] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "text/event-stream"


class QuirkServer:
    """Serves `/v1/chat/completions` with `play(body)` and `/v1/models` with `owner`; keeps the requests."""

    def __init__(self, play: Callable[[dict[str, Any]], Answer], owner: str | None = None) -> None:
        self.play, self.owner = play, owner
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                data = [{"id": "m", "owned_by": outer.owner}] if outer.owner else []
                status = 200 if outer.owner else 404
                self.answer(Answer([json.dumps({"data": data}).encode()], status, kind="application/json"))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with outer.lock:
                    outer.bodies.append(body)
                    outer.keys.append(self.headers.get("authorization"))
                self.answer(outer.play(body))

            def answer(self, answer: Answer) -> None:
                self.send_response(answer.status)
                for name, value in {"content-type": answer.kind, "connection": "close", **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    for part in answer.parts:
                        if isinstance(part, float):
                            time.sleep(part)
                        else:
                            self.wfile.write(part)
                            self.wfile.flush()
                except OSError:
                    return

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def __enter__(self) -> QuirkServer:
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.http.shutdown()
        self.http.server_close()


def event(value: Any) -> bytes:
    """Frame one JSON object as an event."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(**delta: Any) -> bytes:
    """Make a chunk with this delta."""
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None})


ROLE = chunk(role="assistant", content=None)
FINISH = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
DONE = b"data: [DONE]\n\n"


def usage(n_prompt: int, n_out: int, **details: Any) -> bytes:
    """Make the last chunk without choices."""
    counts = {"prompt_tokens": n_prompt, "completion_tokens": n_out, **details}
    return event({"choices": [], "usage": counts})


def n_words(body: dict[str, Any]) -> int:
    """Count the words of a request's prompt, which this server takes for its tokens."""
    return len(body["messages"][0]["content"].split())


def steady(body: dict[str, Any], *, gap: float = 0.005, prefill: float = 0.0, counted: bool = True) -> Iterator[Part]:
    """Stream the asked number of one-token chunks at an even pace, usage last."""
    asked = body.get("max_tokens") or body["max_completion_tokens"]
    yield ROLE
    yield prefill * n_words(body) + 0.001
    for index in range(asked):
        if index:
            yield gap
        yield chunk(content="word ")
    yield FINISH
    if counted:
        yield usage(n_words(body), asked)
    yield DONE
