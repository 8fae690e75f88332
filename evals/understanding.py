"""How well messages are understood, on rows whose meaning somebody has marked: by intent, by language, by question.

What counts is what the product does: `out_of_scope` is what would be handed off as not the bot's to deal with.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from domain.base import Noun
from domain.share import Share
from domain.understanding import Intent
from language.reporting import Report


class RowsInvalid(ValueError):
    """A row cannot be used; the message names its line and what is wrong."""


class Row(Noun):
    """One text and what is known of it; what is not given is not measured."""

    text: str
    lang: str = "und"
    intents: tuple[Intent, ...] = ()
    label: bool | None = None  # asks for a person
    out_of_scope: bool | None = None


class Measured(Noun):
    """Every count of one run."""

    rows: int
    intent: Share
    all_intents: Share
    by_class: dict[str, Share]
    precision: dict[str, Share]
    by_language: dict[str, Share]
    language: Share
    person_recall: Share
    person_false_alarms: Share
    person_recall_by_language: dict[str, Share]
    person_false_alarms_by_language: dict[str, Share]
    outside_handed_off: Share
    inside_handed_off: Share
    routes: dict[str, int]

    def figures(self) -> dict[str, Any]:
        """Return everything for a machine."""

        def plain(value: Any) -> Any:
            if isinstance(value, Share):
                return value.figures()
            return {name: plain(one) for name, one in value.items()} if isinstance(value, dict) else value

        return {name: plain(getattr(self, name)) for name in type(self).model_fields}


def rows_of(lines: Iterable[str]) -> Iterator[Row]:
    """Yield the rows of JSON lines with `text` and any of `intent`, `intents`, `label`, `lang`, `out_of_scope`.

    Other keys are left alone. Raises RowsInvalid.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            given: dict[str, Any] = dict(json.loads(line))
            row = {key: given[key] for key in Row.model_fields if key in given}
            if "intent" in given:
                row["intents"] = (given["intent"],)
            yield Row(**row)
        except ValidationError as fault:
            wrong = fault.errors(include_input=False, include_url=False)[0]
            raise RowsInvalid(f"line {number}: {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}") from None
        except (ValueError, TypeError, AttributeError) as fault:
            raise RowsInvalid(f"line {number}: not a JSON object with a text ({fault})") from None


def measure(rows: Sequence[Row], understand: Callable[[str], Report], progress: Callable[[], None]) -> Measured:
    """Return the counts over `rows`."""
    told = []
    for row in rows:
        told.append(understand(row.text))
        progress()
    pairs = list(zip(rows, told, strict=True))
    meant = [(row, said) for row, said in pairs if row.intents]
    asked = [(row, said) for row, said in pairs if _asks(row) is not None]
    tongues = sorted({row.lang for row in rows})
    outside = [(row, said, away) for row, said in pairs if (away := _outside(row)) is not None]
    return Measured(
        rows=len(rows),
        intent=_share(_named_first(row, said) for row, said in meant),
        all_intents=_share(set(row.intents) <= set(said.intents) for row, said in meant if len(row.intents) > 1),
        by_class={i.value: share for i in Intent if (share := _of_class(meant, i)).of},
        precision={i.value: share for i in Intent if (share := _precision(meant, i)).of},
        by_language={t: s for t in tongues if (s := _share(_named_first(r, d) for r, d in meant if r.lang == t)).of},
        language=_share(said.language == row.lang for row, said in pairs if row.lang != "und"),
        person_recall=_share(said.asks_for_person for row, said in asked if _asks(row)),
        person_false_alarms=_share(said.asks_for_person for row, said in asked if not _asks(row)),
        person_recall_by_language=_by_tongue(tongues, asked, asking=True),
        person_false_alarms_by_language=_by_tongue(tongues, asked, asking=False),
        outside_handed_off=_share(said.out_of_scope or said.asks_for_person for _, said, away in outside if away),
        inside_handed_off=_share(said.out_of_scope for _, said, away in outside if not away),
        routes=dict(Counter(said.route for said in told)),
    )


Pairs = Sequence[tuple[Row, Report]]


def _asks(row: Row) -> bool | None:
    if row.label is not None:
        return row.label
    return Intent.ASKS_FOR_PERSON in row.intents if row.intents else None


def _outside(row: Row) -> bool | None:
    """Whether a row is not the bot's to deal with; of a wish for a person that is not the question."""
    if row.out_of_scope is not None:
        return row.out_of_scope
    if not row.intents or Intent.ASKS_FOR_PERSON in row.intents:
        return None
    return Intent.OUT_OF_SCOPE in row.intents


def _named_first(row: Row, said: Report) -> bool:
    """Whether what the turn deals with first is one of those meant; a wish for a person counts wherever it stands."""
    if Intent.ASKS_FOR_PERSON in row.intents and said.asks_for_person:
        return True
    return said.intents[0] in row.intents


def _of_class(meant: Pairs, intent: Intent) -> Share:
    return _share(_named_first(row, said) for row, said in meant if row.intents[0] is intent)


def _precision(meant: Pairs, intent: Intent) -> Share:
    return _share(intent in row.intents for row, said in meant if said.intents[0] is intent)


def _by_tongue(tongues: Sequence[str], asked: Pairs, *, asking: bool) -> dict[str, Share]:
    of = {t: _share(d.asks_for_person for r, d in asked if r.lang == t and _asks(r) is asking) for t in tongues}
    return {tongue: share for tongue, share in of.items() if share.of}


def _share(flags: Iterable[bool]) -> Share:
    counted = list(flags)
    return Share(hits=sum(counted), of=len(counted))
