"""Laws of bodies, texts and schemas: whatever an endpoint sends, a reply comes of it, no number is just believed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.model_endpoints.answers import TOKENS_BELIEVED_MAX, object_in, reply_of
from connectors.model_endpoints.schema import strict_schema
from domain.model import ModelOutcome
from domain.model_reading import ModelReading

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
KEYS = st.sampled_from(["choices", "message", "content", "finish_reason", "usage", "prompt_tokens", "refusal"])
BODIES = st.recursive(JSON, lambda inner: st.dictionaries(KEYS, inner, max_size=4) | st.lists(inner, max_size=2))


@given(st.binary(max_size=200) | BODIES.map(lambda found: json.dumps(found).encode()))
def test_every_body_comes_to_a_reply_whose_text_is_there_only_where_it_ended_well(body: bytes) -> None:
    reply = reply_of(body, 300)
    assert bool(reply.text) is (reply.outcome is ModelOutcome.OK)
    assert 0 <= reply.input_tokens <= TOKENS_BELIEVED_MAX
    assert 0 <= reply.output_tokens <= TOKENS_BELIEVED_MAX


@pytest.mark.parametrize("told", [-1, True, "12", 1.5, None, 10**30])
def test_tokens_that_cannot_be_are_reckoned(told: object) -> None:
    body = {"choices": [{"message": {"content": "{}"}}], "usage": {"prompt_tokens": told}}
    assert 0 < reply_of(json.dumps(body).encode(), 300).input_tokens <= TOKENS_BELIEVED_MAX


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=3), st.sampled_from(["", "Here:\n```json\n", "```\n"]))
def test_an_object_is_found_alone_or_between_words(found: dict[str, object], before: str) -> None:
    assert object_in(f"{before}{json.dumps(found)}\n```") == found


@pytest.mark.parametrize("text", ["", "{", "}{", "[1]", '{"a": 1} {"b": 2}', '{"a": NaN}', "{" * 50_000 + "}" * 50_000])
def test_what_is_not_one_object_is_none(text: str) -> None:
    assert object_in(text) is None


def test_a_schema_asks_for_every_field_and_allows_no_other() -> None:
    schema = strict_schema(ModelReading)
    parts = [schema, *schema["$defs"].values()]
    objects = [part for part in parts if part.get("type") == "object"]
    assert len(objects) == 2
    for part in objects:
        assert part["required"] == list(part["properties"])
        assert part["additionalProperties"] is False
    assert not {"maxItems", "minLength", "default"} & set(json.dumps(schema).replace('"', " ").split())
