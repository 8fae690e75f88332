"""Laws of one call to a model, over a real wire: every ending has its outcome, in time and size, no secret leaks."""

import logging
import time
from typing import Any

import pytest

from connectors.model_endpoints.answers import Reply
from connectors.model_endpoints.book import Endpoint, Model, Structure
from connectors.model_endpoints.client import ModelClient
from domain.model import ModelOutcome as Outcome
from domain.model import ModelRole, Route
from domain.model_task import ModelMessage, ModelTask
from tests.connectors.raw_endpoint import (
    KEY,
    SILENCE_S,
    Act,
    RawEndpoint,
    answer,
    byte_by_byte,
    completion,
    endpoint,
    hung_up,
    silence,
)

WITHIN_S = 0.5
SECRET = "my name is Ada and my order is A-1"
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
TASK = ModelTask(
    role=ModelRole.UNDERSTAND,
    route=Route.SMALL,
    prompt="understand@1",
    instructions="Read.",
    messages=(ModelMessage(text=SECRET), ModelMessage(text="{}", by_model=True), ModelMessage(text="again")),
)


def model(**fields: Any) -> Model:
    told = {"input_per_million": 1, "output_per_million": 2, "context_tokens_max": 9_000, "output_tokens_max": 500}
    return Model.model_validate({"endpoint": "here", "model": "m-1", **told, **fields})


async def asked(
    *answers: Act, structure: Structure = Structure.JSON_SCHEMA, of: Model | None = None
) -> tuple[Reply, RawEndpoint]:
    async with endpoint(answers) as there:
        client = ModelClient(Endpoint(connect_timeout_s=WITHIN_S, answer_bytes_max=50_000), there.address)
        try:
            return await client.ask(of or model(), TASK, SCHEMA, structure, 77, WITHIN_S), there
        finally:
            await client.close()


LARGE = b" " * 1_000_000
ENDINGS: dict[str, tuple[Act, Outcome, str]] = {
    "whole": (completion('{"a": 1}'), Outcome.OK, ""),
    "429": (answer(429, b"{}", headers="Retry-After: 60\r\n"), Outcome.RATE_LIMITED, "http_429"),
    "500": (answer(500, b"oops"), Outcome.SERVER_ERROR, "http_500"),
    "529": (answer(529, b"{}"), Outcome.SERVER_ERROR, "http_529"),
    "wrong key": (answer(401, b'{"error": {"message": "sk-... is wrong"}}'), Outcome.REFUSED, "http_401"),
    "unknown model": (answer(404, b"{}"), Outcome.REFUSED, "http_404"),
    "sent on": (answer(302, b"", headers="Location: http://127.0.0.1:9/\r\n"), Outcome.REFUSED, "http_302"),
    "half a body": (answer(200, b'{"choices": [', length=500), Outcome.CUT_OFF, "connection_lost"),
    "half an answer": (completion('{"a": ', finish="length"), Outcome.CUT_OFF, "tokens_max"),
    "too large": (answer(200, LARGE), Outcome.MALFORMED, "too_large"),
    "too large an error": (answer(503, LARGE), Outcome.SERVER_ERROR, "http_503"),
    "compressed": (answer(200, b"x", headers="Content-Encoding: gzip\r\n"), Outcome.MALFORMED, "compressed"),
    "a page": (answer(200, b"<html>"), Outcome.MALFORMED, "no_completion"),
    "nothing said": (completion("  "), Outcome.MALFORMED, "empty"),
    "declined": (completion("", refusal="I would rather not."), Outcome.REFUSED, "model_declined"),
    "filtered": (completion("x", finish="content_filter"), Outcome.REFUSED, "model_declined"),
    "silence": (silence, Outcome.TIMEOUT, "deadline"),
    "byte by byte": (byte_by_byte, Outcome.TIMEOUT, "deadline"),
    "hung up": (hung_up, Outcome.UNREACHABLE, "no_connection"),
}


@pytest.mark.parametrize("name", ENDINGS)
async def test_every_ending_has_its_outcome_in_time_and_without_a_second_call(name: str) -> None:
    act, outcome, label = ENDINGS[name]
    begun = time.monotonic()
    reply, there = await asked(act)
    assert (reply.outcome, reply.label) == (outcome, label)
    assert bool(reply.text) is (outcome is Outcome.OK)
    assert time.monotonic() - begun < SILENCE_S / 3
    assert len(there.bodies) == 1  # its own retries are off


async def test_nobody_at_the_address_is_unreachable() -> None:
    async with endpoint([silence]) as there:
        gone = there.address
    client = ModelClient(Endpoint(), gone)
    reply = await client.ask(model(), TASK, SCHEMA, Structure.JSON_SCHEMA, 77, WITHIN_S)
    await client.close()
    assert (reply.outcome, reply.label) == (Outcome.UNREACHABLE, "no_connection")


async def test_what_is_asked_is_logged_at_no_level(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for name in ("whole", "500", "wrong key", "half a body", "silence"):
            await asked(ENDINGS[name][0])
    assert not any(word in caplog.text for word in (SECRET, KEY, "is wrong"))


async def test_tokens_are_those_that_are_told_and_are_reckoned_where_none_are() -> None:
    told, _ = await asked(completion('{"a": 1}', tokens=(123, 45)))
    assert (told.input_tokens, told.output_tokens) == (123, 45)
    untold, _ = await asked(completion('{"a": 1}', tokens=None))
    assert untold.input_tokens >= TASK.size_bytes // 4
    assert untold.output_tokens >= 2
    half, _ = await asked(completion("{", finish="length", tokens=(123, 500)))
    assert (half.input_tokens, half.output_tokens) == (123, 500)  # what is cut off is paid for too


async def test_a_request_says_what_the_book_says_and_nothing_that_it_does_not() -> None:
    _, there = await asked(completion("{}"))
    body = there.bodies[0]
    assert set(body) == {"model", "messages", "max_completion_tokens", "response_format"}
    assert body["max_completion_tokens"] == 77
    assert body["response_format"]["json_schema"]["strict"] is True
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "user"]
    assert f"authorization: bearer {KEY}" in there.heads[0].lower()
    _, there = await asked(completion("{}"), of=model(limit_field="max_tokens", temperature=0, reasoning_effort="low"))
    assert {"max_tokens": 77, "temperature": 0.0, "reasoning_effort": "low"}.items() <= there.bodies[0].items()


@pytest.mark.parametrize("structure", [Structure.JSON_OBJECT, Structure.NONE])
async def test_where_no_schema_is_taken_the_instructions_say_it(structure: Structure) -> None:
    _, there = await asked(completion("{}"), structure=structure)
    body = there.bodies[0]
    assert '"additionalProperties": false' in body["messages"][0]["content"]
    assert body.get("response_format") == (None if structure is Structure.NONE else {"type": "json_object"})
