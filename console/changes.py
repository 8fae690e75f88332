"""What a page answers when something was changed: a line that says so, with the way to take it back where there is one.

To htmx an event that scripts turn into a toast and a refresh; without scripts, the page again.
"""

import json
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from console.rendering import is_piece

HOME = "/console/"


@dataclass(frozen=True)
class Undo:
    """A POST that takes a change back: where, and with which fields."""

    path: str
    fields: dict[str, str]


def done(request: Request, said: str, back: str = HOME, undo: Undo | None = None, **more: Any) -> Response:
    """Return that something was done; `more` goes to the page's script as it is."""
    if not is_piece(request):
        return RedirectResponse(back, 303)
    told = {"said": said, **more} | ({"undo": {"path": undo.path, "fields": undo.fields}} if undo else {})
    return Response(status_code=204, headers={"HX-Trigger": json.dumps({"il:done": told})})


def going(request: Request, where: str) -> Response:
    """Return that the person goes on at another page of ours."""
    if is_piece(request):
        return Response(status_code=204, headers={"HX-Redirect": where})
    return RedirectResponse(where, 303)


def back_of(given: object) -> str:
    """Return the page to go back to, as a form names it: a page of ours, else the queue."""
    asked = str(given or HOME)
    return asked if asked.startswith(HOME) and "\\" not in asked and "//" not in asked else HOME
