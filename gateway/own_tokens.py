"""Tokens of the api's own making, for those who sign in here: chat customers, visitors, and the staff's console.

Signed with one secret of the product (HS256) under a key id of its own; what they claim is looked up like any other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import jwt

from domain.principal import PrincipalKind

KID = "interlock-session"
_ALGORITHM = "HS256"


@dataclass(frozen=True)
class Issued:
    """A token, and the second of the epoch at which it ends."""

    token: str
    expires_at: int


@dataclass(frozen=True)
class OwnTokens:
    """Signs and reads tokens of one secret, for one issuer and audience."""

    secret: str
    issuer: str
    audience: str

    def mint(self, tenant_id: str, kind: PrincipalKind, ident: str, now: float, ttl_s: float) -> Issued:
        """Return a token for one principal, whose standing the caller has established."""
        begins, ends = int(now), int(now + ttl_s)
        claims = {
            "iss": self.issuer,
            "aud": self.audience,
            "sub": ident,
            "tenant": tenant_id,
            "kind": kind.value,
            "iat": begins,
            "exp": ends,
            "jti": uuid4().hex,
        }
        return Issued(jwt.encode(claims, self.secret, algorithm=_ALGORITHM, headers={"kid": KID}), ends)

    def read(self, token: str, leeway_s: float, required: list[str]) -> Mapping[str, Any]:
        """Return the claims of a token signed here. Raises PyJWTError for any other."""
        return jwt.decode(
            token,
            self.secret,
            algorithms=[_ALGORITHM],
            audience=self.audience,
            issuer=self.issuer,
            leeway=leeway_s,
            options={"require": required},
        )
