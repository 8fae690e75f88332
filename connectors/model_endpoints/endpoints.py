"""All endpoints of a book, ready to be asked: a client for each, a circuit for each model.

Remembers, while the process lives, which models' endpoints refuse the structure that the book says they take.
"""

import time
from collections.abc import Mapping
from typing import Any

from connectors.model_endpoints.addresses import Address
from connectors.model_endpoints.answers import Reply
from connectors.model_endpoints.book import Model, ModelBook, Structure
from connectors.model_endpoints.circuits import Circuits
from connectors.model_endpoints.client import ModelClient
from domain.model import ModelOutcome
from domain.model_task import ModelTask

STRUCTURE_REFUSED = "structure_refused"  # to be asked again at once: the next request wants less of the endpoint
_MAY_BE_STRUCTURE = frozenset({"http_400", "http_415", "http_422", "http_501"})
STRUCTURES_AGAIN_S = 600.0  # where no structure helped, so long nothing else is tried than what the book says
_BYTES_PER_TOKEN = 2  # as dense as any language gets, so that what is asked certainly fits


class ModelEndpoints:
    """Asks any model of a book by its name in it."""

    def __init__(self, book: ModelBook, addresses: Mapping[str, Address]) -> None:
        """Raises ModelsNotInstalled where the extra is absent."""
        self._book = book
        self._clients = {name: ModelClient(book.endpoints[name], address) for name, address in addresses.items()}
        self._circuits = Circuits()
        self._structures: dict[str, Structure] = {}
        self._left_alone: dict[str, float] = {}  # until when, on the monotonic clock

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.close()

    async def ask(self, name: str, task: ModelTask, schema: dict[str, Any], tokens_max: int, within_s: float) -> Reply:
        """Return how one call to the model `name` ended, after `within_s` seconds at the latest."""
        model = self._book.models[name]
        tokens = min(tokens_max, model.output_tokens_max)
        if task.size_bytes / _BYTES_PER_TOKEN > model.context_tokens_max - tokens:
            return Reply(outcome=ModelOutcome.TOO_LONG, label="context_tokens_max")
        structure = self._structures.get(name, model.structured)
        client = self._clients[model.endpoint]
        reply = await self._circuits.through(
            f"{model.endpoint}/{name}",
            self._book.endpoints[model.endpoint],
            lambda: client.ask(model, task, schema, structure, tokens, within_s),
        )
        return self._less_structure(name, model, structure, reply)

    def _less_structure(self, name: str, model: Model, structure: Structure, reply: Reply) -> Reply:
        """Ask for less structure from now on where that may have been what the endpoint refused."""
        if reply.outcome is ModelOutcome.OK:
            self._left_alone.pop(name, None)
        if reply.label not in _MAY_BE_STRUCTURE or self._left_alone.get(name, 0.0) > time.monotonic():
            return reply
        plainer = structure.plainer
        self._structures[name] = plainer or model.structured
        if plainer is None:  # it was something else, and will be at the next call
            self._left_alone[name] = time.monotonic() + STRUCTURES_AGAIN_S
            return reply
        return reply.model_copy(update={"label": STRUCTURE_REFUSED})
