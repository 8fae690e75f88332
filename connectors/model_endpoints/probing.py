"""Asks every model of a book one tiny question, and says in plain words what is wrong where something is.

For an operator at a terminal: nothing is booked, and no answer is shown.
"""

import asyncio
from collections.abc import Sequence
from enum import StrEnum

from connectors.model_endpoints.answers import Reply, object_in
from connectors.model_endpoints.book import ModelBook
from connectors.model_endpoints.endpoints import STRUCTURE_REFUSED, ModelEndpoints
from connectors.model_endpoints.schema import strict_schema
from domain.base import Noun
from domain.model import ModelOutcome, ModelRole, Route
from domain.model_task import ModelMessage, ModelTask

WITHIN_S = 15.0
_LOWERED_MAX = 2  # times that less structure is asked for
_TOKENS_MAX = 500  # a model that reasons first needs some


class Verdict(StrEnum):
    """How a model answered."""

    ANSWERS = "answers"
    LESS_STRUCTURE = "less_structure"
    NO_STRUCTURE_KEPT = "no_structure_kept"
    WRONG_KEY = "wrong_key"
    UNKNOWN_MODEL = "unknown_model"
    UNREACHABLE = "unreachable"
    TOO_SLOW = "too_slow"
    RATE_LIMITED = "rate_limited"
    BROKEN = "broken"

    @property
    def fine(self) -> bool:
        """Whether the model can be asked as the book says."""
        return self is Verdict.ANSWERS


class Probed(Noun):
    """One model, and how it answered. `told` is a sentence for people."""

    model: str
    endpoint: str
    verdict: Verdict
    told: str


class _Tiny(Noun):
    ok: bool


_TASK = ModelTask(
    role=ModelRole.UNDERSTAND,
    route=Route.SMALL,
    prompt="probe@1",
    instructions="Answer with a JSON object whose only field `ok` is true.",
    messages=(ModelMessage(text="Are you there?"),),
)


async def probe(book: ModelBook, endpoints: ModelEndpoints) -> Sequence[Probed]:
    """Return how every model that a chain names answers, in the order of the book."""
    used = {name for by in book.roles.values() for use in by.values() for name in use.chain}
    return await asyncio.gather(*(_probed(name, book, endpoints) for name in book.models if name in used))


async def _probed(name: str, book: ModelBook, endpoints: ModelEndpoints) -> Probed:
    lowered, reply = False, await _asked(name, endpoints)
    for _ in range(_LOWERED_MAX):
        if reply.label == STRUCTURE_REFUSED:
            lowered, reply = True, await _asked(name, endpoints)
    verdict, endpoint = _verdict(reply, lowered=lowered), book.models[name].endpoint
    return Probed(model=name, endpoint=endpoint, verdict=verdict, told=_told(verdict, name, book, reply))


async def _asked(name: str, endpoints: ModelEndpoints) -> Reply:
    return await endpoints.ask(name, _TASK, strict_schema(_Tiny), _TOKENS_MAX, WITHIN_S)


def _verdict(reply: Reply, *, lowered: bool) -> Verdict:
    match reply.outcome, reply.label:
        case ModelOutcome.OK, _:
            kept = object_in(reply.text) == {"ok": True}
            return Verdict.NO_STRUCTURE_KEPT if not kept else Verdict.LESS_STRUCTURE if lowered else Verdict.ANSWERS
        case _, "http_401" | "http_403":
            return Verdict.WRONG_KEY
        case _, "http_404":
            return Verdict.UNKNOWN_MODEL
        case ModelOutcome.UNREACHABLE, _:
            return Verdict.UNREACHABLE
        case ModelOutcome.TIMEOUT, _:
            return Verdict.TOO_SLOW
        case ModelOutcome.RATE_LIMITED, _:
            return Verdict.RATE_LIMITED
        case _:
            return Verdict.BROKEN


def _told(verdict: Verdict, name: str, book: ModelBook, reply: Reply) -> str:
    model = book.models[name]
    match verdict:
        case Verdict.ANSWERS:
            return f"answers, in the structure {model.structured}"
        case Verdict.LESS_STRUCTURE:
            return f"answers, but refuses structured = {model.structured.value!r}; write the next plainer one"
        case Verdict.NO_STRUCTURE_KEPT:
            return "answers, but not in the structure asked for; another model is needed"
        case Verdict.WRONG_KEY:
            return f"the endpoint {model.endpoint!r} refuses the key ({reply.label}); check which key it is given"
        case Verdict.UNKNOWN_MODEL:
            return f"nothing is called {model.model!r} at the endpoint {model.endpoint!r}; check the name and base_url"
        case Verdict.UNREACHABLE:
            return f"the endpoint {model.endpoint!r} cannot be reached ({reply.label}); check base_url and the network"
        case Verdict.TOO_SLOW:
            return f"no answer within {WITHIN_S:g} s"
        case Verdict.RATE_LIMITED:
            return "the endpoint answers 429: too many calls, or the quota of the key is used up"
        case Verdict.BROKEN:
            return f"answers nothing of use ({reply.outcome.value}: {reply.label})"
