"""A tenant's secrets: sealed where they lie, opened for whom they were sealed, under whichever key is known."""

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.fault import OperationalFault
from store.database import Database
from store.secrets import Vault, secret_of, secrets_of, set_secret, unset_secret
from tests.conftest import MakeTenant
from tests.store.rows import Owner

OLD, NEW = "an old key that is long enough to be one", "a new key that is long enough to be one"


@given(st.text(max_size=50))
def test_what_is_sealed_opens_again_and_says_nothing_until_then(value: str) -> None:
    vault = Vault(OLD)
    sealed = vault.seal("t", "n", value)
    assert vault.open("t", "n", sealed) == value
    assert sealed != vault.seal("t", "n", value)
    assert len(value) < 8 or value not in sealed


async def test_a_secret_is_kept_replaced_listed_and_forgotten(db: Database, tenant: str, owner: Owner) -> None:
    vault = Vault(OLD)
    assert await secret_of(db, vault, tenant, "tickets") is None
    for value in ("first-secret", "second-secret"):
        await set_secret(db, vault, tenant, "tickets", value)
        assert await secret_of(db, vault, tenant, "tickets") == value
    (kept,) = owner.execute("SELECT sealed FROM tenant_secrets WHERE tenant_id = %s", (tenant,)).fetchall()
    assert "secret" not in kept[0]
    assert [row.name for row in await secrets_of(db, tenant)] == ["tickets"]
    assert await unset_secret(db, tenant, "tickets")
    assert not await unset_secret(db, tenant, "tickets")


async def test_a_sealed_row_that_is_copied_elsewhere_does_not_open_there(
    db: Database, tenant: str, make_tenant: MakeTenant, owner: Owner
) -> None:
    vault, other = Vault(OLD), make_tenant()
    await set_secret(db, vault, tenant, "tickets", "mine")
    copy = "INSERT INTO tenant_secrets SELECT %s, %s, sealed FROM tenant_secrets WHERE tenant_id = %s"
    for where, name in ((other, "tickets"), (tenant, "widget")):
        owner.execute(copy, (where, name, tenant))
        with pytest.raises(OperationalFault):
            await secret_of(db, vault, where, name)


async def test_a_new_key_is_put_in_front_of_the_old_one(db: Database, tenant: str) -> None:
    await set_secret(db, Vault(OLD), tenant, "tickets", "kept")
    assert await secret_of(db, Vault(f"{NEW}, {OLD}"), tenant, "tickets") == "kept"
    with pytest.raises(OperationalFault):
        await secret_of(db, Vault(NEW), tenant, "tickets")


@pytest.mark.parametrize("name", ["", "Tickets", "../x", "a b", "x" * 65])
async def test_a_name_that_is_none_is_refused(db: Database, tenant: str, owner: Owner, name: str) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        owner.execute("INSERT INTO tenant_secrets VALUES (%s, %s, 'x')", (tenant, name))
