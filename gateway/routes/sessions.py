"""Signing in where no identity provider stands before: customers by their tenant's word, visitors, and a demo's people.

A session is a bearer token of the api's own making; its bearer's standing is looked up at every request, as ever.
"""

import json
import time
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import jwt
from fastapi import APIRouter, Request
from jwt.exceptions import PyJWTError
from pydantic import Field

from domain.fault import OperationalFault
from domain.permission import Tool
from domain.principal import PrincipalKind
from domain.refusal import NotFound
from gateway.admission import GuardedRoute, require_json
from gateway.answers import Answer
from gateway.bodies import Body
from gateway.desk import Desk, caller_of, desk_of
from gateway.documents import guarded, opened, problems
from gateway.duties import may_use
from gateway.identity import names_somebody
from gateway.refusals import CustomerBlocked, RateLimited, Unauthenticated, Unavailable
from gateway.shapes import ClientId
from store import people

router = APIRouter(tags=["sessions"])
mine = APIRouter(route_class=GuardedRoute, tags=["sessions"])

WIDGET_SECRET = "widget"  # noqa: S105  the name of a secret, and none itself
IDENTITY_S_MAX = 86_400
IDENTITY_LEEWAY_S = 30
_NO_KEY = "Sessions are not set up here: INTERLOCK_SESSION_KEY is missing."


class BeginSession(Body):
    """Begin a chat session: as the customer whom the tenant vouches for in `identity`, or as a visitor."""

    tenant: ClientId = Field(examples=["acme-market"])
    identity: str | None = Field(
        default=None,
        max_length=8_192,
        description="A JWT (HS256) that the tenant signs with its secret `widget`: `sub` (customer id) and `exp`.",
    )


class SignInAs(Body):
    """Sign in as one of a demo's people."""

    tenant: ClientId
    kind: Literal["customer", "staff"]
    id: ClientId


class SessionBegun(Answer):
    """A bearer token for the other routes, and whose it is."""

    token: str
    tenant: str
    kind: PrincipalKind
    id: str
    expires_at: int = Field(description="Seconds of the epoch.")


class DevPerson(Answer):
    """Somebody of a demo; `about` is what makes them worth trying."""

    id: str
    name: str
    role: str | None = None
    about: str | None = None


class DevTenant(Answer):
    """An organisation of a demo, with its people."""

    id: str
    name: str
    kind: str
    staff: list[DevPerson]
    customers: list[DevPerson]


class DevPeople(Answer):
    """Who may sign in without a password."""

    tenants: list[DevTenant]


class Me(Answer):
    """Who asks, and which tools the policy in force lets them use now."""

    tenant: str
    tenant_name: str
    stage: str
    kind: PrincipalKind
    id: str
    name: str | None = None
    role: str | None = None
    tools: list[str]


@router.post(
    "/sessions",
    status_code=201,
    summary="Begin a chat session",
    responses=opened(NotFound, Unauthenticated, CustomerBlocked, RateLimited, Unavailable),
)
async def begin(request: Request, body: BeginSession) -> SessionBegun:
    """Return a token for the customer whom the tenant vouches for or, without `identity`, for a new visitor."""
    desk = desk_of(request)
    await require_json(request)
    if body.identity is None:
        desk.rates.admit_session(body.tenant)
    if await people.tenant_name(desk.db, body.tenant) is None:
        raise NotFound("There is no such organisation.")
    if body.identity is None:
        return _begun(desk, body.tenant, PrincipalKind.ANONYMOUS, f"visitor-{uuid4().hex}")
    return _begun(desk, body.tenant, PrincipalKind.CUSTOMER, await _customer(desk, body.tenant, body.identity))


@router.post(
    "/sessions/dev", status_code=201, summary="Sign in to a demo", responses=opened(NotFound, RateLimited, Unavailable)
)
async def sign_in(request: Request, body: SignInAs) -> SessionBegun:
    """Return a token for one of the demo's people; in any other installation there is nothing here."""
    desk = desk_of(request)
    await require_json(request)
    desk.rates.admit_session(body.tenant)
    people_of = {
        (tenant.id, kind, person.id)
        for tenant in _dev_people(desk).tenants
        for kind, persons in (("staff", tenant.staff), ("customer", tenant.customers))
        for person in persons
    }
    if (body.tenant, body.kind, body.id) not in people_of:
        raise NotFound("There is nobody of that name in this demo.")
    return _begun(desk, body.tenant, PrincipalKind(body.kind), body.id)


@router.get("/sessions/people", summary="Who may sign in to a demo", responses=problems(NotFound, Unavailable))
async def dev_people(request: Request) -> DevPeople:
    """Return the demo's people; in any other installation there is nothing here."""
    return _dev_people(desk_of(request))


@mine.get("/me", summary="Who you are here", responses=guarded())
async def me(request: Request) -> Me:
    """Return who the token is for, and what the policy in force lets them use at this moment."""
    desk, caller = desk_of(request), caller_of(request)
    tenant_name, name = await people.names(desk.db, caller.tenant_id, caller.id)
    return Me(
        tenant=caller.tenant_id,
        tenant_name=tenant_name,
        stage=caller.tenant.stage,
        kind=caller.kind,
        id=caller.id,
        name=name if caller.is_staff else None,
        role=caller.role.value if caller.role else None,
        tools=[tool.value for tool in Tool if await may_use(desk, caller, tool)],
    )


def _begun(desk: Desk, tenant_id: str, kind: PrincipalKind, ident: str) -> SessionBegun:
    if desk.own_tokens is None:
        raise Unavailable(_NO_KEY)
    issued = desk.own_tokens.mint(tenant_id, kind, ident, time.time(), desk.settings.session_ttl_s)
    return SessionBegun(token=issued.token, tenant=tenant_id, kind=kind, id=ident, expires_at=issued.expires_at)


async def _customer(desk: Desk, tenant_id: str, identity: str) -> str:
    """Return the customer's id that the tenant has signed, of one who may come.

    Each has a window of their own, so that no crowd of visitors shuts them out; who is nobody's counts with the crowd.
    """
    try:
        ident = await _vouched_for(desk, tenant_id, identity)
    except Unauthenticated:
        desk.rates.admit_session(tenant_id)
        raise
    desk.rates.admit_session(f"{tenant_id} {ident}")
    await desk.identity.vouched_for(tenant_id, PrincipalKind.CUSTOMER, ident)
    return ident


async def _vouched_for(desk: Desk, tenant_id: str, identity: str) -> str:
    """Return the customer's id that the tenant has signed. Raises Unauthenticated for anything else."""
    try:
        secret = await desk.secrets(tenant_id, WIDGET_SECRET)
    except OperationalFault as fault:
        raise Unavailable("The organisation's secrets cannot be opened at the moment.", retry_after_s=5) from fault
    try:
        claims = jwt.decode(
            identity,
            secret or uuid4().hex,  # without a secret nothing fits, and it takes as long
            algorithms=["HS256"],
            leeway=IDENTITY_LEEWAY_S,
            options={"require": ["sub", "exp"], "verify_aud": False},
        )
        too_long = claims["exp"] > time.time() + IDENTITY_S_MAX + IDENTITY_LEEWAY_S
        if too_long or not claims["sub"].strip() or not names_somebody(claims["sub"]):
            raise ValueError
    except (PyJWTError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        raise Unauthenticated(
            "`identity` is not a JWT (HS256) that the organisation signed with its widget secret, with `sub` and an "
            "`exp` within a day."
        ) from None
    return str(claims["sub"])


def _dev_people(desk: Desk) -> DevPeople:
    file = desk.settings.dev_people_file
    if file is None:
        raise NotFound("There is nothing at this address.")
    try:
        return DevPeople.model_validate(_read(file))
    except (OSError, ValueError):
        raise Unavailable("The demo's people are not there yet; seeding takes a moment.", retry_after_s=2) from None


def _read(file: Path) -> Any:
    return json.loads(file.read_bytes())
