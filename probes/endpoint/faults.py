"""Turns whatever went wrong with a request into a kind to count and a sentence to show."""

from __future__ import annotations

import email.utils
import ssl
import time
from collections.abc import Mapping

import openai

from probes.endpoint.sse import StreamTooBigError, loads

SHOWN = 300


class StatusError(Exception):
    """An answer other than 200, its body read only as far as it is worth showing."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self) -> str:
        """Return the server's own message."""
        raw = self.body.decode("utf-8", "replace").strip()
        document = loads(raw)
        for key in ("error", "detail", "message"):
            value = document.get(key) if isinstance(document, dict) else None
            if isinstance(value, dict) and value.get("message"):
                return str(value["message"])[:SHOWN]
            if value:
                return str(value)[:SHOWN]
        return raw[:SHOWN]

    @property
    def retry_after_s(self) -> float | None:
        """Return the wait that the server asks for: milliseconds, seconds or a date; None without one."""
        for key, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
            value = (self.headers.get(key) or "").strip()
            try:
                return max(0.0, float(value) / unit)
            except ValueError:
                pass
        try:
            moment = email.utils.parsedate_to_datetime(self.headers.get("retry-after") or "")
        except (TypeError, ValueError):
            return None
        return max(0.0, moment.timestamp() - time.time())


def chain(error: BaseException) -> list[BaseException]:
    """Return an error and everything that caused it."""
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = current.__cause__ or current.__context__
    return found


def status_of(error: BaseException) -> StatusError | None:
    """Return the HTTP status behind an error, or None."""
    return next((one for one in chain(error) if isinstance(one, StatusError)), None)


def explain(error: BaseException, url: str) -> tuple[str, str, str]:
    """Return (kind, sentence, hint) for a failed request."""
    if (status := status_of(error)) is not None:
        return _status(status, url)
    causes = chain(error)
    names = {type(one).__name__ for one in causes}
    last = (str(causes[-1]) or type(causes[-1]).__name__)[:SHOWN]
    if any(isinstance(one, ssl.SSLError) for one in causes) or "CERTIFICATE_VERIFY_FAILED" in str(causes):
        hint = "A self-signed server needs its certificate in SSL_CERT_FILE, or use http on this machine."
        found = ("tls", f"No trusted TLS connection to {url}: {last}.", hint)
    elif isinstance(error, TimeoutError | openai.APITimeoutError):
        found = ("timeout", f"{url} did not answer in time.", "Raise --timeout, or ask for fewer tokens.")
    elif isinstance(error, StreamTooBigError):
        found = ("too_big", f"{url} sent {error}.", "This is no chat completion stream.")
    elif "ConnectError" in names or any(isinstance(one, ConnectionRefusedError) for one in causes):
        found = ("no_connection", f"Nothing answers at {url}: {last}.", "Is the server running there?")
    elif names & {"RemoteProtocolError", "ReadError", "WriteError", "LocalProtocolError", "DecodingError"}:
        hint = "Is this an OpenAI-compatible server?"
        found = ("broken", f"{url} broke off or does not speak HTTP: {last}.", hint)
    else:
        found = ("failed", f"The request to {url} failed: {type(error).__name__}: {str(error)[:SHOWN]}.", "")
    return found


def _status(error: StatusError, url: str) -> tuple[str, str, str]:
    text = f": {error.text}" if error.text else ""
    if 300 <= error.status < 400:
        target = error.headers.get("location") or "an unnamed address"
        hint = "Redirects are not followed: give the final URL."
        return "redirect", f"{url} redirects to {target[:SHOWN]}.", hint
    sentence, hint = {
        401: ("refuses the key", "Set the key's variable, see --key-env."),
        403: ("refuses the key", "Set the key's variable, see --key-env."),
        404: ("has no such model or path", "Check --model, and that the URL ends in /v1."),
        429: ("limits the rate", "Wait, or lower --concurrency."),
    }.get(error.status, (f"answered {error.status}", ""))
    return f"http_{error.status}", f"{url} {sentence}{text}.", hint
