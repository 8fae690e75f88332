"""The dev issuer: a signing key made once per data folder, and the tokens that it signs.

A token says who calls and of which tenant; what that caller may do is looked up elsewhere, never read from it.
"""

import base64
import hashlib
import json
import os
import time
import uuid

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from stack.faults import StackFault
from stack.layout import DataDir

ISSUER = "interlock-dev"
AUDIENCE = "interlock"
ALGORITHM = "ES256"
PRIVATE_KEY = "signing.pem"
KEY_SET = "jwks.json"


def ensure(data: DataDir) -> None:
    """Make the signing key and its public key set where they are missing."""
    private, public = data.keys / PRIVATE_KEY, data.keys / KEY_SET
    data.keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not private.exists():
        pem = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        draft = private.with_suffix(".new")
        draft.unlink(missing_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
            file.write(pem)
        draft.rename(private)
        public.unlink(missing_ok=True)
    if not public.exists():
        draft = public.with_suffix(".new")
        draft.write_text(json.dumps({"keys": [_public_jwk(_load(data))]}, indent=2) + "\n")
        draft.rename(public)


def mint(data: DataDir, kind: str, tenant: str, ident: str, expires_in_s: int) -> str:
    """Return a signed token for one principal of one tenant; raises `StackFault` where there is no key."""
    import jwt

    if not tenant.strip() or not ident.strip():
        raise StackFault("a token needs a tenant and an id")
    key, now = _load(data), int(time.time())
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": ident,
        "tenant": tenant,
        "kind": kind,
        "iat": now,
        "nbf": now,
        "exp": now + expires_in_s,
        "jti": str(uuid.uuid4()),
    }
    return jwt.encode(claims, key, algorithm=ALGORITHM, headers={"kid": _public_jwk(key)["kid"]})


def _load(data: DataDir) -> EllipticCurvePrivateKey:
    path = data.keys / PRIVATE_KEY
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except FileNotFoundError:
        raise StackFault(
            f"{data.root} has no signing key. `interlock dev --data-dir {data.root}` makes one when it starts."
        ) from None
    except (ValueError, OSError) as error:
        raise StackFault(f"{path} cannot be read as a key: {error}") from None
    if not isinstance(key, EllipticCurvePrivateKey):
        raise StackFault(f"{path} is not an elliptic-curve key. Remove {data.keys} to have a new one made.")
    return key


def _public_jwk(key: EllipticCurvePrivateKey) -> dict[str, str]:
    """Return the public half as a JSON Web Key whose `kid` is its thumbprint (RFC 7638)."""
    point = key.public_key().public_numbers()
    core = {"crv": "P-256", "kty": "EC", "x": _base64url(point.x), "y": _base64url(point.y)}
    digest = hashlib.sha256(json.dumps(core, separators=(",", ":"), sort_keys=True).encode()).digest()
    return {**core, "kid": _encode(digest), "use": "sig", "alg": ALGORITHM}


def _base64url(number: int) -> str:
    return _encode(number.to_bytes(32, "big"))


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
