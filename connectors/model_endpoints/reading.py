"""Reads models.toml and says what is wrong with it: file, table, key, and what would be right.

A role and route loads only with an evaluation of exactly its models and prompts, or marked as unevaluated.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from connectors.model_endpoints.book import (
    CURRENCY,
    NAME,
    NEEDED_PROMPTS,
    UNEVALUATED,
    URL,
    Evaluation,
    ModelBook,
    RouteUse,
)
from domain.model import ModelRole

PACKAGED = "models.toml"
_IN_WORDS = {
    CURRENCY: "three capital letters, such as USD",
    NAME: "a name of lower-case letters, digits, dots, dashes and underscores",
    URL: "an http:// or https:// URL",
}


class ModelsInvalid(ValueError):
    """A models.toml cannot be used; str() has lines `FILE: [TABLE] KEY: what is wrong; what would be right`."""

    def __init__(self, file: str, complaints: Iterable[str]) -> None:
        self.complaints = tuple(complaints)
        super().__init__("\n".join(f"{file}: {complaint}" for complaint in self.complaints))


def read_models(path: Path | None, prompts: Mapping[str, str]) -> ModelBook:
    """Return the book in the file at `path`, or in the packaged one. Raises ModelsInvalid.

    `prompts` holds the digest of each prompt that there is, by its `name@version`.
    """
    if path is None:
        return book_of(files("connectors.model_endpoints").joinpath(PACKAGED).read_text("utf-8"), PACKAGED, prompts)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8 text"
        raise ModelsInvalid(str(path), [f"cannot be read: {why}; name a models.toml, or none for ours"]) from None
    return book_of(text, str(path), prompts)


def book_of(text: str, file: str, prompts: Mapping[str, str]) -> ModelBook:
    """Return the book that `text` holds. Raises ModelsInvalid, naming `file`."""
    try:
        raw = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as fault:
        raise ModelsInvalid(file, [f"is no TOML: {fault}; see docs/models.md for what it holds"]) from None
    try:
        book = ModelBook.model_validate(raw)
    except ValidationError as fault:
        raise ModelsInvalid(file, _misshapen(fault)) from None
    complaints = list(_contradictions(book, prompts))
    if complaints:
        raise ModelsInvalid(file, complaints)
    return book


def _misshapen(fault: ValidationError) -> Iterator[str]:
    for error in fault.errors(include_input=False, include_url=False, include_context=True):
        path = [str(part) for part in error["loc"] if part != "[key]"]
        place = _place(path)
        match error["type"]:
            case "missing":
                yield f"{place}: is missing; it has to be set"
            case "extra_forbidden":
                yield f"{place}: there is no such key; {_known_keys(path)}"
            case _:
                yield f"{place}: {_told(error)}"


def _place(path: list[str]) -> str:
    return f"[{'.'.join(path[:-1])}] {path[-1]}" if len(path) > 1 else path[0]


def _told(error: Any) -> str:
    said = error["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    pattern = error.get("ctx", {}).get("pattern")
    return f"is wrong; it should be {_IN_WORDS.get(pattern, said)}"


def _known_keys(path: list[str]) -> str:
    """What could have been written where an unknown key stands, by walking the nouns of the book."""
    here: Any = ModelBook
    for part in path[:-1]:
        field = here.model_fields.get(part) if isinstance(here, type) and issubclass(here, BaseModel) else None
        here = field.annotation if field is not None else here
        while getattr(here, "__args__", None) and not (isinstance(here, type) and issubclass(here, BaseModel)):
            here = next((a for a in reversed(here.__args__) if a is not type(None)), None)
    known = getattr(here, "model_fields", {})
    return f"there are {', '.join(sorted(known))}" if known else "leave it out"


def _contradictions(book: ModelBook, prompts: Mapping[str, str]) -> Iterator[str]:
    for name, endpoint in book.endpoints.items():
        if endpoint.api_key_env and endpoint.api_key_file:
            yield f"[endpoints.{name}] api_key_env: api_key_file is set too; name the key in one of them"
    for name, model in book.models.items():
        if model.endpoint not in book.endpoints:
            yield f"[models.{name}] endpoint: no endpoint is called {model.endpoint!r}; {_there_are(book.endpoints)}"
        if model.output_tokens_max >= model.context_tokens_max:
            yield f"[models.{name}] output_tokens_max: leaves no room; it must be less than context_tokens_max"
    for role, by_route in book.roles.items():
        for route, use in by_route.items():
            table = f"[roles.{role}.{route}]"
            if not route.is_model:
                yield f"{table}: {route} asks no model; the routes of a role are small and large"
            yield from (f"{table} {complaint}" for complaint in _of_use(role, use, book, prompts))


def _of_use(role: ModelRole, use: RouteUse, book: ModelBook, prompts: Mapping[str, str]) -> Iterator[str]:
    for name in use.chain:
        if name not in book.models:
            yield f"chain: no model is called {name!r}; {_there_are(book.models)}"
    if len(set(use.chain)) < len(use.chain):
        yield "chain: a model stands in it twice; each may stand there once"
    for ref in use.prompts:
        if ref not in prompts:
            yield f"prompts: there is no prompt {ref!r}; {_there_are(prompts)}"
    named = {ref.partition("@")[0] for ref in use.prompts}
    for name in NEEDED_PROMPTS[role]:
        if name not in named:
            known = (ref for ref in prompts if ref.partition("@")[0] == name)
            yield f"prompts: {role} asks with {name} too, and none is named; {_there_are(known)}"
    if len(named) < len(use.prompts):
        yield "prompts: one of them stands there in two versions; name one version of each"
    yield from _of_admission(use, prompts)


def _of_admission(use: RouteUse, prompts: Mapping[str, str]) -> Iterator[str]:
    if (use.evaluation is None) == (use.admitted is None):
        which = "both are" if use.evaluation else "neither is"
        yield (
            f"evaluation: of `evaluation` and `admitted`, {which} set; give the evaluation that admitted this chain "
            f'with these prompts, or write admitted = "{UNEVALUATED}", which is warned about at each start'
        )
    if use.evaluation is not None:
        yield from _of_evaluation(use, use.evaluation, prompts)


def _of_evaluation(use: RouteUse, evaluation: Evaluation, prompts: Mapping[str, str]) -> Iterator[str]:
    if set(evaluation.models) != set(use.chain):
        yield f"evaluation.models: is not the chain; what was measured must be {', '.join(use.chain)}, each of them"
    for ref in use.prompts:
        told = evaluation.prompts.get(ref)
        if ref in prompts and told != prompts[ref]:
            what = "was not evaluated" if told is None else "has changed since it was evaluated"
            yield f"evaluation.prompts: {ref} {what}; evaluate it again, its digest is {prompts[ref]}"


def _there_are(names: Iterable[str]) -> str:
    return f"there are {', '.join(sorted(names)) or 'none'}"
