"""A conversation and its people, fresh for every test."""

import pytest

from domain.principal import StaffRole, VerifiedPrincipal
from domain.words import Words
from store.database import Database
from tests.conftest import MakeCustomer, MakeStaff, MakeTenant
from tests.store.world import Talk


@pytest.fixture
def tenant(make_tenant: MakeTenant) -> str:
    return make_tenant()


@pytest.fixture
async def talk(db: Database, words: Words, tenant: str, make_customer: MakeCustomer) -> Talk:
    return await Talk(db, words, make_customer(tenant)).begin()


@pytest.fixture
def ann(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.AGENT, "ann")


@pytest.fixture
def ben(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.AGENT, "ben")


@pytest.fixture
def manager(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.MANAGER, "mia")


@pytest.fixture
def other_manager(tenant: str, make_staff: MakeStaff) -> VerifiedPrincipal:
    return make_staff(tenant, StaffRole.MANAGER, "max")
