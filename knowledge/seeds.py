"""The articles that a new installation starts with: Markdown like everybody's, in the languages of the bot.

They agree with the base policy and with the demo shop; a tenant replaces them by its own.
"""

from functools import cache
from pathlib import Path

from domain.knowledge import Article
from knowledge.markdown import read_article

FOLDER = Path(__file__).parent / "articles"


@cache
def seed_articles() -> tuple[Article, ...]:
    """Return the articles of a new installation, version one of each."""
    files = sorted(FOLDER.glob("*/*.md"))
    return tuple(read_article(file.read_text(encoding="utf-8"), file.name).article for file in files)
