"""The keys that sign tokens: read from a key set, cached, and read again when it changes or an unknown key is named.

While the key set cannot be read the keys known before stay good; the algorithm of a key is its own, never a token's.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from gateway.refusals import Unavailable

log = structlog.get_logger(__name__)

KEYS_MAX = 100
KEY_SET_BYTES_MAX = 262_144
RSA_BITS_MIN = 2_048
_ALGORITHMS = {("EC", "P-256"): "ES256", ("RSA", None): "RS256", ("OKP", "Ed25519"): "EdDSA"}

Read = Callable[[], Awaitable[bytes]]


class Unread(Exception):
    """A key set could not be read, or is none."""


@dataclass(frozen=True)
class Pace:
    """How often a key set is read: as a rule, when a token names an unknown key, and before anything else happens."""

    refresh_s: float
    retry_s: float
    trusted_s: float  # older than this, known keys are read again before they are used


FILE_PACE = Pace(refresh_s=1.0, retry_s=0.25, trusted_s=1.0)
URL_PACE = Pace(refresh_s=300.0, retry_s=10.0, trusted_s=900.0)


def file_reader(path: Path) -> Read:
    """Return what reads a key set from a file, without holding up the loop."""

    async def read() -> bytes:
        try:
            return await asyncio.to_thread(_first_bytes, path)
        except OSError as fault:
            raise Unread(type(fault).__name__) from None

    return read


def _first_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(KEY_SET_BYTES_MAX)


@dataclass(frozen=True)
class Key:
    """One public key and the one algorithm that it is used with."""

    kid: str
    algorithm: str
    jwk: PyJWK


class KeySet:
    """The public keys of the issuer. `read` gives the JSON of a key set or raises `Unread`."""

    def __init__(self, read: Read, pace: Pace, clock: Callable[[], float] = time.monotonic) -> None:
        self._read, self._pace, self._clock = read, pace, clock
        self._keys: dict[str, Key] = {}
        self._raw: bytes | None = None
        self._tried_at = float("-inf")
        self._lock = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None

    async def find(self, kid: str | None) -> Key | None:
        """Return the key that a token names, or the only one there is where it names none. Raises Unavailable."""
        await self._read_if_older(self._pace.trusted_s)
        self._refresh_soon()
        if (known := self._known(kid)) is None:
            await self._read_if_older(self._pace.retry_s)
            known = self._known(kid)
        if known is None and not self._keys:
            raise Unavailable("The keys that tokens are checked with cannot be read at the moment.", retry_after_s=5)
        return known

    async def ready(self) -> None:
        """Return where there are keys; raises Unread."""
        await self._read_if_older(self._pace.refresh_s)
        if not self._keys:
            raise Unread("no keys")

    def _refresh_soon(self) -> None:
        due = self._clock() - self._tried_at >= self._pace.refresh_s
        if due and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = asyncio.create_task(self._read_if_older(self._pace.refresh_s))

    def _known(self, kid: str | None) -> Key | None:
        if kid is not None:
            return self._keys.get(kid)
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    async def _read_if_older(self, age_s: float) -> None:
        if self._clock() - self._tried_at < age_s:
            return
        async with self._lock:
            if self._clock() - self._tried_at < age_s:
                return
            try:
                self._take(await self._read())
            except Unread as fault:
                log.warning("keys.unread", cause=str(fault), kept=len(self._keys))
            self._tried_at = self._clock()

    def _take(self, raw: bytes) -> None:
        if raw != self._raw:
            self._keys = parse(raw)
            self._raw = raw
            log.info("keys.read", kids=sorted(self._keys))


def parse(raw: bytes) -> dict[str, Key]:
    """Return those keys of a key set that may sign tokens. Raises Unread where there is none."""
    try:
        entries = json.loads(raw)["keys"]
        found = [_key(n, entry) for n, entry in enumerate(entries[:KEYS_MAX])]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unread("not a key set") from None
    keys = {key.kid: key for key in found if key is not None}
    if not keys:
        raise Unread("a key set without a usable key")
    return keys


def _key(n: int, entry: Mapping[str, Any]) -> Key | None:
    algorithm = _ALGORITHMS.get((entry["kty"], entry.get("crv")))
    if algorithm is None or entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
        return None
    try:
        jwk = PyJWK({**entry}, algorithm=algorithm)
    except PyJWTError:
        return None
    if isinstance(jwk.key, RSAPublicKey) and jwk.key.key_size < RSA_BITS_MIN:
        return None
    return Key(kid=str(entry.get("kid", f"#{n}")), algorithm=algorithm, jwk=jwk)
