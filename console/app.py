"""The pages as ASGI apps, made from their doors: `/console` for the staff, `/chat` for customers, `/static` for both.

A composition root puts them beside the gateway's routes; all that they know of it is its contract.
"""

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from console import chat, pages
from console.contract import client_of
from console.doors import ConsoleDoors
from console.rendering import STATIC, static_digest
from console.security import SecurityHeaders

KEPT = "public, max-age=31536000, immutable"


class Kept(StaticFiles):
    """Files whose address names their version: browsers keep them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file, to be kept."""
        answer = await super().get_response(path, scope)
        answer.headers["Cache-Control"] = KEPT
        return answer


def create_pages(doors: ConsoleDoors) -> list[BaseRoute]:
    """Return the mounts of all pages; whoever takes them serves them."""
    files = Starlette(routes=[Mount("/", Kept(directory=STATIC))], middleware=[Middleware(SecurityHeaders)])
    return [
        Route("/", _to_console),
        Route("/console", _to_console),
        Route("/chat", _to_chat),
        Mount("/console", _app(doors, pages.routes())),
        Mount("/chat", _app(doors, chat.routes())),
        Mount(f"/static/{static_digest()}", files),
    ]


async def _to_console(_request: Request) -> RedirectResponse:
    return RedirectResponse("/console/")


async def _to_chat(request: Request) -> RedirectResponse:
    return RedirectResponse(f"/chat/?{request.url.query}" if request.url.query else "/chat/")


def _app(doors: ConsoleDoors, routes: list[BaseRoute]) -> Starlette:
    app = Starlette(routes=routes, middleware=[Middleware(SecurityHeaders)])
    app.state.doors, app.state.http = doors, client_of(doors.contract)
    return app
