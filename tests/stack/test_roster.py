"""Laws of the roster: what waits for what, and what is left out when it need not be done."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from stack import postgres
from stack.addresses import Addresses
from stack.child import Child
from stack.environment import Role
from stack.layout import DataDir
from stack.postgres import Cluster
from stack.roster import roster

ADDRESSES = Addresses(1, 2, 3, 4, 5)


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    data = DataDir.at(tmp_path)
    data.prepare()
    return data


def named(data: DataDir, ours: bool = True) -> dict[str, Child]:
    cluster: Cluster | None = postgres.prepare(data, 5, postgres.new_passwords()) if ours else None

    def env_of(role: Role) -> Mapping[str, str]:
        return {"ROLE": role.value}

    rows = roster(data, ADDRESSES, cluster, {"SHOP_READ_KEY": "r", "SHOP_WRITE_KEY": "w"}, env_of)
    return {child.name: child for child in rows}


def test_a_new_stack_is_migrated_before_it_serves_and_seeded_beside_it(data: DataDir) -> None:
    rows = named(data)
    assert list(rows) == ["initdb", "postgres", "temporal", "shop", "migrate", "seed", "worker", "api"]
    assert all(set(child.after) <= set(rows) for child in rows.values())
    assert all("migrate" in rows[name].after for name in ("seed", "worker", "api"))
    assert "seed" not in (*rows["worker"].after, *rows["api"].after)


def test_what_is_made_is_not_made_again(data: DataDir) -> None:
    data.postgres.mkdir()
    data.seeded.touch()
    assert list(named(data)) == ["postgres", "temporal", "shop", "migrate", "worker", "api"]


def test_a_postgres_of_someone_else_is_not_started(data: DataDir) -> None:
    rows = named(data, ours=False)
    assert not {"initdb", "postgres"} & set(rows)
    assert rows["migrate"].after == ()


def test_each_child_is_told_what_its_role_may_know(data: DataDir) -> None:
    told = {name: child.env["ROLE"] for name, child in named(data).items()}
    assert told == {
        "initdb": "foreign",
        "postgres": "foreign",
        "temporal": "foreign",
        "shop": "foreign",
        "migrate": "migrate",
        "seed": "seed",
        "worker": "worker",
        "api": "api",
    }


def test_no_key_stands_on_a_command_line(data: DataDir) -> None:
    rows = named(data)
    secrets = {"r", "w"}
    assert not [child.name for child in rows.values() if secrets & set(child.argv)]
