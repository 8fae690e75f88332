"""An issuer of tokens with keys of its own: what it signs, and what nobody should believe."""

import base64
import hmac
import json
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

from domain.principal import VerifiedPrincipal

ISSUER, AUDIENCE = "interlock-test", "interlock"
SigningKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey


def new_key(algorithm: str = "ES256") -> SigningKey:
    match algorithm:
        case "ES256":
            return ec.generate_private_key(ec.SECP256R1())
        case "RS256":
            return rsa.generate_private_key(65_537, 2_048)
        case _:
            return ed25519.Ed25519PrivateKey.generate()


def public_jwk(key: SigningKey, kid: str, algorithm: str) -> dict[str, Any]:
    raw = get_default_algorithms()[algorithm].to_jwk(key.public_key(), as_dict=True)
    return {**raw, "kid": kid, "use": "sig", "alg": algorithm}


class Issuer:
    """Signs with its newest key; its key set is a file that can be rotated, broken and taken away."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keys: dict[str, tuple[SigningKey, str]] = {}
        self.kid = ""
        self.rotate()

    def rotate(self, algorithm: str = "ES256", *, keep: bool = True) -> str:
        """Sign with a new key from now on; returns the old key's id."""
        old, self.kid = self.kid, uuid4().hex[:8]
        kept = self.keys if keep else {}
        self.keys = {**kept, self.kid: (new_key(algorithm), algorithm)}
        self.publish()
        return old

    def publish(self) -> None:
        entries = [public_jwk(key, kid, algorithm) for kid, (key, algorithm) in self.keys.items()]
        self.path.write_text(json.dumps({"keys": entries}))

    def token(self, principal: VerifiedPrincipal, **changed: Any) -> str:
        """Return a token for `principal`; `changed` claims replace the right ones, None leaves them out."""
        return self.signed(self.claims(principal, **changed))

    def claims(self, principal: VerifiedPrincipal, **changed: Any) -> dict[str, Any]:
        now = int(time.time())
        right = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": principal.id,
            "tenant": principal.tenant_id,
            "kind": principal.kind.value,
            "iat": now,
            "nbf": now,
            "exp": now + 600,
        }
        return {name: value for name, value in {**right, **changed}.items() if value is not None}

    def signed(self, claims: dict[str, Any], **headers: Any) -> str:
        key, algorithm = self.keys[self.kid]
        return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": self.kid, **headers})


def unsigned(claims: dict[str, Any], kid: str) -> str:
    header = {"alg": "none", "typ": "JWT", "kid": kid}
    return f"{encoded(json.dumps(header))}.{encoded(json.dumps(claims))}."


def hs256(claims: dict[str, Any], kid: str, secret: str) -> str:
    header = {"alg": "HS256", "typ": "JWT", "kid": kid}
    told = f"{encoded(json.dumps(header))}.{encoded(json.dumps(claims))}"
    seal = hmac.new(secret.encode(), told.encode(), "sha256").digest()
    return f"{told}.{base64.urlsafe_b64encode(seal).rstrip(b'=').decode()}"


def encoded(raw: str) -> str:
    return base64.urlsafe_b64encode(raw.encode()).rstrip(b"=").decode()
