"""Templates into answers: one environment, escaping everything, with the words of `wording` as filters.

Static files carry the digest of all of them in their address, so that they may be kept for good.
"""

import hashlib
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from console import wording
from console.contract import Contract, contract_of
from console.doors import ConsoleDoors
from console.security import FORM_FIELD, FORM_HEADER, seal_of

HERE = Path(str(files("console")))
STATIC = HERE / "static"


@cache
def static_digest() -> str:
    """Return the digest of all static files: their version."""
    told = hashlib.sha256()
    for file in sorted(STATIC.rglob("*")):
        if file.is_file():
            told.update(file.name.encode() + file.read_bytes())
    return told.hexdigest()[:12]


def static(name: str) -> str:
    """Return the address of a static file."""
    return f"/static/{static_digest()}/{name}"


def _by_class(state: StateCore) -> None:
    """Let a table's cells say by a class how they are aligned: no style of a page's own is let through."""
    for token in state.tokens:
        if (style := token.attrs.pop("style", None)) is not None:
            token.attrSet("class", f"align-{str(style).rpartition(':')[2]}")


_MARKDOWN = MarkdownIt("js-default", {"html": False, "linkify": False})
_MARKDOWN.core.ruler.push("by_class", _by_class)


def markdown(body: str) -> Markup:
    """Return a Markdown text as HTML without any HTML of its own."""
    return Markup(_MARKDOWN.render(body))  # noqa: S704  html is off: what looks like markup comes out escaped


@cache
def environment() -> jinja2.Environment:
    """Return the templates' environment."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("money", "moment", "clock", "duration", "ago", "label", "sentence", "initials"):
        made.filters[name] = getattr(wording, name)
    made.filters["markdown"] = markdown
    made.globals.update(static=static, FORM_FIELD=FORM_FIELD, FORM_HEADER=FORM_HEADER)
    return made


def doors_of(request: Request) -> ConsoleDoors:
    """Return what the pages were given."""
    doors: ConsoleDoors = request.app.state.doors
    return doors


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page, or a piece of one, made from `template` with `values`, the session's seal and the time now."""
    known = {
        "request": request,
        "path": request.url.path,
        "seal": seal_of(request, doors_of(request).form_key),
        "now": datetime.now(UTC),
        "me": getattr(request.state, "me", None),
    }
    return HTMLResponse(environment().get_template(template).render({**known, **values}), status)


def is_piece(request: Request) -> bool:
    """Whether htmx asks for a piece of a page and not for the whole of it."""
    return request.headers.get("hx-request") == "true"


__all__ = ["Contract", "contract_of", "doors_of", "is_piece", "markdown", "render", "static"]
