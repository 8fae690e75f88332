"""Laws of the commands on models: what the file says, what an endpoint answers, what it has all cost."""

import json
import sys
from pathlib import Path

import pytest

from connectors.model_endpoints.reading import PACKAGED
from domain.model_task import Occasion
from store.database import Database
from store.model_calls import book_call
from tests.conftest import Interlock, MakeConversation, MakeCustomer, MakeTenant
from tests.connectors.raw_endpoint import KEY, RawEndpoint, answer, completion, endpoint
from tests.store.test_model_calls import call


def copy(tmp_path: Path, old: str = "", new: str = "") -> str:
    """Our own models.toml with a change, as a file."""
    from importlib.resources import files

    path = tmp_path / "models.toml"
    path.write_text((files("connectors.model_endpoints") / PACKAGED).read_text("utf-8").replace(old, new))
    return str(path)


async def test_list_tells_chain_price_and_that_nobody_has_evaluated_it(interlock: Interlock) -> None:
    done = await interlock("models", "list")
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        "understand, large route, prompts understand@1; then the local form\n  large: gpt-4.1 at default;"
        in done.stdout
    )
    assert "UNEVALUATED" in done.stdout
    told = json.loads((await interlock("models", "list", "--json")).stdout)
    assert told["models"]["small"]["input_per_million"] == "0.40"


async def test_a_file_that_contradicts_itself_ends_with_each_place(
    interlock: Interlock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_MODELS_FILE", copy(tmp_path, 'endpoint = "default"', 'endpoint = "elsewhere"'))
    for command in ("list", "check"):
        done = await interlock("models", command)
        assert done.returncode == 1
        assert "[models.small] endpoint: no endpoint is called 'elsewhere'; there are default" in done.stderr


async def test_check_without_a_key_says_where_one_may_be_set(interlock: Interlock) -> None:
    done = await interlock("models", "check")
    assert done.returncode == 1
    assert "[endpoints.default] has no key; set INTERLOCK_MODEL_API_KEY, or api_key_env or api_key_file" in done.stderr


async def checked(interlock: Interlock, there: RawEndpoint, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    monkeypatch.setenv("INTERLOCK_MODEL_API_KEY", KEY)
    monkeypatch.setenv("INTERLOCK_MODEL_BASE_URL", there.address.base_url)
    done = await interlock("models", "check")
    assert KEY not in done.stdout + done.stderr
    return done.returncode, done.stdout


async def test_check_says_which_model_answers_and_what_is_wrong_with_the_key(
    interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with endpoint([completion('{"ok": true}')]) as there:
        status, told = await checked(interlock, there, monkeypatch)
        assert (status, told.count("ok   ")) == (0, 2)
    async with endpoint([answer(401, b"{}")]) as there:
        status, told = await checked(interlock, there, monkeypatch)
        assert (status, told.count("NOT  ")) == (3, 2)
        assert "the endpoint 'default' refuses the key (http_401); check which key it is given" in told


async def test_evaluate_prints_figures_and_the_block_that_admits_the_route(
    interlock: Interlock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cases.jsonl").write_text(
        '{"text": "Refund A-1", "intent": "refund_request"}\n{"text": "x", "label": 1}'
    )
    said = {"intents": ["refund_request"], "names": [], "risks": [], "certainty": "sure"}
    flags = ("asks_for_person", "corrects_earlier", "seeks_information", "urgent", "instructs_machine")
    async with endpoint([completion(json.dumps(said | dict.fromkeys(flags, False)))]) as there:
        monkeypatch.setenv("INTERLOCK_MODEL_API_KEY", KEY)
        monkeypatch.setenv("INTERLOCK_MODEL_BASE_URL", there.address.base_url)
        done = await interlock("models", "evaluate", str(tmp_path / "cases.jsonl"))
        wrong = await interlock("models", "evaluate", str(tmp_path / "none.jsonl"))
    assert done.returncode == 0
    assert done.stdout.startswith("# small: answered 1, intents 1, person_recall 0, ")
    assert "\n[roles.understand.small.evaluation]\n" in done.stdout
    assert 'measured = "cases.jsonl"\ncases = 2\n' in done.stdout
    assert wrong.returncode == 1


async def test_without_the_extra_it_is_said_what_to_install(
    interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERLOCK_MODEL_API_KEY", KEY)
    monkeypatch.setitem(sys.modules, "openai", None)
    done = await interlock("models", "check")
    assert done.returncode == 1
    assert "which is not installed; install interlock[models]" in done.stderr
    assert (await interlock("models", "list")).returncode == 0


async def test_costs_are_told_for_each_route_and_conversation(
    interlock: Interlock,
    db: Database,
    make_tenant: MakeTenant,
    make_customer: MakeCustomer,
    make_conversation: MakeConversation,
) -> None:
    tenant = make_tenant()
    assert (await interlock("models", "costs", "--tenant", tenant)).stdout == "no model has been asked\n"
    ident = await make_conversation(make_customer(tenant))
    for made in (call(cost_micros=1_500), call(cost_micros=500)):
        await book_call(db, occasion(tenant, ident), made)
    done = await interlock("models", "costs", "--tenant", tenant)
    assert "2 calls, 0 of them failed, 0 not made; 200 tokens in, 20 out" in done.stdout
    assert "0.002000 EUR, 0.002000 EUR for each of 1 conversations" in done.stdout
    (line,) = json.loads((await interlock("models", "costs", "--tenant", tenant, "--json")).stdout)
    assert (line["cost_micros"], line["cost_micros_per_conversation"]) == (2_000, 2_000)
    assert (await interlock("models", "costs", "--since", "yesterdayish")).returncode == 2


def occasion(tenant: str, ident: str) -> Occasion:
    return Occasion(tenant_id=tenant, conversation_id=ident, answered_seq=0, step_id="s", ends_at_s=0)
