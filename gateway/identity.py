"""Who is asking: a token is verified, its bearer's standing is looked up, and only then is there a principal.

Nothing else of a request is ever asked who makes it: no body, no query, no other header.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, assert_never

import jwt
from jwt.exceptions import PyJWTError

from domain.principal import PrincipalKind, StaffRole, VerifiedPrincipal
from domain.tenant import TenantStanding
from gateway.keys import KeySet
from gateway.own_tokens import KID, OwnTokens
from gateway.refusals import CustomerBlocked, Unauthenticated
from gateway.roll import Roll
from store import admission
from store.database import Database

LEEWAY_S = 30
TOKEN_CHARS_MAX = 8_192
_REQUIRED = ["exp", "iat", "iss", "aud", "sub", "tenant", "kind"]
_TENANT = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\Z")
_SUBJECT = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}\Z")


@dataclass(frozen=True)
class Claims:
    """What a valid token says of its bearer: who, of which tenant, until when; never what they may do."""

    tenant_id: str
    kind: PrincipalKind
    id: str
    expires_at: float  # seconds of the epoch


class Caller(VerifiedPrincipal):
    """A verified principal with what their tenant's policy is asked under: one look-up gave all of it."""

    tenant: TenantStanding


@dataclass(frozen=True)
class Session:
    """A verified principal, and the claims that it can be verified from again."""

    principal: Caller
    claims: Claims

    def expired(self, now: float) -> bool:
        """Whether the token that this rests on has run out."""
        return now >= self.claims.expires_at + LEEWAY_S


class Verifier(Protocol):
    """Says what a token claims."""

    async def verify(self, token: str) -> Claims:
        """Return the claims of a valid token. Raises Unauthenticated, or Unavailable where no key was read yet."""
        ...

    async def ready(self) -> None:
        """Return where tokens can be verified; raises otherwise."""
        ...


class TokenVerifier:
    """Verifies JWTs of one issuer for one audience; each key is used with its own algorithm and with no other.

    `own` reads the tokens that the api itself has made; without it there are none.
    """

    def __init__(self, keys: KeySet, issuer: str, audience: str, own: OwnTokens | None = None) -> None:
        self._keys, self._issuer, self._audience, self._own = keys, issuer, audience, own

    async def verify(self, token: str) -> Claims:
        """Return the claims of a valid token. Raises Unauthenticated, or Unavailable where no key was read yet."""
        try:
            if len(token) > TOKEN_CHARS_MAX:
                raise _refused()
            kid = jwt.get_unverified_header(token).get("kid")
            if kid == KID:
                if self._own is None:
                    raise _refused()
                return _claims(self._own.read(token, LEEWAY_S, _REQUIRED))
            key = await self._keys.find(kid)
            if key is None:
                raise _refused()
            claims = jwt.decode(
                token,
                key.jwk.key,
                algorithms=[key.algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_S,
                options={"require": _REQUIRED},
            )
            return _claims(claims)
        except (PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            raise _refused() from None

    async def ready(self) -> None:
        """Return where there are keys; raises `keys.Unread`."""
        await self._keys.ready()


def names_somebody(subject: str) -> bool:
    """Return whether a token may name its bearer so."""
    return _SUBJECT.match(subject) is not None


def _claims(claims: Mapping[str, Any]) -> Claims:
    tenant_id, subject = str(claims["tenant"]), str(claims["sub"])
    if not _TENANT.match(tenant_id) or not names_somebody(subject):
        raise ValueError
    return Claims(tenant_id, PrincipalKind(claims["kind"]), subject, float(claims["exp"]))


def _refused() -> Unauthenticated:
    return Unauthenticated("Send a valid token as `Authorization: Bearer TOKEN`.")


class Identity:
    """Turns an Authorization header into a session, looking the bearer up each time."""

    def __init__(self, db: Database, verifier: Verifier, now: Callable[[], float] = time.time) -> None:
        self._db, self._verifier, self._now = db, verifier, now
        self._roll = Roll(db)

    async def session(self, authorization: str | None) -> Session:
        """Return who is asking. Raises Unauthenticated and CustomerBlocked."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise _refused()
        claims = await self._verifier.verify(token.strip())
        return Session(await self._mint(claims), claims)

    async def renewed(self, session: Session) -> Session:
        """Return the session as it stands now. Raises Unauthenticated where it has run out, and CustomerBlocked."""
        if session.expired(self._now()):
            raise _refused()
        return Session(await self._mint(session.claims), session.claims)

    async def vouched_for(self, tenant_id: str, kind: PrincipalKind, ident: str) -> Caller:
        """Return the customer or visitor for whom the tenant itself has signed. Raises as `session` does."""
        return await self._mint(Claims(tenant_id, kind, ident, expires_at=self._now()))

    async def _mint(self, claims: Claims) -> Caller:
        """Look the bearer up and mint the proof: the only place where one is made."""
        role, tenant = await self._standing(claims)
        return Caller(tenant_id=claims.tenant_id, kind=claims.kind, id=claims.id, role=role, tenant=tenant)

    async def _standing(self, claims: Claims) -> tuple[StaffRole | None, TenantStanding]:
        match claims.kind:
            case PrincipalKind.STAFF:
                staff = await self._roll.standing(claims.tenant_id, claims.id)
                if staff is None or staff.revoked:
                    raise _refused()
                return staff.role, staff.tenant
            case PrincipalKind.CUSTOMER:
                customer = await admission.customer_standing(self._db, claims.tenant_id, claims.id)
                if customer is not None and customer.status == "blocked":
                    raise CustomerBlocked("This account cannot be used at the moment.")
                tenant = customer.tenant if customer else None
            case PrincipalKind.ANONYMOUS | PrincipalKind.SERVICE:
                tenant = await admission.tenant_standing(self._db, claims.tenant_id)
            case _:
                assert_never(claims.kind)
        if tenant is None:
            raise _refused()
        return None, tenant
