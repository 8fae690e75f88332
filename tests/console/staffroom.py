"""The staff's pages over a real gateway, and whoever of the staff opens them, as a browser without scripts would."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from html import unescape

import httpx
import pytest

from console.app import create_pages
from console.doors import SESSION_COOKIE, ConsoleDoors
from domain.principal import VerifiedPrincipal
from gateway.app import create_app
from tests.gateway.conftest import MakeDoors
from tests.gateway.issuer import Issuer

PUBLIC_URL = "https://interlock.example"
PIECE = {"HX-Request": "true"}
_SEAL = re.compile(r'name="seal" value="([0-9a-f]+)"')


class Staffroom:
    """Opens pages and sends their forms, each person in one session of their own."""

    def __init__(self, http: httpx.AsyncClient, issuer: Issuer) -> None:
        self.http, self._issuer = http, issuer
        self._sessions: dict[str, str] = {}

    def session(self, who: VerifiedPrincipal) -> dict[str, str]:
        """The cookie of somebody's session."""
        token = self._sessions.setdefault(who.key, self._issuer.token(who))
        return {"Cookie": f"{SESSION_COOKIE}={token}"}

    async def get(self, path: str, who: VerifiedPrincipal, *, piece: bool = False) -> httpx.Response:
        """A page, or the piece of it that htmx would ask for."""
        return await self.http.get(f"/console{path}", headers={**self.session(who), **(PIECE if piece else {})})

    async def words(self, path: str, who: VerifiedPrincipal) -> str:
        """What stands on a page, without its markup."""
        answer = await self.get(path, who)
        assert answer.status_code == 200, answer.text
        return words_of(answer)

    async def seal(self, who: VerifiedPrincipal) -> str:
        """What a form of somebody's session carries."""
        found = _SEAL.search((await self.get("/policy", who)).text)
        assert found is not None
        return found[1]

    async def post(
        self,
        path: str,
        who: VerifiedPrincipal,
        fields: Mapping[str, str | list[str]],
        *,
        piece: bool = True,
        seal: str | None = None,
    ) -> httpx.Response:
        """Send a form; `seal` is that of the person's own session unless another is given."""
        sent = {"seal": seal if seal is not None else await self.seal(who), **fields}
        headers = {**self.session(who), **(PIECE if piece else {})}
        return await self.http.post(f"/console{path}", data=sent, headers=headers)


def words_of(answer: httpx.Response) -> str:
    """The text of an answer: without tags, and with its white space as one."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


@pytest.fixture
async def room(make_doors: MakeDoors, issuer: Issuer) -> AsyncIterator[Staffroom]:
    """The pages of the staff over a gateway under the base policy."""
    app = create_app(make_doors())
    app.router.routes.extend(create_pages(ConsoleDoors(app, PUBLIC_URL, b"form key", 600)))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL) as http:
        yield Staffroom(http, issuer)
        # A page that is refused one thing has asked for others beside it: they end before their connections do.
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}), return_exceptions=True)
