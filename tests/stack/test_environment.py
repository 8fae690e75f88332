"""Laws of what children are told: each its own secrets, none of another's."""

from pathlib import Path

import pytest

from stack.addresses import Addresses
from stack.environment import SECRETS_OF, Role, Secrets, child_environment, record, recorded
from stack.faults import StackFault
from stack.layout import DataDir

SECRETS = Secrets("postgresql://app", "postgresql://owner", "postgresql://relay", "read", "write", "session", "seal")
ADDRESSES = Addresses(1, 2, 3, None, 5)
EVERY_SECRET = {
    "DATABASE_URL",
    "DATABASE_OWNER_URL",
    "DATABASE_RELAY_URL",
    "SHOP_READ_KEY",
    "SHOP_WRITE_KEY",
    "SESSION_KEY",
    "SECRETS_KEY",
}


def told(role: Role, folder: Path, **inherited: str) -> dict[str, str]:
    return child_environment(role, DataDir.at(folder), ADDRESSES, SECRETS, inherited)


@pytest.mark.parametrize("role", list(Role))
def test_a_child_learns_the_secrets_of_its_role_alone(role: Role, tmp_path: Path) -> None:
    learnt = {name.removeprefix("INTERLOCK_") for name in told(role, tmp_path)} & EVERY_SECRET
    assert learnt == set(SECRETS_OF[role])


def test_the_api_learns_neither_the_owner_nor_the_shops_key_for_writes(tmp_path: Path) -> None:
    assert not {"postgresql://owner", "postgresql://relay", "write"} & set(told(Role.API, tmp_path).values())


def test_a_secret_of_the_callers_own_environment_does_not_leak_in(tmp_path: Path) -> None:
    assert "INTERLOCK_DATABASE_OWNER_URL" not in told(Role.API, tmp_path, INTERLOCK_DATABASE_OWNER_URL="leak")


@pytest.mark.parametrize("role", list(Role))
def test_the_key_of_a_model_is_told_to_the_worker_alone(role: Role, tmp_path: Path) -> None:
    env = told(role, tmp_path, INTERLOCK_MODEL="openai", INTERLOCK_MODEL_API_KEY="sk-secret")
    assert ("sk-secret" in env.values()) is (role is Role.WORKER)


def test_other_settings_and_the_path_are_passed_on(tmp_path: Path) -> None:
    env = told(Role.WORKER, tmp_path, INTERLOCK_LOG_LEVEL="debug", PATH="/bin")
    assert (env["INTERLOCK_LOG_LEVEL"], env["PATH"]) == ("debug", "/bin")


def test_foreign_programs_learn_nothing_of_ours(tmp_path: Path) -> None:
    assert not [name for name in told(Role.FOREIGN, tmp_path, INTERLOCK_LOG_LEVEL="debug") if "INTERLOCK" in name]


def test_the_record_is_what_was_recorded(tmp_path: Path) -> None:
    record(DataDir.at(tmp_path), ADDRESSES, SECRETS)
    assert recorded(DataDir.at(tmp_path))["INTERLOCK_API_PORT"] == "1"


def test_without_a_record_the_fault_says_so(tmp_path: Path) -> None:
    with pytest.raises(StackFault, match="No stack has run"):
        recorded(DataDir.at(tmp_path))
