"""The command that judges a file of requests: what it prints, what it says of wrong lines, and its exit status."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

import cli_policy_judge
from demo.shop.world_file import read_world
from tests.policy.test_retail_judging import CANCEL, WORLD, line

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = DOCS / "examples" / "shop-requests"
APP = typer.Typer()
APP.command()(cli_policy_judge.judge)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "db.json"
    path.write_text(json.dumps({**WORLD, "couriers": []}), "utf-8")
    return path


def run(world: Path, *lines: bytes, bundle: str = "retail") -> Result:
    requests = world.with_name("requests.jsonl")
    requests.write_bytes(b"\n".join(lines) + b"\n")
    options = ["--bundle", bundle, "--world", str(world), "--requests", str(requests)]
    return CliRunner().invoke(APP, options)


def printed(result: Result) -> list[Any]:
    return [json.loads(text) for text in result.stdout.splitlines()]


def test_a_line_is_printed_for_each_request(world: Path) -> None:
    approved, other = line(id=2, approved=CANCEL), line(id="x", approved={**CANCEL, "order_id": "#2"})
    result = run(world, line(id=1, approved=None, orders=None, users=None), b"", approved, other)
    rule = "cancel-or-modify-pending-orders-once-confirmed"
    assert printed(result) == [
        {"id": 1, "verdict": "ask", "rules": [rule]},
        {"id": 2, "verdict": "permit", "rules": [rule]},
        {"id": "x", "verdict": "forbid", "rules": ["confirmation-was-for-other-details"]},
    ]
    assert (result.exit_code, result.stderr) == (0, "")


def test_wrong_lines_are_told_by_their_number_and_the_others_are_judged(world: Path) -> None:
    result = run(world, line(id=1), b"{", b"\xff", line(id=4, principal="eve"), line(id=5, aproved=CANCEL), line(id=6))
    assert [(told["id"], told["verdict"]) for told in printed(result)] == [
        (1, "ask"),
        (4, "forbid"),
        (5, "ask"),
        (6, "ask"),
    ]
    told = result.stderr.splitlines()
    assert [text.split("requests.jsonl:")[-1][0] for text in told[:-1]] == ["2", "3", "4", "5"]
    assert "'eve' is nobody in this world" in told[2]
    assert "'aproved' is not read" in told[3]
    assert told[-1] == "interlock policy judge: lines that are wrong, as told above: 3"
    assert result.exit_code == 3


def test_a_line_that_is_no_request_and_has_an_id_is_forbidden_and_told(world: Path) -> None:
    twice = b'{"id": 3, "id": 4}'  # which of the two?
    result = run(world, b'{"id": 1, "principal": 7}', b'{"id": [2]}', twice, line(id="4", orders={"#1": 5}))
    assert printed(result) == [
        {"id": 1, "verdict": "forbid", "rules": ["not-a-request"]},
        {"id": "4", "verdict": "forbid", "rules": ["not-a-request"]},
    ]
    assert [text.split("requests.jsonl:")[-1][0] for text in result.stderr.splitlines()[:-1]] == ["1", "2", "3", "4"]
    assert result.exit_code == 3


def test_a_world_that_cannot_be_read_is_told(world: Path) -> None:
    for text, told in (("{", "it is not JSON"), ('{"users": {}}', "orders: field required (and 1 more)")):
        world.write_text(text, "utf-8")
        result = run(world)
        assert f"{world}: {told}" in result.stderr
        assert (result.exit_code, result.stdout) == (1, "")
    world.write_text("[]", "utf-8")
    assert f"{world}: it is no JSON object; it should be one object: users, orders, products" in run(world).stderr
    world.unlink()
    assert "cannot be read" in run(world).stderr


def test_a_bundle_that_is_none_or_of_other_facts_is_told(world: Path) -> None:
    result = run(world, bundle="base")
    assert result.exit_code == 1
    assert "bundle base judges actions on accounts; name one of a shop's tools, such as retail" in result.stderr
    result = run(world, bundle="no-such-bundle")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "there is no bundle 'no-such-bundle': give a bundle's folder" in result.stderr
    assert "such as retail" in result.stderr


def test_a_folder_that_only_shares_its_name_is_not_taken_for_the_bundle(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (world.parent / "retail").mkdir()
    monkeypatch.chdir(world.parent)
    assert run(world, line(id=1)).exit_code == 0


def test_the_page_on_the_retail_policy_shows_what_comes_of_its_example() -> None:
    page = (DOCS / "retail.md").read_text("utf-8")
    options = ["--world", str(EXAMPLE / "world.json"), "--requests", str(EXAMPLE / "requests.jsonl")]
    result = CliRunner().invoke(APP, ["--bundle", "retail", *options])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout in page
    assert all(text in page for text in (EXAMPLE / "requests.jsonl").read_text("utf-8").splitlines())
    [tenant] = read_world(EXAMPLE / "world.json", datetime.now(UTC)).tenants
    assert tenant.id in page
