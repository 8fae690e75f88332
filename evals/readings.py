"""How well the models of a chain read what customers write: the figures that admit a route into models.toml.

Each model of the chain is measured by itself, over the same client, prompt and shape as in a turn; nothing is booked.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import date

from pydantic import ValidationError

from activities.model_fitting import Misfit, fitted
from activities.model_reading import PROMPT, task_of
from activities.prompts import prompt
from connectors.model_endpoints.book import ModelBook, RouteUse
from connectors.model_endpoints.endpoints import ModelEndpoints
from connectors.model_endpoints.schema import strict_schema
from domain.base import Noun
from domain.model import ModelOutcome, ModelRole, Route
from domain.model_reading import ModelReading
from domain.summary import Memory
from domain.understanding import Intent

AT_ONCE = 4
_HIGHER_IS_BETTER = frozenset({"answered", "intents", "person_recall"})


class Case(Noun):
    """One message and what it means: its first intent, or whether a person is asked for, or both."""

    text: str
    intent: Intent | None = None
    person: bool | None = None


class NoCases(ValueError):
    """A file of cases cannot be used; str() says which line and why."""


def cases_of(lines: Iterable[str], name: str) -> list[Case]:
    """Return the cases of JSON lines with `text` and `intent`, or `label` 1 or 0 for asking for a person.

    Raises NoCases.
    """
    found = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            label = row.get("label")
            case = Case(
                text=row["text"], intent=row.get("intent"), person=None if label is None else label in (1, True)
            )
        except (ValueError, KeyError, AttributeError, ValidationError):
            raise NoCases(f"{name}:{number}: is no case; write a JSON object with text and intent, or label") from None
        if case.intent is None and case.person is None:
            raise NoCases(f"{name}:{number}: says neither an intent nor a label, 1 or 0; give one of them")
        found.append(case)
    if not found:
        raise NoCases(f"{name}: holds no case")
    return found


class Read(Noun):
    """How one case was read: None where there was no answer of use."""

    case: Case
    reading: ModelReading | None
    seconds: float
    cost_micros: int


async def read_all(
    book: ModelBook,
    endpoints: ModelEndpoints,
    name: str,
    route: Route,
    cases: Sequence[Case],
    told: Callable[[int], None],
) -> list[Read]:
    """Return how the model `name` reads each case; `told` is called with 1 after each."""
    use = book.roles[ModelRole.UNDERSTAND][route]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(case: Case) -> Read:
        async with gate:
            read = await _read(book, endpoints, name, use, route, case)
        told(1)
        return read

    reads: list[Awaitable[Read]] = [one(case) for case in cases]
    return list(await asyncio.gather(*reads))


async def _read(book: ModelBook, endpoints: ModelEndpoints, name: str, use: RouteUse, route: Route, case: Case) -> Read:
    task = task_of(prompt(use.prompt_ref(PROMPT)), route, case.text, Memory())
    begun = time.monotonic()
    reply = await endpoints.ask(name, task, strict_schema(ModelReading), use.answer_tokens_max, use.call_timeout_s)
    reading = None
    if reply.outcome is ModelOutcome.OK:
        try:
            reading = fitted(reply.text, ModelReading, None)
        except Misfit:
            reading = None
    cost = book.models[name].cost_micros(reply.input_tokens, reply.output_tokens)
    return Read(case=case, reading=reading, seconds=time.monotonic() - begun, cost_micros=cost)


def figures_of(reads: Sequence[Read]) -> dict[str, float]:
    """Return the figures of one model; a case without an answer counts as read wrong."""
    wanted = [r for r in reads if r.case.intent is not None]
    asking = [r for r in reads if r.case.person is True]
    others = [r for r in reads if r.case.person is False]
    figures = {"answered": _share(reads, lambda r: r.reading is not None)}
    if wanted:
        figures["intents"] = _share(wanted, lambda r: r.reading is not None and r.reading.intents[0] is r.case.intent)
    if asking:
        figures["person_recall"] = _share(asking, _heard_person)
    if others:
        figures["person_false_alarms"] = _share(others, _heard_person)
    slowest = sorted(r.seconds for r in reads)[int(0.95 * (len(reads) - 1))]
    figures["p95_s"] = round(slowest, 2)
    figures["cost_micros_per_case"] = round(sum(r.cost_micros for r in reads) / len(reads), 1)
    return figures


def worst_of(figures: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return each figure as the worst model of the chain has it."""
    return {name: (min if name in _HIGHER_IS_BETTER else max)(one[name] for one in figures) for name in figures[0]}


def block_of(route: Route, use: RouteUse, figures: dict[str, float], measured: str, cases: int, at: date) -> str:
    """Return the evaluation as it stands in models.toml, in the place of `admitted`."""
    digests = ", ".join(f'"{ref}" = "{prompt(ref).digest}"' for ref in use.prompts)
    values = ", ".join(f"{name} = {value:g}" for name, value in figures.items())
    return "\n".join(
        (
            f"[roles.{ModelRole.UNDERSTAND}.{route}.evaluation]",
            f"at = {at.isoformat()}",
            f"measured = {json.dumps(measured, ensure_ascii=False)}",
            f"cases = {cases}",
            f"figures = {{ {values} }}",
            f"models = {json.dumps(list(use.chain))}",
            f"prompts = {{ {digests} }}",
        )
    )


def _heard_person(read: Read) -> bool:
    reading = read.reading
    return reading is not None and (reading.asks_for_person or Intent.ASKS_FOR_PERSON in reading.intents)


def _share(reads: Sequence[Read], holds: Callable[[Read], bool]) -> float:
    return round(sum(map(holds, reads)) / len(reads), 4)
