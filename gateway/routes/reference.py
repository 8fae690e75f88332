"""Reading matter: the pages that explain problems, the OpenAPI document, and a plain page made from it.

Problems are explained to everybody; the reference is for staff and services, and loads nothing from elsewhere.
"""

from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, JSONResponse

from domain.refusal import NotFound
from gateway.desk import desk_of
from gateway.documents import problems
from gateway.explanations import problem_page
from gateway.html import page, text
from gateway.routes.health import may_operate

router = APIRouter(tags=["reference"])


@router.get(
    "/problems/{slug}",
    summary="What a problem means",
    responses=problems(NotFound),
    response_class=HTMLResponse,
)
async def explain(slug: str) -> HTMLResponse:
    """Return a page on what went wrong and what would be right."""
    if (found := problem_page(slug)) is None:
        raise NotFound("There is no such problem.")
    return found


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> JSONResponse:
    """Return the OpenAPI document, to staff and services."""
    return JSONResponse(await _document(request))


@router.get("/reference", include_in_schema=False)
async def reference(request: Request) -> HTMLResponse:
    """Return the reference as a page, to staff and services."""
    document = await _document(request)
    operations = [
        _operation(method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    about = f"<h1>{escape(document['info']['title'])}</h1><p>{text(document['info']['description'])}</p>"
    return page("Reference · Interlock", about + "".join(operations))


async def _document(request: Request) -> dict[str, Any]:
    if not await may_operate(desk_of(request), request, admins_only=False):
        raise NotFound("There is nothing at this address.")
    document: dict[str, Any] = request.app.openapi()
    return document


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    answers = "".join(
        f"<dt>{escape(status)}</dt><dd>{text(response['description'])}</dd>"
        for status, response in sorted(operation["responses"].items())
    )
    return (
        f"<h2><code>{method.upper()} {escape(path)}</code> {escape(operation['summary'])}</h2>"
        f"<p>{text(operation.get('description', ''))}</p><dl>{answers}</dl>"
    )
