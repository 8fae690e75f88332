"""`python -m evals.knowledge [--json FILE]`: how often a search finds the right page, and answers what it should not.

Over questions of our own in `evals/data/knowledge.jsonl`, some of which no page answers; on a database of its own with
the articles that a new installation has. The thresholds were chosen on the part `tune`; `held` was only measured.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from activities.library import Library
from bench.scratch import scratch_database
from domain.knowledge import Audience, Passage
from domain.share import Share
from knowledge.indexing import index_missing
from language.embedding import Embedder, embedder
from seeding.tenants import provision
from store.database import Database

QUESTIONS = Path(__file__).parent / "data" / "knowledge.jsonl"
TENANT = "eval"


@dataclass(frozen=True)
class Question:
    """What somebody asks, and the page that answers it; None where none does."""

    text: str
    language: str
    slug: str | None
    part: str


@dataclass(frozen=True)
class Answered:
    """What a search has found for a question, likeliest first."""

    question: Question
    found: tuple[Passage, ...]

    @property
    def slugs(self) -> list[str]:
        """The pages in their order."""
        return [p.article.slug for p in self.found]

    @property
    def certain(self) -> str | None:
        """The page that the bot would answer from by itself."""
        return self.slugs[0] if self.found and self.found[0].certain else None


def main() -> int:
    """Measure with embeddings, where there are any, and without; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.knowledge", description="Measure the search of articles.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table to FILE")
    asked = parser.parse_args()
    questions = [Question(**json.loads(line)) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    rows: dict[str, dict[str, str]] = {}
    for name, model in {"words and meaning": embedder(), "words alone": None}.items():
        if name == "words alone" or model is not None:
            rows |= _rows(name, asyncio.run(_answers(questions, model)))
    _show(rows)
    if asked.json is not None:
        asked.json.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    return 0


async def _answers(questions: Sequence[Question], model: Embedder | None) -> list[Answered]:
    with scratch_database() as urls:
        owner, db = Database(urls.owner, 1), Database(urls.app, 2)
        try:
            await provision(owner, {"tenants": [{"id": TENANT, "kind": "marketplace"}]})
            await index_missing(owner, [TENANT], model)
            library, now = Library(db, model), datetime.now(UTC)
            return [
                Answered(q, await library.find(TENANT, q.text, q.language, Audience.SIGNED_IN, now)) for q in questions
            ]
        finally:
            await owner.close()
            await db.close()


def _rows(name: str, answers: Sequence[Answered]) -> dict[str, dict[str, str]]:
    parts = {f"{name}, {part}": [a for a in answers if a.question.part == part] for part in ("tune", "held")}
    languages = sorted({a.question.language for a in answers})
    parts |= {f"{name}, {one}": [a for a in answers if a.question.language == one] for one in languages}
    return {part: _row(some) for part, some in parts.items()}


def _row(answers: Sequence[Answered]) -> dict[str, str]:
    known = [a for a in answers if a.question.slug is not None]
    unknown = [a for a in answers if a.question.slug is None]
    sure = [a for a in known if a.certain is not None]
    return {
        "right page first": Share(hits=sum(a.slugs[:1] == [a.question.slug] for a in known), of=len(known)).told(),
        "among three": Share(hits=sum(a.question.slug in a.slugs[:3] for a in known), of=len(known)).told(),
        "answered rightly": Share(hits=sum(a.certain == a.question.slug for a in sure), of=len(known)).told(),
        "answered wrongly": Share(hits=sum(a.certain != a.question.slug for a in sure), of=len(known)).told(),
        "answered what no page answers": Share(
            hits=sum(a.certain is not None for a in unknown), of=len(unknown)
        ).told(),
    }


def _show(rows: dict[str, dict[str, str]]) -> None:
    table = Table("", *next(iter(rows.values())))
    for part, row in rows.items():
        table.add_row(part, *row.values())
    Console(width=200).print(table)


if __name__ == "__main__":
    sys.exit(main())
