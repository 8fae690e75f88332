"""Writes a tenant's articles as Markdown files, which import again as what they were.

The newest version of each page, or all of them; nothing that is there already is written over.
"""

from collections.abc import Sequence
from pathlib import Path

from domain.knowledge import Article
from knowledge.markdown import write_article


def newest(articles: Sequence[Article]) -> tuple[Article, ...]:
    """Return the newest version of each page in each language, whether it counts yet or not."""
    found: dict[tuple[str, str], Article] = {}
    for article in sorted(articles, key=lambda a: a.version):
        found[article.slug, article.language] = article
    return tuple(found[key] for key in sorted(found))


def export_articles(articles: Sequence[Article], folder: Path) -> tuple[Path, ...]:
    """Write LANGUAGE/SLUG.md, with `@VERSION` where there are several; return the files.

    Raises FileExistsError, before anything is written, where one is there, and OSError where one cannot be written.
    """
    pages = [(a.slug, a.language) for a in articles]
    files = [
        folder / a.language / f"{a.slug}{f'@{a.version}' if pages.count((a.slug, a.language)) > 1 else ''}.md"
        for a in articles
    ]
    for file in files:
        if file.exists():
            raise FileExistsError(f"{file} is there already; export into an empty folder")
    for article, file in zip(articles, files, strict=True):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(write_article(article), encoding="utf-8")
    return tuple(files)
