"""The way into every page of the staff: who asks, whether a form is ours, and what is said when the contract refuses.

A page itself begins with a person who has signed in, and may let a refusal of the contract pass.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from console.contract import Problem, contract_of
from console.doors import SESSION_COOKIE
from console.rendering import doors_of, is_piece, render
from console.security import sealed

Page = Callable[[Request], Awaitable[Response]]
SIGN_IN = "/console/sign-in"


def staff_route(path: str, page: Page, *methods: str) -> Route:
    """Return the route of a page for people of the staff who have signed in."""
    return Route(path, _told(_sealed(_signed_in(page))), methods=list(methods or ("GET",)))


def open_route(path: str, page: Page, *methods: str) -> Route:
    """Return the route of a page that is there before anybody has signed in."""
    return Route(path, _told(_sealed(page)), methods=list(methods or ("GET",)))


def _signed_in(page: Page) -> Page:
    @wraps(page)
    async def entered(request: Request) -> Response:
        if not request.cookies.get(SESSION_COOKIE):
            return to_sign_in(request)
        request.state.me = await contract_of(request).get("/me")
        if request.state.me["kind"] != "staff":
            return to_sign_in(request)
        return await page(request)

    return entered


def _sealed(page: Page) -> Page:
    @wraps(page)
    async def entered(request: Request) -> Response:
        doors = doors_of(request)
        if request.method not in {"GET", "HEAD"} and not await sealed(request, doors.form_key, doors.public_url):
            detail = "This form was made for another session, or by another site. Load the page again and repeat."
            return problem_page(request, Problem(403, {"title": "Nothing was changed", "detail": detail}))
        return await page(request)

    return entered


def _told(page: Page) -> Page:
    @wraps(page)
    async def entered(request: Request) -> Response:
        try:
            return await page(request)
        except Problem as problem:
            return to_sign_in(request) if problem.status == 401 else problem_page(request, problem)

    return entered


def problem_page(request: Request, problem: Problem) -> Response:
    """Return what a person is told of a refusal: a notice in place for htmx, else a page of its own.

    The notice goes to `#toasts` whatever the request was for, so that nothing on the page is lost.
    """
    if not is_piece(request):
        return render(request, "problem.html", problem.status, problem=problem)
    notice = render(request, "pieces/problem.html", 200, problem=problem)
    notice.headers["HX-Retarget"], notice.headers["HX-Reswap"] = "#toasts", "beforeend"
    notice.headers["X-Problem"] = problem.slug
    return notice


def to_sign_in(request: Request) -> Response:
    """Send somebody to sign in, and back here afterwards."""
    back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    where = f"{SIGN_IN}?next={quote(back)}"
    if is_piece(request):
        return Response(status_code=204, headers={"HX-Redirect": SIGN_IN})
    return RedirectResponse(where, 303)
