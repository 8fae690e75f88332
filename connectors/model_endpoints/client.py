"""The one client of model endpoints: one call, no retry, within its time and size, every ending sorted.

No prompt, answer, key or message of an error is logged or raised: failures are outcomes with a label.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from connectors.model_endpoints.addresses import Address
from connectors.model_endpoints.answers import Reply, reply_of
from connectors.model_endpoints.book import Endpoint, Model, Structure
from domain.model import ModelOutcome
from domain.model_task import ModelTask

if TYPE_CHECKING:
    import httpx2

_CONNECTIONS_MAX = 50
_NEEDS_EXTRA = "models are asked through the package `openai`, which is not installed; install interlock[models]"


class ModelsNotInstalled(Exception):
    """The extra `models` is not installed; the message says how to install it."""


class ModelClient:
    """Asks the models of one endpoint."""

    def __init__(self, endpoint: Endpoint, address: Address) -> None:
        """Raises ModelsNotInstalled where the extra is absent."""
        try:
            import httpx2
            import openai
        except ImportError:
            raise ModelsNotInstalled(_NEEDS_EXTRA) from None
        logging.getLogger("openai").setLevel(logging.WARNING)  # below that it logs what is asked
        self._openai, self._httpx = openai, httpx2
        self._http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=endpoint.connect_timeout_s),
            limits=httpx2.Limits(max_connections=_CONNECTIONS_MAX, keepalive_expiry=30),
            follow_redirects=False,  # nobody is sent on with our key and a customer's words
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_no_more_than(endpoint.answer_bytes_max)]},
        )
        client = openai.AsyncOpenAI(
            api_key=address.key.get_secret_value(),
            base_url=address.base_url,
            max_retries=0,
            http_client=self._http,
        )
        self._complete = client.chat.completions.with_raw_response.create  # loaded now, not on a customer's time

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def ask(
        self,
        model: Model,
        task: ModelTask,
        schema: dict[str, Any],
        structure: Structure,
        tokens_max: int,
        within_s: float,
    ) -> Reply:
        """Return how one call ended, after `within_s` at the latest."""
        request = request_of(model, task, schema, structure, tokens_max)
        try:
            async with asyncio.timeout(within_s):  # of the whole call: a body may come byte by byte
                answer = await self._complete(
                    **request, extra_headers={"Accept-Encoding": "identity"}, timeout=self._http.timeout
                )
                body = answer.content
        except TimeoutError:
            return Reply(outcome=ModelOutcome.TIMEOUT, label="deadline")
        except self._openai.APIStatusError as fault:
            return _of_status(fault.status_code)
        except self._openai.APITimeoutError:
            return Reply(outcome=ModelOutcome.UNREACHABLE, label="connect_timeout")
        except _Unusable as fault:
            return fault.reply
        except (self._openai.APIConnectionError, self._httpx.HTTPError):
            return Reply(outcome=ModelOutcome.UNREACHABLE, label="no_connection")
        return reply_of(body, task.size_bytes)


def request_of(
    model: Model, task: ModelTask, schema: dict[str, Any], structure: Structure, tokens_max: int
) -> dict[str, Any]:
    """Return the body of a request; where the endpoint holds nobody to a schema, the instructions say it."""
    instructions = task.instructions
    if structure is not Structure.JSON_SCHEMA:
        instructions += f"\n\nAnswer with one JSON object and nothing else. It fits this schema:\n{json.dumps(schema)}"
    request: dict[str, Any] = {
        "model": model.model,
        "messages": [
            {"role": "system", "content": instructions},
            *({"role": "assistant" if m.by_model else "user", "content": m.text} for m in task.messages),
        ],
        model.limit_field: tokens_max,
    }
    if structure is Structure.JSON_SCHEMA:
        named = {"name": task.role.value, "schema": schema, "strict": True}
        request["response_format"] = {"type": structure.value, "json_schema": named}
    elif structure is Structure.JSON_OBJECT:
        request["response_format"] = {"type": structure.value}
    if model.temperature is not None:
        request["temperature"] = model.temperature
    if model.reasoning_effort is not None:
        request["reasoning_effort"] = model.reasoning_effort
    return request


def _of_status(status: int) -> Reply:
    label = f"http_{status}"
    if status == 429:
        return Reply(outcome=ModelOutcome.RATE_LIMITED, label=label)
    if status == 408 or status >= 500:
        return Reply(outcome=ModelOutcome.SERVER_ERROR, label=label)
    return Reply(outcome=ModelOutcome.REFUSED, label=label)


class _Unusable(Exception):
    """A body that is not read to its end, and what that comes to."""

    def __init__(self, status: int, outcome: ModelOutcome, label: str) -> None:
        super().__init__(label)
        self.reply = Reply(outcome=outcome, label=label) if status < 400 else _of_status(status)


def _no_more_than(bytes_max: int) -> Any:
    """Return a hook that bounds the body of every answer, an error's too."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, inner: Any, status: int) -> None:
            self._inner, self._status = inner, status

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = bytes_max
            try:
                async for chunk in self._inner:
                    left -= len(chunk)
                    if left < 0:
                        raise _Unusable(self._status, ModelOutcome.MALFORMED, "too_large")
                    yield chunk
            except httpx2.HTTPError:
                raise _Unusable(self._status, ModelOutcome.CUT_OFF, "connection_lost") from None

        async def aclose(self) -> None:
            await self._inner.aclose()

    async def bound(answer: "httpx2.Response") -> None:
        if answer.headers.get("content-encoding", "identity") != "identity":
            # What it comes to when unpacked has no bound.
            raise _Unusable(answer.status_code, ModelOutcome.MALFORMED, "compressed")
        answer.stream = Bounded(answer.stream, answer.status_code)

    return bound
