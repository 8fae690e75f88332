"""Laws of all endpoints: a circuit opens, is probed once and closes; structure is lowered only where that helps."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from connectors.model_endpoints.answers import Reply
from connectors.model_endpoints.book import Endpoint, ModelBook
from connectors.model_endpoints.circuits import Circuits
from connectors.model_endpoints.endpoints import STRUCTURE_REFUSED, ModelEndpoints
from connectors.model_endpoints.probing import Verdict, probe
from domain.model import ModelOutcome as Outcome
from domain.model import ModelRole, Route
from domain.model_task import ModelMessage, ModelTask
from tests.connectors.raw_endpoint import Act, RawEndpoint, answer, completion, endpoint, hung_up, silence

TASK = ModelTask(
    role=ModelRole.DRAFT, route=Route.LARGE, prompt="p@1", instructions="Say.", messages=(ModelMessage(text="x"),)
)
BUDGET = {"calls_max": 1, "tokens_max": 1, "cost_micros_max": 1, "seconds_max": 1, "tool_steps_max": 0}


def book_of(**fields: Any) -> ModelBook:
    """A book of one model, at one endpoint that opens its circuit after two failures, for a moment."""
    told = {"input_per_million": 1, "output_per_million": 2, "context_tokens_max": 900, "output_tokens_max": 50}
    use = {"chain": ["m"], "prompts": ["p@1"], "answer_tokens_max": 50, "call_timeout_s": 1}
    return ModelBook.model_validate(
        {
            "currency": "EUR",
            "endpoints": {"here": {"failures_to_open": 2, "open_s": 0.2}},
            "models": {"m": {"endpoint": "here", "model": "m-1", **told, **fields}},
            "roles": {"draft": {"large": use}},
            "budgets": {"turn": BUDGET, "conversation": BUDGET},
        }
    )


@asynccontextmanager
async def opened(answers: Sequence[Act], **fields: Any) -> AsyncIterator[tuple[ModelEndpoints, RawEndpoint]]:
    async with endpoint(answers) as there:
        endpoints = ModelEndpoints(book_of(**fields), {"here": there.address})
        try:
            yield endpoints, there
        finally:
            await endpoints.close()


async def ask(endpoints: ModelEndpoints, within_s: float = 0.5) -> Reply:
    return await endpoints.ask("m", TASK, {"type": "object"}, 50, within_s)


async def test_after_so_many_failures_nobody_is_asked_until_a_probe_has_gone_well() -> None:
    async with opened([answer(500, b""), hung_up, answer(503, b""), completion("{}")]) as (endpoints, there):
        assert [(await ask(endpoints)).outcome for _ in range(3)] == [
            Outcome.SERVER_ERROR,
            Outcome.UNREACHABLE,
            Outcome.CIRCUIT_OPEN,
        ]
        assert len(there.bodies) == 2
        await asyncio.sleep(0.25)
        assert (await ask(endpoints)).outcome is Outcome.SERVER_ERROR  # one probe, and it is open again
        assert (await ask(endpoints)).outcome is Outcome.CIRCUIT_OPEN
        await asyncio.sleep(0.25)
        assert [(await ask(endpoints)).outcome for _ in range(2)] == [Outcome.OK, Outcome.OK]


async def test_one_probe_at_a_time() -> None:
    async with opened([answer(500, b""), answer(500, b""), silence]) as (endpoints, there):
        await ask(endpoints)
        await ask(endpoints)
        await asyncio.sleep(0.25)
        outcomes = [r.outcome for r in await asyncio.gather(*(ask(endpoints, 0.3) for _ in range(5)))]
        assert outcomes.count(Outcome.CIRCUIT_OPEN) == 4
        assert len(there.bodies) == 3


@pytest.mark.parametrize("label", ["tokens_max", "model_declined", "http_400", "http_422", "not_json", "empty"])
async def test_what_one_request_did_wrong_opens_no_circuit(label: str) -> None:
    circuits, told = Circuits(), Reply(outcome=Outcome.REFUSED, label=label)

    async def call() -> Reply:
        return told

    assert [await circuits.through("m", Endpoint(failures_to_open=1), call) for _ in range(3)] == [told] * 3


async def test_a_probe_that_is_cancelled_proves_nothing_and_leaves_the_way_free_for_the_next() -> None:
    async with opened([answer(500, b""), answer(500, b""), silence, completion("{}")]) as (endpoints, there):
        await ask(endpoints)
        await ask(endpoints)
        await asyncio.sleep(0.25)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask(endpoints, 5), 0.1)
        assert (await ask(endpoints)).outcome is Outcome.CIRCUIT_OPEN
        assert len(there.bodies) == 3
        await asyncio.sleep(0.25)
        assert (await ask(endpoints)).outcome is Outcome.OK


async def test_a_call_from_before_is_not_taken_for_the_probe() -> None:
    circuits, here = Circuits(), Endpoint(failures_to_open=1, open_s=0.05)
    late, probed = asyncio.Event(), asyncio.Event()

    async def until(event: asyncio.Event, reply: Reply) -> Reply:
        await event.wait()
        return reply

    failed = Reply(outcome=Outcome.TIMEOUT)
    before = asyncio.create_task(circuits.through("m", here, lambda: until(late, failed)))
    await asyncio.sleep(0)
    await circuits.through("m", here, lambda: asyncio.sleep(0, failed))
    await asyncio.sleep(0.1)
    probe = asyncio.create_task(circuits.through("m", here, lambda: until(probed, Reply(outcome=Outcome.OK))))
    await asyncio.sleep(0.01)
    late.set()
    await before
    await asyncio.sleep(0.1)
    assert (await circuits.through("m", here, lambda: asyncio.sleep(0, failed))).outcome is Outcome.CIRCUIT_OPEN
    probed.set()
    assert (await probe).outcome is Outcome.OK


async def test_an_endpoint_that_takes_no_schema_is_asked_for_less_from_then_on() -> None:
    refusal = answer(400, b"{}")
    async with opened([refusal, completion("{}")]) as (endpoints, there):
        assert (await ask(endpoints)).label == STRUCTURE_REFUSED
        assert (await ask(endpoints)).outcome is Outcome.OK
        await ask(endpoints)
        asked = [body.get("response_format", {}).get("type") for body in there.bodies]
        assert asked == ["json_schema", "json_object", "json_object"]


async def test_where_less_structure_helps_nothing_it_was_something_else() -> None:
    async with opened([answer(400, b"{}")]) as (endpoints, there):
        assert [(await ask(endpoints)).label for _ in range(3)] == [STRUCTURE_REFUSED, STRUCTURE_REFUSED, "http_400"]
        assert (await ask(endpoints)).label == "http_400"
        assert (await ask(endpoints)).label == "http_400"
        assert [b.get("response_format", {}).get("type") for b in there.bodies[3:]] == ["json_schema"] * 2


async def test_what_does_not_fit_the_context_is_not_sent() -> None:
    async with opened([completion("{}")], context_tokens_max=51) as (endpoints, there):
        assert (await ask(endpoints)).outcome is Outcome.TOO_LONG
        assert there.bodies == []


async def test_an_answer_is_never_longer_than_the_model_may_write() -> None:
    async with opened([completion("{}")], output_tokens_max=7) as (endpoints, there):
        await ask(endpoints)
        assert there.bodies[0]["max_completion_tokens"] == 7


@pytest.mark.parametrize(
    ("answers", "verdict", "told"),
    [
        ([completion('{"ok": true}')], Verdict.ANSWERS, "answers, in the structure json_schema"),
        ([answer(400, b""), completion('{"ok": true}')], Verdict.LESS_STRUCTURE, "refuses structured = 'json_schema'"),
        ([completion("Yes!")], Verdict.NO_STRUCTURE_KEPT, "not in the structure asked for"),
        ([answer(401, b"")], Verdict.WRONG_KEY, "the endpoint 'here' refuses the key (http_401)"),
        ([answer(404, b"")], Verdict.UNKNOWN_MODEL, "nothing is called 'm-1' at the endpoint 'here'"),
        ([answer(429, b"")], Verdict.RATE_LIMITED, "429"),
        ([hung_up], Verdict.UNREACHABLE, "cannot be reached (no_connection); check base_url and the network"),
        ([answer(500, b"")], Verdict.BROKEN, "answers nothing of use (server_error: http_500)"),
    ],
)
async def test_a_probe_says_what_is_wrong(answers: list[Act], verdict: Verdict, told: str) -> None:
    async with opened(answers) as (endpoints, _):
        (found,) = await probe(book_of(), endpoints)
    assert found.verdict is verdict
    assert told in found.told
