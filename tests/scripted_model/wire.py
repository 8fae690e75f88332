"""Replies as HTTP: a completion in one piece or as a stream, an error document, a line that goes dead.

The shapes are those of OpenAI's chat completions.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, assert_never

from starlette.responses import JSONResponse, Response, StreamingResponse

from tests.scripted_model.asked import Asked
from tests.scripted_model.replies import BreaksOff, Drips, Fails, Hangs, Reply, Says, Sends

CHARS_PER_TOKEN = 4
PIECE_CHARS = 24


async def respond(reply: Reply, asked: Asked) -> Response:
    """Return the response that `reply` is on the wire."""
    match reply:
        case Says():
            await asyncio.sleep(reply.after_s)
            return _streamed(reply, asked) if asked.streams else JSONResponse(_whole(reply, asked))
        case Fails(status=status, code=code, message=message, headers=headers):
            error = {"message": message, "type": code, "param": None, "code": code}
            return JSONResponse({"error": error}, status, dict(headers))
        case BreaksOff(text=text):
            return _broken_off(text, asked)
        case Sends(body=body, status=status, headers=headers):
            return Response(body, status, dict(headers), "application/json")
        case Drips():
            return _dripping(reply, asked)
        case Hangs(for_s=for_s):
            await asyncio.sleep(for_s)
            return Response(status_code=504)
        case _:
            assert_never(reply)


def _whole(reply: Says, asked: Asked) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish, "logprobs": None}
    return _envelope(asked, "chat.completion") | {"choices": [choice], "usage": _usage(reply, asked)}


def _streamed(reply: Says, asked: Asked) -> Response:
    async def pieces() -> AsyncIterator[str]:
        for begin in range(0, len(reply.text), PIECE_CHARS):
            yield _chunk(asked, {"content": reply.text[begin : begin + PIECE_CHARS]}, None)
        yield _chunk(asked, {}, reply.finish)
        usage = _envelope(asked, "chat.completion.chunk") | {"choices": [], "usage": _usage(reply, asked)}
        yield f"data: {json.dumps(usage)}\n\ndata: [DONE]\n\n"

    return StreamingResponse(pieces(), media_type="text/event-stream")


def _chunk(asked: Asked, delta: dict[str, Any], finish: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps(_envelope(asked, 'chat.completion.chunk') | {'choices': [choice]})}\n\n"


def _broken_off(text: str, asked: Asked) -> Response:
    """Promise a whole body and send half of it; the server closes the line of a body that ends too soon."""
    whole = json.dumps(_whole(Says(text), asked)).encode()

    async def half() -> AsyncIterator[bytes]:
        yield whole[: len(whole) // 2]
        raise ConnectionAbortedError("as the script says")

    return StreamingResponse(half(), headers={"Content-Length": str(len(whole))}, media_type="application/json")


def _dripping(reply: Drips, asked: Asked) -> Response:
    async def drops() -> AsyncIterator[bytes]:
        for byte in json.dumps(_whole(Says(reply.text), asked)).encode():
            yield bytes([byte])
            await asyncio.sleep(reply.pause_s)

    return StreamingResponse(drops(), media_type="application/json")


def _envelope(asked: Asked, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{asked.n}", "object": kind, "created": 1_750_000_000, "model": asked.model}


def _usage(reply: Says, asked: Asked) -> dict[str, int]:
    told = reply.tokens or (len(asked.whole) // CHARS_PER_TOKEN + 1, len(reply.text) // CHARS_PER_TOKEN + 1)
    return {"prompt_tokens": told[0], "completion_tokens": told[1], "total_tokens": sum(told)}
