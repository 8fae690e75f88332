"""Laws of models.toml: ours loads, what contradicts itself does not, and a complaint says where and what is right."""

from collections.abc import Callable
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import pytest
from pydantic import SecretStr

from activities.model_drafting import ANONYMOUS, READ_ONLY, WITH_ACTION
from activities.model_reading import PROMPT
from activities.prompts import digests
from connectors.model_endpoints.addresses import OPENAI_URL, addresses_of
from connectors.model_endpoints.book import NEEDED_PROMPTS, ModelBook
from connectors.model_endpoints.reading import PACKAGED, ModelsInvalid, book_of, read_models
from domain.model import ModelRole, Route

PROMPTS = {"understand@1": "d1", "understand@2": "d2", "draft@1": "d3"}
ADMITTED = 'admitted = "unevaluated"'
EVALUATION = """
[roles.understand.small.evaluation]
at = 2026-11-30
measured = "evals/understanding"
cases = 480
figures = { accuracy = 0.97, person_recall = 1 }
models = ["cheap"]
prompts = { "understand@1" = "d1" }
"""
PLAIN = f"""
currency = "EUR"
[endpoints.here]
base_url = "http://127.0.0.1:9/v1"
api_key_env = "KEY_OF_HERE"
[endpoints.default]
[models.cheap]
endpoint = "here"
model = "m-1"
input_per_million = 0.25
output_per_million = 2.00
context_tokens_max = 9_000
output_tokens_max = 500
[models.dear]
endpoint = "default"
model = "m-2"
input_per_million = 3
output_per_million = 15
context_tokens_max = 9_000
output_tokens_max = 500
[roles.understand.small]
chain = ["cheap"]
prompts = ["understand@1"]
answer_tokens_max = 400
call_timeout_s = 3.5
{ADMITTED}
[budgets.turn]
calls_max = 4
tokens_max = 9_000
cost_micros_max = 10_000
seconds_max = 10
tool_steps_max = 2
[budgets.conversation]
calls_max = 40
tokens_max = 90_000
cost_micros_max = 100_000
seconds_max = 100
tool_steps_max = 20
"""


def read(text: str) -> ModelBook:
    return book_of(text, "my.toml", PROMPTS)


def test_ours_loads_with_the_prompts_that_there_are_and_says_that_nobody_has_evaluated_it() -> None:
    book = read_models(None, digests())
    assert book.routes(ModelRole.UNDERSTAND) == {Route.SMALL, Route.LARGE}
    assert set(book.unevaluated) == {f"{role}.{route}" for role, by in book.roles.items() for route in by}
    assert (files("connectors.model_endpoints") / PACKAGED).is_file()


def swap(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


def evaluated(old: str = "", new: str = "") -> Callable[[str], str]:
    return lambda text: text.replace(ADMITTED, "") + EVALUATION.replace(old, new)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (swap('endpoint = "here"', 'endpoint = "her"'), "[models.cheap] endpoint: no endpoint is called 'her'"),
        (swap('endpoint = "here"', 'endpoint = "her"'), "there are default, here"),
        (
            swap('["cheap"]', '["chip"]'),
            "[roles.understand.small] chain: no model is called 'chip'; there are cheap, dear",
        ),
        (swap('["cheap"]', '["cheap", "cheap"]'), "chain: a model stands in it twice"),
        (swap('["cheap"]', "[]"), "[roles.understand.small] chain: is wrong"),
        (swap("understand@1", "understand@9"), "prompts: there is no prompt 'understand@9'; there are draft@1"),
        (
            swap('["understand@1"]', '["understand@1", "understand@2"]'),
            "prompts: one of them stands there in two versions",
        ),
        (swap(ADMITTED, ""), "[roles.understand.small] evaluation: of `evaluation` and `admitted`, neither is set"),
        (lambda text: text + EVALUATION, "of `evaluation` and `admitted`, both are set"),
        (
            evaluated('"d1"', '"d0"'),
            "understand@1 has changed since it was evaluated; evaluate it again, its digest is d1",
        ),
        (evaluated('"understand@1" = "d1"', '"draft@1" = "d3"'), "understand@1 was not evaluated"),
        (evaluated('["cheap"]', '["dear"]'), "evaluation.models: is not the chain; what was measured must be cheap"),
        (swap(ADMITTED, 'admitted = "yes"'), "[roles.understand.small] admitted: is wrong; it should be 'unevaluated'"),
        (swap("understand.small", "understand.rules"), "rules asks no model; the routes of a role are small and large"),
        (swap("understand.small", "guess.small"), "[roles] guess: is wrong; it should be 'understand' or 'draft'"),
        (swap("0.25", "-0.25"), "[models.cheap] input_per_million: is wrong; it should be greater than or equal to 0"),
        (swap("0.25", "nan"), "[models.cheap] input_per_million: is wrong"),
        (swap("model = ", "modell = "), "[models.cheap] modell: there is no such key; there are context_tokens_max"),
        (swap("calls_max = 40", ""), "[budgets.conversation] calls_max: is missing; it has to be set"),
        (swap("calls_max = 40", "calls_max = 0"), "[budgets.conversation] calls_max: is wrong"),
        (swap("output_tokens_max = 500", "output_tokens_max = 9_000"), "output_tokens_max: leaves no room"),
        (swap('"EUR"', '"euros"'), "my.toml: currency: is wrong; it should be three capital letters, such as USD"),
        (swap("http://", "ftp://"), "[endpoints.here] base_url: is wrong; it should be an http:// or https:// URL"),
        (swap('"KEY_OF_HERE"', '"K"\napi_key_file = "k"'), "[endpoints.here] api_key_env: api_key_file is set too"),
        (swap("[endpoints.default]", "[endpoints"), "my.toml: is no TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_what_would_be_right(
    change: Callable[[str], str], complaint: str
) -> None:
    with pytest.raises(ModelsInvalid) as raised:
        read(change(PLAIN))
    assert complaint in str(raised.value)
    assert all(line.startswith("my.toml: ") for line in str(raised.value).splitlines())


def test_an_evaluation_of_exactly_these_models_and_prompts_admits_a_route() -> None:
    assert read(PLAIN).unevaluated == ("understand.small",)
    assert read(evaluated()(PLAIN)).unevaluated == ()


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ModelsInvalid, match="cannot be read"):
            read_models(path, PROMPTS)
    (tmp_path / "latin").write_bytes(b"\xe9")
    with pytest.raises(ModelsInvalid, match="it is not UTF-8 text"):
        read_models(tmp_path / "latin", PROMPTS)


@pytest.mark.parametrize(
    ("tokens", "micros"), [((0, 0), 0), ((1, 0), 1), ((4, 0), 1), ((1_000_000, 1_000_000), 2_250_000)]
)
def test_a_cost_is_the_tokens_times_their_price_rounded_up(tokens: tuple[int, int], micros: int) -> None:
    model = read(PLAIN).models["cheap"]
    assert model.cost_micros(*tokens) == micros
    assert model.input_per_million == Decimal("0.25")


def test_a_key_comes_from_where_the_endpoint_says_and_else_from_the_settings(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-file\n")
    both = swap('["cheap"]', '["cheap", "dear"]')(PLAIN)
    of_file = swap("[endpoints.default]", f'[endpoints.default]\napi_key_file = "{tmp_path / "key"}"')(both)
    settings = SecretStr("sk-settings")
    found = addresses_of(read(both), "my.toml", None, settings, {"KEY_OF_HERE": "sk-env"})
    assert {name: (a.base_url, a.key.get_secret_value()) for name, a in found.items()} == {
        "here": ("http://127.0.0.1:9/v1", "sk-env"),
        "default": (OPENAI_URL, "sk-settings"),
    }
    assert addresses_of(read(both), "f", "http://x", settings, {"KEY_OF_HERE": "k"})["default"].base_url == "http://x"
    assert (
        addresses_of(read(of_file), "f", None, None, {"KEY_OF_HERE": "k"})["default"].key.get_secret_value()
        == "sk-file"
    )
    assert set(addresses_of(read(PLAIN), "f", None, None, {"KEY_OF_HERE": "k"})) == {"here"}  # no other is asked


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({}, "[endpoints.here] api_key_env: KEY_OF_HERE is not set; set it to the endpoint's key"),
        ({"KEY_OF_HERE": " "}, "[endpoints.here] api_key_env: KEY_OF_HERE is not set"),
        ({"KEY_OF_HERE": "sk-secret\nsk-other"}, "[endpoints.here] the key holds what no key can"),
    ],
)
def test_a_key_that_is_missing_or_none_is_said_without_showing_it(environment: dict[str, str], complaint: str) -> None:
    with pytest.raises(ModelsInvalid) as raised:
        addresses_of(read(PLAIN), "my.toml", None, None, environment)
    assert complaint in str(raised.value)
    assert "sk-" not in str(raised.value)
    free = swap('api_key_env = "KEY_OF_HERE"', "needs_key = false")(PLAIN)
    assert addresses_of(read(free), "my.toml", None, None, {})["here"].key.get_secret_value() == "none"


def test_a_route_names_every_prompt_that_its_role_asks_with() -> None:
    ours = files("connectors.model_endpoints").joinpath(PACKAGED).read_text("utf-8")
    lacking = ours.replace('"draft_anonymous@1", "draft_read_only@1", ', "")
    with pytest.raises(ModelsInvalid) as refused:
        book_of(lacking, "my.toml", digests())
    assert len(refused.value.complaints) == 4
    told = "[roles.draft.small] prompts: draft asks with draft_anonymous too, and none is named; there are "
    assert refused.value.complaints[0] == f"{told}draft_anonymous@1"


def test_the_prompts_that_are_needed_are_those_that_are_asked_with() -> None:
    assert NEEDED_PROMPTS[ModelRole.UNDERSTAND] == (PROMPT,)
    assert NEEDED_PROMPTS[ModelRole.DRAFT] == (ANONYMOUS, READ_ONLY, WITH_ACTION)
