"""What keeps the pages safe, whatever a request brings: headers on every answer, forms of ours alone, ways to us."""

import httpx
import pytest
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from console.app import create_pages
from console.doors import ConsoleDoors
from console.rendering import static
from console.security import HEADERS, policy
from domain.principal import VerifiedPrincipal
from gateway.app import create_app
from tests.console.staffroom import PUBLIC_URL, Staffroom
from tests.gateway.conftest import MakeDoors


@pytest.mark.parametrize("seal", ["é", "\u0130", "", "0" * 64])
async def test_a_form_with_any_other_seal_changes_nothing(room: Staffroom, agent: VerifiedPrincipal, seal: str) -> None:
    answer = await room.post("/sign-out", agent, {}, piece=False, seal=seal)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "header",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
        {"Origin": "https://interlock.example.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_a_form_of_another_site_changes_nothing(
    room: Staffroom, agent: VerifiedPrincipal, header: dict[str, str]
) -> None:
    sealed = {"seal": await room.seal(agent)}
    answer = await room.http.post("/console/sign-out", data=sealed, headers={**room.session(agent), **header})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    same = await room.http.post("/console/sign-out", data=sealed, headers={**room.session(agent), "Origin": PUBLIC_URL})
    assert same.status_code == 303


@pytest.mark.parametrize(
    "asked",
    ["//[", "http://[", "//evil.example", "https://evil.example/console/", "/console//\\evil.example", "/chat/",
     "javascript:alert(1)", "%00", "/console/\r\nSet-Cookie: a=b", ""],
)  # fmt: skip
async def test_signing_in_leads_back_to_a_page_of_ours_whatever_is_asked_for(room: Staffroom, asked: str) -> None:
    answer = await room.http.get("/console/sign-in", params={"next": asked})
    assert answer.status_code == 200
    assert "evil" not in answer.text
    assert "javascript:" not in answer.text


async def test_every_answer_has_the_headers_a_defect_too(make_doors: MakeDoors, agent: VerifiedPrincipal) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse({})(scope, receive, send)  # no answer that any page can read

    app = create_app(make_doors())
    app.router.routes.extend(create_pages(ConsoleDoors(broken, PUBLIC_URL, b"form key", 600)))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL) as http:
        for path, status in (
            ("/console/", 500),
            ("/console/nowhere", 404),
            ("/chat/embed", 500),
            ("/chat/nowhere", 404),
            ("/chat/widget.js", 200),
            (static("base.css"), 200),
            (static("nowhere.css"), 404),
        ):
            answer = await http.get(path, headers={"Cookie": "interlock_session=x"})
            assert answer.status_code == status, path
            for name, value in {**HEADERS, "Content-Security-Policy": policy(), "X-Frame-Options": "DENY"}.items():
                assert answer.headers[name] == value, path


@pytest.mark.parametrize(
    ("url", "secure"),
    [
        ("https://interlock.example", True),
        ("https://127.0.0.1:8080", True),
        ("http://interlock.example", True),
        ("http://127.0.0.1.example", True),
        ("http://10.0.0.1:8080", True),
        ("http://127.0.0.1:8080", False),
        ("http://localhost:8080", False),
        ("http://[::1]:8080", False),
    ],
)
def test_a_session_goes_over_tls_alone_but_on_this_machine(url: str, secure: bool) -> None:
    assert ConsoleDoors(JSONResponse({}), url, b"form key", 600).secure is secure


@pytest.mark.parametrize(
    "given", ["%00", "%0A", "%2E%2E", "%3Fafter=1", "%23x", "%5C", "%FF", "%ED%A0%80", "x" * 5_000]
)
@pytest.mark.parametrize("page", ["conversations", "knowledge", "approvals", "drafts", "policy/backtests"])
async def test_an_address_that_names_nothing_leads_nowhere(
    room: Staffroom, agent: VerifiedPrincipal, page: str, given: str
) -> None:
    answer = await room.get(f"/{page}/{given}", agent)
    assert answer.status_code in {303, 307, 404}, answer.text
