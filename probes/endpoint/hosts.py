"""Which addresses cost money, and which environment variable holds their key."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from planner.domain.errors import InputError

PAID_HOSTS: dict[str, str] = {
    "api.openai.com": "OPENAI_API_KEY",
    "openai.azure.com": "AZURE_OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
    "openrouter.ai": "OPENROUTER_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.together.xyz": "TOGETHER_API_KEY",
    "api.together.ai": "TOGETHER_API_KEY",
    "api.fireworks.ai": "FIREWORKS_API_KEY",
    "api.deepinfra.com": "DEEPINFRA_API_KEY",
    "api.mistral.ai": "MISTRAL_API_KEY",
    "api.deepseek.com": "DEEPSEEK_API_KEY",
    "api.cerebras.ai": "CEREBRAS_API_KEY",
    "api.sambanova.ai": "SAMBANOVA_API_KEY",
    "api.novita.ai": "NOVITA_API_KEY",
    "api.x.ai": "XAI_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
    "aiplatform.googleapis.com": "GOOGLE_API_KEY",
    "router.huggingface.co": "HF_TOKEN",
    "api.perplexity.ai": "PERPLEXITY_API_KEY",
    "amazonaws.com": "AWS_BEARER_TOKEN_BEDROCK",
    "api.cohere.ai": "COHERE_API_KEY",
    "api.moonshot.ai": "MOONSHOT_API_KEY",
    "dashscope.aliyuncs.com": "DASHSCOPE_API_KEY",
    "api.ai21.com": "AI21_API_KEY",
}
"""Host, or the end of it, -> the variable that its own client reads."""

PROVIDERS: dict[str, str] = {
    "openai.azure.com": "azure",
    "api.x.ai": "x-ai",
    "generativelanguage.googleapis.com": "google",
    "aiplatform.googleapis.com": "google",
    "router.huggingface.co": "huggingface",
    "amazonaws.com": "aws",
    "api.moonshot.ai": "moonshotai",
    "dashscope.aliyuncs.com": "alibaba-model-studio",
}
"""Paid host -> the provider's id in the price lists, where it is not the host's own name."""

DEFAULT_KEY = "OPENAI_API_KEY"


@dataclass(frozen=True)
class Address:
    """A checked base URL."""

    url: str
    host: str
    port: int
    tls: bool

    @property
    def loopback(self) -> bool:
        """Say whether the address is this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def paid(self) -> str | None:
        """Return the known paid host that this is, or None."""
        return next((name for name in PAID_HOSTS if self.host == name or self.host.endswith(f".{name}")), None)

    @property
    def provider(self) -> str | None:
        """Return the id under which price lists know a paid host, or None."""
        if self.paid is None:
            return None
        return PROVIDERS.get(self.paid) or self.paid.removeprefix("api.").partition(".")[0]

    def key_name(self, chosen: str | None) -> str | None:
        """Return the variable to read the key from; None where a default key must not go.

        Without a choice, a general key is never sent in clear text over a network.
        """
        if chosen:
            return chosen
        if self.paid:
            return PAID_HOSTS[self.paid]
        return DEFAULT_KEY if self.tls or self.loopback else None


def parse_address(text: str) -> Address:
    """Return a checked address; raises InputError for anything that is not a plain http(s) base URL."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError as error:
        raise InputError(f"{text!r} is no usable URL: {error}.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"{text!r} is no base URL.", "Give one such as http://127.0.0.1:8000/v1.")
    if parts.username or parts.password:
        raise InputError("The URL holds a user name or password.", "Put the key into an environment variable.")
    if parts.query or parts.fragment:
        raise InputError("The URL holds a query or fragment.", "Give the base URL only, such as …/v1.")
    path = parts.path.rstrip("/")
    for tail in ("/chat/completions", "/completions"):
        path = path.removesuffix(tail)
    tls = parts.scheme == "https"
    host = parts.hostname.casefold()
    return Address(f"{parts.scheme}://{parts.netloc}{path}", host, port or (443 if tls else 80), tls)
