"""Laws of the scripts themselves: hostile answers have the right form, and broken ones break as they say."""

from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import SecretStr

from connectors.model_endpoints.addresses import Address
from connectors.model_endpoints.answers import Reply, object_in
from connectors.model_endpoints.book import Endpoint, Model, Structure
from connectors.model_endpoints.client import ModelClient
from connectors.model_endpoints.schema import strict_schema
from domain.base import Noun
from domain.model import ModelOutcome as Outcome
from domain.model import ModelRole, Route
from domain.model_draft import ModelDraft
from domain.model_reading import ModelReading
from domain.model_task import ModelMessage, ModelTask
from tests.scripted_model.process import ScriptedModel, scripted_model
from tests.scripted_model.scripts import BROKEN, HOSTILE

MODEL = Model(
    endpoint="here",
    model="m-1",
    input_per_million=1,
    output_per_million=2,
    context_tokens_max=9_000,
    output_tokens_max=500,
)
ARTICLE = "<<<DATA ab12 article k1>>>\nRefunds\nA refund takes five working days.\n<<<END ab12>>>"
SAID = "<<<DATA ab12 customer_messages>>>\nHow long does a refund take?\n<<<END ab12>>>"
WITHIN_S = 0.8
SHAPES: dict[ModelRole, type[Noun]] = {ModelRole.UNDERSTAND: ModelReading, ModelRole.DRAFT: ModelDraft}
ENDS = {
    "429": {Outcome.RATE_LIMITED},
    "500": {Outcome.SERVER_ERROR},
    "broken_json": {Outcome.OK},  # a whole answer; what is in it is no JSON
    "costs_too_much": {Outcome.OK},
    "drips": {Outcome.TIMEOUT},
    "flaky": {Outcome.SERVER_ERROR, Outcome.OK},
    "half_answer": {Outcome.CUT_OFF},
    "hangs": {Outcome.TIMEOUT},
    "huge": {Outcome.MALFORMED},
    "redirects": {Outcome.REFUSED},
    "unknown_model": {Outcome.REFUSED},
    "wrong_key": {Outcome.REFUSED},
    "wrong_schema": {Outcome.OK},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModel]:
    with scripted_model(tmp_path_factory.mktemp("model")) as it:
        yield it


@pytest.fixture
async def client(server: ScriptedModel) -> AsyncIterator[ModelClient]:
    it = ModelClient(Endpoint(), Address(base_url=server.base_url, key=SecretStr("k")))
    yield it
    await it.close()


async def asked(client: ModelClient, role: ModelRole, structure: Structure = Structure.JSON_SCHEMA) -> Reply:
    task = ModelTask(
        role=role,
        route=Route.SMALL,
        prompt="p@1",
        instructions="language: en\nreply_about: knowledge",
        messages=(ModelMessage(text=f"{ARTICLE}\n{SAID}"),),
    )
    return await client.ask(MODEL, task, strict_schema(SHAPES[role]), structure, 500, WITHIN_S)


@pytest.mark.parametrize("structure", [Structure.JSON_SCHEMA, Structure.JSON_OBJECT])
@pytest.mark.parametrize("script", ["good", "slow:20", *HOSTILE])
async def test_only_checks_beyond_the_form_can_stop_a_lie(
    server: ScriptedModel, client: ModelClient, script: str, structure: Structure
) -> None:
    server.play(script)
    for role, shape in SHAPES.items():
        for _ in range(4):
            reply = await asked(client, role, structure)
            assert reply.outcome is Outcome.OK
            shape.model_validate(object_in(reply.text))


@pytest.mark.parametrize("script", BROKEN)
async def test_what_is_broken_breaks_as_it_says(server: ScriptedModel, client: ModelClient, script: str) -> None:
    server.play(script)
    assert {(await asked(client, ModelRole.UNDERSTAND)).outcome for _ in range(2)} == ENDS[script]
    assert len(server.asked()) == 2


async def test_what_was_asked_is_told(server: ScriptedModel, client: ModelClient) -> None:
    server.play("good")
    await asked(client, ModelRole.DRAFT)
    (request,) = server.asked()
    assert request["authorization"] == "Bearer k"
    assert ARTICLE in request["body"]["messages"][1]["content"]


def test_every_script_has_its_end() -> None:
    assert set(ENDS) == set(BROKEN)
    assert not set(HOSTILE) & set(BROKEN)
