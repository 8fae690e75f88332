"""Laws of the commands on the audit, over a real database and over files."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from domain.words import Words
from store.database import Database
from tests.conftest import Interlock, MakeCustomer, MakeTenant
from tests.store.world import Talk


@pytest.fixture
async def tenant(db: Database, words: Words, make_tenant: MakeTenant, make_customer: MakeCustomer) -> str:
    """A tenant of which a good deal is on record."""
    talk = await Talk(db, words, make_customer(make_tenant())).begin()
    await talk.settle(await talk.claimed())
    return talk.tenant


async def test_a_whole_audit_is_told_with_its_last_row(
    interlock: Interlock, tenant: str, owner: psycopg.Connection[Any]
) -> None:
    done = await interlock("audit", "verify", "--tenant", tenant)
    head = owner.execute("SELECT n, hash FROM audit_heads WHERE tenant_id = %s", (tenant,)).fetchone()
    assert head is not None
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tenant}: whole; rows 1 to {head[0]}, the last is {head[0]}:{head[1]}\n"
    noted = ("--tenant", tenant, "--expect", f"{head[0]}:{head[1]}")
    assert (await interlock("audit", "verify", *noted)).returncode == 0
    other = ("--tenant", tenant, "--expect", f"{head[0]}:{'0' * 64}")
    assert (await interlock("audit", "verify", *other)).returncode == 3


async def test_an_edited_row_ends_the_command_with_3_and_is_named(
    interlock: Interlock, tenant: str, owner: psycopg.Connection[Any]
) -> None:
    edit = "UPDATE audit SET body = replace(body, '20', '21') WHERE tenant_id = %s AND kind = 'verdict' RETURNING n"
    edited = sorted(n for (n,) in owner.execute(edit, (tenant,)).fetchall())
    done = await interlock("audit", "verify", "--tenant", tenant)
    assert done.returncode == 3
    assert "NOT WHOLE" in done.stdout
    assert f"  {tenant} n={edited[0]}: its hash is not that of what it says" in done.stdout
    told = json.loads((await interlock("audit", "verify", "--tenant", tenant, "--json")).stdout)
    assert [fault["n"] for fault in told[0]["faults"]] == edited


async def test_an_export_is_verified_and_recomputed_by_anybody(
    interlock: Interlock, tenant: str, tmp_path: Path
) -> None:
    file = tmp_path / "audit.jsonl"
    done = await interlock("audit", "export", "--tenant", tenant, "--to", str(file))
    assert done.returncode == 0
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert done.stderr == f"{tenant}: {len(rows)} rows; the last is {len(rows)}:{rows[-1]['hash']}\n"
    ours = file.read_bytes()
    for content, whole in ((ours, True), (ours.replace(b'"at":"20', b'"at":"21', 1), False)):
        assert recomputed(content) is whole
    assert (await interlock("audit", "verify", "--file", str(file))).returncode == 0
    assert (await interlock("audit", "export", "--tenant", tenant)).stdout == file.read_text("utf-8")


async def test_a_file_that_was_touched_is_not_whole(interlock: Interlock, tenant: str, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    await interlock("audit", "export", "--tenant", tenant, "--to", str(file))
    lines = file.read_text("utf-8").splitlines(keepends=True)
    last = json.loads(lines[-1])
    file.write_text("".join([*lines[:2], *lines[3:]]))
    dropped = await interlock("audit", "verify", "--file", str(file))
    assert (dropped.returncode, f"{tenant} n=3: row 3 is not there" in dropped.stdout) == (3, True)
    file.write_text("".join(lines[:-1]))
    assert (await interlock("audit", "verify", "--file", str(file))).returncode == 0
    noted = ("--tenant", tenant, "--expect", f"{last['n']}:{last['hash']}")
    assert (await interlock("audit", "verify", "--file", str(file), *noted)).returncode == 3
    file.write_text("".join(lines)[:-30])
    cut = await interlock("audit", "verify", "--file", str(file))
    assert (cut.returncode, f"line {len(lines)} is no row of the audit" in cut.stderr) == (1, True)
    assert not cut.stdout


async def test_a_file_without_a_row_to_verify_is_not_called_whole(
    interlock: Interlock, tenant: str, tmp_path: Path
) -> None:
    file, empty = tmp_path / "audit.jsonl", tmp_path / "empty.jsonl"
    await interlock("audit", "export", "--tenant", tenant, "--to", str(file))
    empty.touch()
    for words, told in (
        ((str(file), "--tenant", "lumen"), f"{file}: it has no row of lumen; it has rows of {tenant}"),
        ((str(file), "--tenant", "lumen", "--expect", f"1:{'a' * 64}"), "it has no row of lumen"),
        ((str(empty), "--tenant", "lumen"), "it has no row of lumen: it is empty"),
        ((str(empty), "--json"), f"{empty}: it has no rows: it is empty"),
    ):
        done = await interlock("audit", "verify", "--file", *words)
        assert (done.returncode, done.stdout, told in done.stderr) == (1, "", True)


async def test_an_export_of_several_tenants_is_recomputed_tenant_by_tenant(
    interlock: Interlock, tenant: str, make_tenant: MakeTenant
) -> None:
    one, other = [
        (await interlock("audit", "export", "--tenant", whose)).stdout.splitlines(keepends=True)
        for whose in (tenant, make_tenant())
    ]
    assert len(one) > 1
    assert other
    assert recomputed("".join(one + other).encode())
    assert recomputed("".join([one[0], *other, *one[1:]]).encode())
    assert not recomputed("".join([one[0], *other, *one[2:]]).encode())


async def test_an_export_since_then_is_tied_to_what_was_before(
    interlock: Interlock, tenant: str, owner: psycopg.Connection[Any], tmp_path: Path
) -> None:
    at = owner.execute("SELECT at FROM audit WHERE tenant_id = %s AND n = 4", (tenant,)).fetchone()
    third = owner.execute("SELECT hash FROM audit WHERE tenant_id = %s AND n = 3", (tenant,)).fetchone()
    assert at is not None
    assert third is not None
    file = tmp_path / "audit.jsonl"
    await interlock("audit", "export", "--tenant", tenant, "--since", at[0].isoformat(), "--to", str(file))
    first = json.loads(file.read_text("utf-8").splitlines()[0])
    assert (first["n"], first["previous"]) == (4, third[0])
    told = await interlock("audit", "verify", "--file", str(file))
    assert (told.returncode, "tie it with --expect 3:HASH" in told.stdout) == (0, True)
    for digest, status in ((third[0], 0), ("a" * 64, 3)):
        noted = ("--tenant", tenant, "--expect", f"3:{digest}")
        assert (await interlock("audit", "verify", "--file", str(file), *noted)).returncode == status
    none = await interlock("audit", "export", "--tenant", tenant, "--since", "2999-01-01")
    assert (none.returncode, none.stdout, none.stderr) == (0, "", f"{tenant}: 0 rows\n")


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("verify", "--tenant", "nobody"), 1, "There is no tenant 'nobody'"),
        (("export", "--tenant", "nobody"), 1, "There is no tenant 'nobody'"),
        (("verify", "--expect", "1:abc", "--tenant", "t"), 2, "write N:HASH"),
        (("verify", "--expect", f"1:{'a' * 64}"), 2, "name it with --tenant"),
        (("verify", "--file", "/nowhere/at/all"), 2, "No such file"),
        (("verify", "--file", __file__, "--data-dir", "d"), 2, "leave --data-dir out"),
        (("export", "--since", "yesterday"), 2, "'yesterday' is no time; write a day (2026-01-31)"),
        (("export", "--since", "999999d"), 2, "is no time"),
    ],
)
async def test_what_cannot_be_done_says_what_would_be_right(
    words: tuple[str, ...], status: int, told: str, interlock: Interlock
) -> None:
    done = await interlock("audit", *words)
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr


async def test_a_file_that_cannot_be_written_is_said_so(interlock: Interlock, tenant: str, tmp_path: Path) -> None:
    done = await interlock("audit", "export", "--tenant", tenant, "--to", str(tmp_path / "no" / "such.jsonl"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "such.jsonl cannot be written: No such file or directory" in done.stderr


def recomputed(content: bytes) -> bool:
    """Whether the recipe of docs/audit.md, which knows nothing of the product, finds an export whole."""
    page = (Path(__file__).parents[1] / "docs" / "audit.md").read_text("utf-8")
    recipe = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert recipe is not None
    alone = subprocess.run([sys.executable, "-c", recipe[1]], input=content, capture_output=True)
    assert alone.returncode == 0 or b"AssertionError" in alone.stderr
    return alone.returncode == 0
