"""Laws of the doctor: every fault comes with what mends it, and the exit status tells."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stack import keys
from stack.doctor import Finding, Installation, State, examine, good, report
from stack.doctor_checks import CHECKS, data_dir, policies, signing_keys, variables
from stack.layout import DataDir
from stack.ports import resolve


@pytest.fixture
def nothing_runs(tmp_path: Path) -> Installation:
    port = resolve({"--any": 0})["--any"]
    return Installation(
        database_url=f"postgresql://interlock_app:x@127.0.0.1:{port}/interlock",
        temporal_address=f"127.0.0.1:{port}",
        temporal_namespace="default",
        temporal_tls=False,
        temporal_api_key=None,
        shop_url=f"http://127.0.0.1:{port}",
        jwks=str(tmp_path / "keys" / "jwks.json"),
        data_dir=tmp_path,
        migration_head=None,
    )


def test_every_fault_says_how_to_mend_it(nothing_runs: Installation) -> None:
    findings = examine(nothing_runs, CHECKS)
    faults = {finding.part for finding in findings if finding.state is State.FAULT}
    assert faults == {"postgres", "temporal", "shop", "jwks"}
    assert [finding for finding in findings if finding.state is not State.GOOD and not finding.mend] == []


def test_a_bundle_in_force_that_does_not_load_is_a_fault_that_is_rolled_back(nothing_runs: Installation) -> None:
    told = ("one: the bundle in force, abc, does not load: a.cedar:1: the file is empty",)
    (broken,) = policies(replace(nothing_runs, policies_not_loading=lambda: told))
    assert (broken.state, broken.detail) == (State.FAULT, told[0])
    assert "rollback --as-operator" in broken.mend
    assert [f.state for f in policies(replace(nothing_runs, policies_not_loading=lambda: ()))] == [State.GOOD]
    assert policies(replace(nothing_runs, policies_not_loading=lambda: None)) == []


def test_no_password_is_printed(nothing_runs: Installation, capsys: pytest.CaptureFixture[str]) -> None:
    report(examine(nothing_runs, CHECKS), as_json=False)
    assert ":x@" not in capsys.readouterr().out


def test_a_key_set_that_was_made_is_good(nothing_runs: Installation) -> None:
    keys.ensure(DataDir.at(nothing_runs.data_dir))
    assert [finding.state for finding in signing_keys(nothing_runs)] == [State.GOOD]


def test_a_data_folder_of_another_format_is_a_fault(nothing_runs: Installation) -> None:
    (nothing_runs.data_dir / "version").write_text("7")
    assert data_dir(nothing_runs)[-1].detail.endswith("has format 7, not 1")


def test_a_misspelt_variable_is_a_warning(nothing_runs: Installation) -> None:
    told = Installation(**{**vars(nothing_runs), "unknown_variables": ("INTERLOCK_API_PROT",)})
    assert variables(told)[0].state is State.WARNING


def test_a_check_that_breaks_is_a_finding(nothing_runs: Installation) -> None:
    def broken_check(_: Installation) -> list[Finding]:
        raise RuntimeError("out of ideas")

    findings = examine(nothing_runs, [broken_check])
    assert findings[0].detail == "the check broke: RuntimeError: out of ideas"


@pytest.mark.parametrize(("state", "status"), [(State.GOOD, 0), (State.WARNING, 0), (State.FAULT, 1)])
def test_only_a_fault_makes_the_status_one(state: State, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert report([good("one", "fine"), Finding("two", state, "so", "then")], as_json=True) == status
    assert [row["part"] for row in json.loads(capsys.readouterr().out)] == ["one", "two"]
