"""A tenant's secrets, sealed: what signs its tickets, its customers' identity, and the webhooks that it is sent.

They are opened in the process that needs one and stand in clear text nowhere else, neither in a log nor in an answer.
"""

import base64
import json
import secrets
from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy.dialects.postgresql import insert

from domain.base import Noun
from domain.fault import OperationalFault
from store import tables as t
from store.database import Database, Tx

TICKETS = "tickets"  # what a tenant signs its tickets with
WIDGET = "widget"  # what a tenant signs the identity of its customers with
SECRET_BYTES = 32


class Vault:
    """Seals and opens. `keys` are secrets of 32 bytes or more with commas between: the first seals, and each opens, so
    that a new one can be put in front of the old one.

    INVARIANT 8: what was sealed for one tenant and name opens for no other, wherever the row is copied to.
    """

    def __init__(self, keys: str) -> None:
        self._fernet = MultiFernet([Fernet(_key_of(secret.strip())) for secret in keys.split(",")])

    def seal(self, tenant_id: str, name: str, value: str) -> str:
        """Return `value` as it may be kept."""
        return self._fernet.encrypt(json.dumps([tenant_id, name, value]).encode()).decode()

    def open(self, tenant_id: str, name: str, sealed: str) -> str:
        """Return what was sealed. Raises OperationalFault where it was sealed under another key, or for another."""
        try:
            owner, named, value = json.loads(self._fernet.decrypt(sealed.encode()))
        except InvalidToken:
            raise OperationalFault("secret_under_another_key") from None
        if (owner, named) != (tenant_id, name):
            raise OperationalFault("secret_of_another")
        return str(value)


def _key_of(secret: str) -> bytes:
    """The key that a secret stands for: the secret is random and long, so that no slow derivation is needed."""
    derived = HKDF(hashes.SHA256(), length=32, salt=None, info=b"interlock secrets 1").derive(secret.encode())
    return base64.urlsafe_b64encode(derived)


def new_secret(name: str) -> str:
    """Return a new random secret for what is kept under `name`: what signs webhooks has their own form."""
    if name == WIDGET:
        return secrets.token_urlsafe(SECRET_BYTES)
    return f"whsec_{base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()}"


class SecretRow(Noun):
    """A secret by its name; never its value."""

    name: str
    made_at: datetime


async def set_secret(db: Database, vault: Vault, tenant_id: str, name: str, value: str) -> None:
    """Keep a secret, in the place of the one of that name where there is one."""
    async with db.transaction(tenant_id) as tx:
        await put_secret(tx, vault, tenant_id, name, value)


async def put_secret(tx: Tx, vault: Vault, tenant_id: str, name: str, value: str) -> None:
    """The same, in a transaction that has more to do."""
    row = {"tenant_id": tenant_id, "name": name, "sealed": vault.seal(tenant_id, name, value)}
    add = insert(t.tenant_secrets).values(**row)
    renewed = {"sealed": add.excluded.sealed, "made_at": sa.func.now()}
    await tx.execute(add.on_conflict_do_update(index_elements=["tenant_id", "name"], set_=renewed))


async def secret_of(db: Database, vault: Vault, tenant_id: str, name: str) -> str | None:
    """Return a secret, or None where the tenant has none of that name. Raises OperationalFault as `Vault.open` does."""
    async with db.transaction(tenant_id) as tx:
        query = sa.select(t.tenant_secrets.c.sealed).where(t.tenant_secrets.c.name == name)
        sealed = (await tx.execute(query)).scalar_one_or_none()
    return None if sealed is None else vault.open(tenant_id, name, sealed)


async def secrets_of(db: Database, tenant_id: str) -> Sequence[SecretRow]:
    """Return which secrets the tenant has, by name."""
    async with db.transaction(tenant_id) as tx:
        s = t.tenant_secrets.c
        rows = (await tx.execute(sa.select(s.name, s.made_at).order_by(s.name))).all()
    return [SecretRow(name=row.name, made_at=row.made_at) for row in rows]


async def unset_secret(db: Database, tenant_id: str, name: str) -> bool:
    """Forget a secret, and say whether there was one."""
    async with db.transaction(tenant_id) as tx:
        gone = await tx.execute(sa.delete(t.tenant_secrets).where(t.tenant_secrets.c.name == name))
    return bool(gone.rowcount)
