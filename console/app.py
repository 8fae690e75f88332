"""The pages as ASGI apps, made from their doors: `/console` for the staff, `/chat` for customers, `/static` for both.

A composition root puts them beside the gateway's routes; all that they know of it is its contract.
"""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from console import chat, pages
from console.contract import Problem, client_of
from console.doors import ConsoleDoors
from console.entrance import problem_page
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
    files = SecurityHeaders(Starlette(routes=[Mount("/", Kept(directory=STATIC))]))
    return [
        Route("/", _to_console),
        Route("/console", _to_console),
        Route("/chat", _to_chat),
        Mount("/console", _app(doors, pages.routes())),
        Mount("/chat", _app(doors, chat.routes())),
        Mount(f"/static/{static_digest()}", files),
    ]


async def _nothing_here(request: Request, _fault: Exception) -> Response:
    return problem_page(
        request, Problem(404, {"title": "There is no such page", "detail": "The address leads nowhere."})
    )


async def _defect(request: Request, _fault: Exception) -> Response:
    detail = "The fault is ours, and is in the log. Nothing that you typed was sent; going back keeps it."
    return problem_page(request, Problem(500, {"title": "This page could not be shown", "detail": detail}))


_SAID = {404: _nothing_here, 500: _defect}


async def _to_console(_request: Request) -> RedirectResponse:
    return RedirectResponse("/console/")


async def _to_chat(request: Request) -> RedirectResponse:
    return RedirectResponse(f"/chat/?{request.url.query}" if request.url.query else "/chat/")


def _app(doors: ConsoleDoors, routes: list[BaseRoute]) -> ASGIApp:
    app = Starlette(routes=routes, exception_handlers=_SAID)
    app.state.doors, app.state.http = doors, client_of(doors.contract)
    return SecurityHeaders(app)  # around all of it: Starlette answers a defect outside of its own middleware
