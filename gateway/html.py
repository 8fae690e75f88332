"""The few HTML pages of the gateway: one plain shell, one style, nothing loaded from anywhere.

Whatever is put into a page is escaped here; a strict Content-Security-Policy stands behind that.
"""

import base64
import hashlib
from html import escape

from starlette.responses import HTMLResponse

_STYLE = (
    "body{font:1rem/1.6 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color:#1c2733;"
    "background:#fff}h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.1rem;margin-top:2rem}"
    "code{background:#eef2f6;border-radius:4px;padding:.1em .35em}a{color:#0b57a4}dt{font-weight:600;margin-top:1rem}"
    "dd{margin:0}.status{color:#5a6b7b}"
    "@media(prefers-color-scheme:dark){body{color:#dde5ec;background:#12181f}code{background:#222c36}a{color:#7db8f0}"
    ".status{color:#9db0c0}}"
)
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def page(title: str, body: str) -> HTMLResponse:
    """Return a whole page; `title` is escaped here, `body` is HTML already."""
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>{body}</main></body></html>"
    )
    return HTMLResponse(html, headers={"Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer"})


def text(words: str) -> str:
    """Return `words` as HTML text, with `code` between backticks."""
    pieces = escape(words).split("`")
    return "".join(f"<code>{piece}</code>" if n % 2 else piece for n, piece in enumerate(pieces))
