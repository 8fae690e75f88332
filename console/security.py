"""What keeps the pages safe: headers on every answer, and a seal on every form.

No inline script or style is ever let through, so that text with markup in it stays text.
"""

import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from console.doors import SESSION_COOKIE

FORM_FIELD, FORM_HEADER = "seal", "X-Interlock-Seal"
POLICY: Mapping[str, str] = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "manifest-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "X-Content-Type-Options": "nosniff",
}


def policy(**changed: str) -> str:
    """Return the Content-Security-Policy, with directives changed by name (`frame_ancestors="https://shop.example"`)."""
    directives = {**POLICY, **{name.replace("_", "-"): value for name, value in changed.items()}}
    return "; ".join(f"{name} {value}" for name, value in directives.items())


class SecurityHeaders:
    """Gives every answer the headers above; an answer that has set one keeps its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; other scopes pass untouched."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**HEADERS, "Content-Security-Policy": policy()}.items():
                    headers.setdefault(name, value)
                if "frame-ancestors 'none'" in headers["Content-Security-Policy"]:
                    headers.setdefault("X-Frame-Options", "DENY")
            await send(message)

        await self.app(scope, receive, dressed)


def seal_of(request: Request, form_key: bytes) -> str:
    """Return what a form of this session carries, so that no other site can send one."""
    session = request.cookies.get(SESSION_COOKIE, "")
    return hmac.new(form_key, session.encode(), hashlib.sha256).hexdigest()


async def sealed(request: Request, form_key: bytes, public_url: str) -> bool:
    """Whether a request that changes something comes from a page of ours, in the session that it was made for."""
    if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        return False
    origin = request.headers.get("origin")
    if origin is not None and _place(origin) not in {_place(public_url), _place(str(request.base_url))} - {None}:
        return False
    given: object = request.headers.get(FORM_HEADER) or (await request.form()).get(FORM_FIELD)
    return isinstance(given, str) and hmac.compare_digest(given.encode(), seal_of(request, form_key).encode())


def _place(url: str) -> tuple[str, str] | None:
    try:
        parts = urlsplit(url)
    except ValueError:  # what is no URL is nobody's place
        return None
    return parts.scheme, parts.netloc
