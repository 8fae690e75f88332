"""What the pages are given: the app that speaks the HTTP contract, and a few facts about where they are shown.

Made by a composition root or a test; nothing else of the world is known to this room.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import ASGIApp

SESSION_COOKIE = "interlock_session"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True)
class ConsoleDoors:
    """`contract` answers the routes of docs/http.md; `form_key` seals the forms of a session against other sites."""

    contract: ASGIApp
    public_url: str
    form_key: bytes
    session_ttl_s: int
    temporal_ui_url: str | None = None
    temporal_namespace: str = "default"

    @property
    def secure(self) -> bool:
        """Whether cookies go over TLS alone: everywhere but on this machine over plain HTTP."""
        parts = urlsplit(self.public_url)
        return parts.scheme == "https" or parts.hostname not in LOOPBACK
