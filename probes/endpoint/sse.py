"""Server-sent events out of bytes, as real servers frame them, with a bound on every line."""

from __future__ import annotations

import json
from typing import Any

MAX_LINE_BYTES = 1024**2
MAX_STREAM_BYTES = 64 * 1024**2


class StreamTooBigError(Exception):
    """The server sends more than any sane answer: a line over 1 MiB or a stream over 64 MiB."""


class EventParser:
    """Feeds on network reads of any size and returns the JSON objects that became complete.

    Comments, empty data lines and keep-alives that a proxy turned into data are skipped; data that never becomes
    JSON is counted in `malformed`. `done` is set by `[DONE]`.
    """

    def __init__(self) -> None:
        self.rest = bytearray()
        self.pending = ""
        self.total = 0
        self.malformed = 0
        self.done = False

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Take one read; raises StreamTooBigError."""
        self.total += len(data)
        self.rest += data
        if self.total > MAX_STREAM_BYTES:
            raise StreamTooBigError(f"more than {MAX_STREAM_BYTES // 1024**2} MiB in one answer")
        found: list[dict[str, Any]] = []
        *lines, last = self.rest.split(b"\n")
        self.rest = last
        for line in lines:
            self._line(bytes(line), found)
        if len(self.rest) > MAX_LINE_BYTES:
            raise StreamTooBigError("a line of more than 1 MiB")
        return found

    def close(self) -> list[dict[str, Any]]:
        """Return what an unfinished last line still held when the stream ended."""
        found: list[dict[str, Any]] = []
        if self.rest:
            self._line(bytes(self.rest), found)
            self.rest = bytearray()
        self._give_up()
        return found

    def _line(self, raw: bytes, found: list[dict[str, Any]]) -> None:
        if len(raw) > MAX_LINE_BYTES:
            raise StreamTooBigError("a line of more than 1 MiB")
        line = raw.decode("utf-8", "replace").rstrip("\r")
        if not line:
            self._give_up()
        elif line.startswith("data:"):
            self._data(line[5:].removeprefix(" "), found)
        elif line.startswith("{"):
            # Some servers answer a streaming request with plain JSON, mostly an error.
            self._data(line, found)

    def _data(self, text: str, found: list[dict[str, Any]]) -> None:
        stripped = text.strip()
        if not stripped or stripped.startswith(":"):
            return
        if stripped == "[DONE]":
            self.done = True
            return
        if (value := loads(stripped)) is None and self.pending:
            # An event may spread over several data lines; only then do they belong together.
            value = loads(f"{self.pending}\n{text}")
        elif self.pending:
            self._give_up()
        if value is None and "data:" in stripped:
            # A server's buffer fault puts two frames on one line, the first of them cut off.
            value = loads(stripped.rpartition("data:")[2].strip())
            self.malformed += value is not None
        if value is None:
            self.pending = f"{self.pending}\n{text}" if self.pending else text
            if len(self.pending) > MAX_LINE_BYTES:
                raise StreamTooBigError("an event of more than 1 MiB")
            return
        self.pending = ""
        if isinstance(value, dict):
            found.append(value)
        else:
            self.malformed += 1

    def _give_up(self) -> None:
        if self.pending:
            self.malformed += 1
            self.pending = ""


def loads(text: str | bytes | bytearray) -> Any:
    """Return the value of a server's JSON, or None for nonsense.

    What JSON allows and nothing else does is replaced: NaN by None, halves of characters by question marks.
    """
    try:
        value = json.loads(text, parse_constant=lambda _: None)
        if "\\ud" in str(text).casefold():
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value
