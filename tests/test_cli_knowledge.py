"""Laws of the commands on knowledge, over a real database."""

import json
from pathlib import Path

import pytest

from tests.conftest import Interlock, MakeTenant
from tests.postgres import Postgres

OWNER = "INTERLOCK_DATABASE_OWNER_URL"

PAGE = """---
slug: {slug}
language: en
title: {slug}
reviewed_by: Ada
audience: {audience}
---
{body}
"""


def write(folder: Path, slug: str, body: str, audience: str = "public") -> Path:
    file = folder / f"{slug}.md"
    file.write_text(PAGE.format(slug=slug, body=body, audience=audience))
    return file


@pytest.fixture
def interlock(interlock: Interlock, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Interlock:
    """The command as an operator has it, who owns the tables."""
    monkeypatch.setenv(OWNER, postgres.owner_url)
    return interlock


@pytest.fixture
async def tenant(interlock: Interlock, make_tenant: MakeTenant, tmp_path: Path) -> str:
    """A tenant with two articles."""
    tenant = make_tenant()
    folder = tmp_path / "in"
    folder.mkdir()
    write(folder, "returns", "You may return items within 30 days of delivery.")
    write(folder, "credit", "Store credit does not expire.", "signed_in")
    done = await interlock("knowledge", "import", str(folder), "--tenant", tenant)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [
        ["new", "credit@1", "(en)"],
        ["new", "returns@1", "(en)"],
    ]
    return tenant


async def test_an_import_again_changes_nothing_and_a_check_never_does(
    interlock: Interlock, tenant: str, tmp_path: Path
) -> None:
    again = await interlock("knowledge", "import", str(tmp_path / "in"), "--tenant", tenant)
    assert [line.split()[0] for line in again.stdout.splitlines()] == ["unchanged", "unchanged"]
    write(tmp_path / "in", "returns", "You may return items within 14 days of delivery.")
    tried = await interlock("knowledge", "import", str(tmp_path / "in"), "--tenant", tenant, "--check")
    assert "would be new       returns@2 (en)" in tried.stdout
    listed = json.loads((await interlock("knowledge", "list", "--tenant", tenant, "--json")).stdout)
    assert [(a["slug"], a["version"], a["counts"], a["passages"]) for a in listed] == [
        ("credit", 1, True, 1),
        ("returns", 1, True, 1),
    ]


async def test_who_does_not_own_the_tables_imports_nothing(
    interlock: Interlock, tenant: str, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = str(write(tmp_path, "new", "New."))
    monkeypatch.delenv(OWNER)
    refused = await interlock("knowledge", "import", page, "--tenant", tenant)
    assert (refused.returncode, OWNER in refused.stderr) == (1, True)
    monkeypatch.setenv(OWNER, postgres.app_url)
    refused = await interlock("knowledge", "import", page, "--tenant", tenant)
    assert (refused.returncode, "permission denied" in refused.stderr) == (1, True)


async def test_a_broken_file_imports_nothing_and_says_where(interlock: Interlock, tenant: str, tmp_path: Path) -> None:
    write(tmp_path, "good", "Good.")
    (tmp_path / "bad.md").write_text("---\nslug: bad\nlanguage: en\ntitle: Bad\naudience: all\n---\nBad.\n")
    done = await interlock("knowledge", "import", str(tmp_path), "--tenant", tenant)
    assert done.returncode == 1
    assert f"{tmp_path}/bad.md, line 5: audience: 'all' is none of public, signed_in, staff" in done.stderr
    assert "nothing was imported" in done.stderr
    assert (await interlock("knowledge", "show", "good", "--tenant", tenant)).returncode == 1


async def test_a_search_says_what_was_found_for_whom_and_why(interlock: Interlock, tenant: str) -> None:
    asked = ("knowledge", "search", "store credit expire", "--tenant", tenant, "--json")
    assert "credit" not in {p["slug"] for p in json.loads((await interlock(*asked)).stdout)}
    found = json.loads((await interlock(*asked, "--as", "signed_in")).stdout)
    assert (found[0]["slug"], found[0]["text"]) == ("credit", "Store credit does not expire.")
    assert "audience: signed_in" in found[0]["why"]
    before = await interlock(*asked, "--as", "signed_in", "--at", "2020-01-01")
    assert json.loads(before.stdout) == []
    assert (await interlock(*asked, "--at", "yesterday")).returncode == 2


async def test_contradictions_are_warned_about_and_found_again(
    interlock: Interlock, tenant: str, tmp_path: Path
) -> None:
    assert (await interlock("knowledge", "check", "--tenant", tenant)).returncode == 0
    other = write(tmp_path, "sending-back", "You may return items within 14 days of delivery.")
    done = await interlock("knowledge", "import", str(other), "--tenant", tenant)
    assert done.returncode == 0
    assert "warning: returns@1 (en) and sending-back@1 (en) contradict each other" in done.stderr
    checked = await interlock("knowledge", "check", "--tenant", tenant, "--json")
    assert checked.returncode == 3
    assert [c["one_says"] for c in json.loads(checked.stdout)] == ["You may return items within 30 days of delivery."]
    listed = await interlock("knowledge", "list", "--contradictions", "--tenant", tenant)
    assert (listed.returncode, listed.stdout.splitlines()[-1]) == (0, "1 contradictions")


async def test_what_is_exported_is_what_is_shown(interlock: Interlock, tenant: str, tmp_path: Path) -> None:
    done = await interlock("knowledge", "export", str(tmp_path / "out"), "--tenant", tenant)
    assert done.stdout == f"2 files in {tmp_path / 'out'}\n"
    shown = await interlock("knowledge", "show", "returns", "--tenant", tenant)
    assert shown.stdout == (tmp_path / "out" / "en" / "returns.md").read_text()
    assert (await interlock("knowledge", "export", str(tmp_path / "out"), "--tenant", tenant)).returncode == 1


@pytest.mark.parametrize("command", [("list",), ("check",), ("index",), ("search", "x"), ("show", "x")])
async def test_a_tenant_that_there_is_not_is_said(command: tuple[str, ...], interlock: Interlock, tenant: str) -> None:
    done = await interlock("knowledge", *command, "--tenant", "nobody")
    assert done.returncode == 1
    assert "There is no tenant 'nobody'; there are " in done.stderr
    assert tenant in done.stderr
