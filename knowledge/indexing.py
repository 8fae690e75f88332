"""Makes what is kept of an article: its passages, the words that they are found by, and their embeddings.

Pure but for the model of the embeddings, which runs in this process.
"""

from collections.abc import Sequence

from domain.knowledge import Article
from language.embedding import Embedder
from language.passages import Section, split
from language.searchable import searchable
from store.articles import NewArticle, NewPassage, articles_to_index, index_article
from store.database import Database


def indexed(article: Article, embedder: Embedder | None) -> NewArticle:
    """Return the article with its passages; these have embeddings where there is a model that makes them."""
    sections = split(article.body)
    vectors = _vectors([embeddable(article, section) for section in sections], embedder)
    return NewArticle(
        article=article,
        passages=tuple(
            NewPassage(
                position=n,
                text=section.text,
                title_words=searchable(" ".join((article.title, *section.headings))),
                words=searchable(section.text),
                embedding=vector,
                embedder=embedder.name if embedder and vector else None,
            )
            for n, (section, vector) in enumerate(zip(sections, vectors, strict=True))
        ),
    )


def embeddable(article: Article, section: Section) -> str:
    """Return the text that stands for a passage: under its titles, since "It takes 5 days" alone means little."""
    return "\n".join((article.title, *section.headings, section.text))


def _vectors(texts: Sequence[str], embedder: Embedder | None) -> list[tuple[float, ...] | None]:
    if embedder is None:
        return [None] * len(texts)
    return [tuple(row.tolist()) for row in embedder.embed_passages(texts)]


async def index_missing(owner: Database, tenants: Sequence[str], embedder: Embedder | None) -> int:
    """Give passages to the articles that have none, and embeddings by `embedder` to those without; return how many."""
    made: dict[Article, NewArticle] = {}  # the same articles are seeded for several tenants
    count = 0
    for tenant_id in tenants:
        for article in await articles_to_index(owner, tenant_id, embedder.name if embedder else None):
            if article not in made:
                made[article] = indexed(article, embedder)
            await index_article(owner, tenant_id, made[article])
            count += 1
    return count
