"""Scripts of endpoints that fail: late, half, too much, not at all, or in another shape than was asked for.

What a good model would have said is what they spoil.
"""

import gzip
import json

from tests.scripted_model.asked import Asked
from tests.scripted_model.honest import good
from tests.scripted_model.replies import BreaksOff, Drips, Fails, Hangs, Reply, Says, Sends

A_MILLION = (600_000, 400_000)
HUGE = json.dumps({"choices": [{"message": {"content": "0" * 10_000_000}, "finish_reason": "stop"}]}).encode()
PACKED = gzip.compress(HUGE)


def broken_json(asked: Asked) -> Reply:
    """Say something that is nearly JSON, in one of the ways in which models do."""
    text = good(asked).text
    return Says(
        (
            text[:-1],
            text.replace('"', "'"),
            f"Sure! Here is the answer:\n{text[: len(text) // 2]}",
            "I'm sorry, but I can't help with that.",
            "",
        )[asked.n % 5]
    )


def half_answer(asked: Asked) -> Reply:
    """Stop in the middle: by the limit of tokens, or with the line."""
    text = good(asked).text
    return BreaksOff(text) if asked.n % 2 else Says(text[: len(text) // 2], finish="length")


def wrong_schema(asked: Asked) -> Reply:
    """Say good JSON of another shape."""
    return Says(json.dumps([{"answer": 42}, [], "refund", {"segments": "all of them"}, None][asked.n % 5]))


def huge(asked: Asked) -> Reply:
    """Say ten million characters, or pack them so that a few kilobytes unfold to them."""
    return Sends(HUGE) if asked.n % 2 else Sends(PACKED, headers={"Content-Encoding": "gzip"})


def costs_too_much(asked: Asked) -> Reply:
    """Say the right thing, and charge a million tokens for it."""
    return Says(good(asked).text, tokens=A_MILLION)


def drips(asked: Asked) -> Reply:
    """Say the right thing, byte by byte."""
    return Drips(good(asked).text)


def hangs(_: Asked) -> Reply:
    """Say nothing."""
    return Hangs()


def too_many_requests(_: Asked) -> Reply:
    """Refuse for now."""
    return Fails(429, "rate_limit_exceeded", "Rate limit reached. Try again in 20 s.", {"Retry-After": "20"})


def server_error(asked: Asked) -> Reply:
    """Fail, with a document or with a page."""
    if asked.n % 2:
        return Fails(500, "server_error", "The server had an error while processing your request.")
    return Sends(b"<html><h1>502 Bad Gateway</h1></html>", status=502)


def wrong_key(_: Asked) -> Reply:
    """Refuse the key."""
    return Fails(401, "invalid_api_key", "Incorrect API key provided.")


def unknown_model(asked: Asked) -> Reply:
    """Refuse the model."""
    return Fails(404, "model_not_found", f"The model `{asked.model}` does not exist.")


def redirects(_: Asked) -> Reply:
    """Send the caller elsewhere, with all that it said."""
    return Sends(b"", status=307, headers={"Location": "http://127.0.0.1:9/v1/chat/completions"})


def flaky(asked: Asked) -> Reply:
    """Fail every other time."""
    return server_error(asked) if asked.n % 2 else good(asked)
