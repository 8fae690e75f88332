"""Laws of the articles that a new installation starts with."""

from datetime import UTC, datetime

import pytest

from domain.knowledge import Article, Audience
from domain.reply import Draft, Segment, Source
from knowledge.markdown import read_article, write_article
from knowledge.seeds import FOLDER, seed_articles
from language.passages import split
from language.tongues import RULED
from policy.reply.checks import check


def named(article: Article) -> str:
    return f"{article.slug}-{article.language}"


def test_every_page_is_there_in_every_language_that_the_rules_read() -> None:
    slugs = {a.slug for a in seed_articles()}
    assert len(slugs) >= 18
    assert {(a.slug, a.language) for a in seed_articles()} == {(s, t) for s in slugs for t in RULED}
    assert {a.audience for a in seed_articles()} == {a.value for a in Audience}
    assert all(a.reviewed_by and a.effective_from for a in seed_articles())


def test_every_file_lies_where_an_export_would_put_it() -> None:
    files = {str(file.relative_to(FOLDER)) for file in FOLDER.rglob("*.md")}
    assert files == {f"{a.language}/{a.slug}.md" for a in seed_articles()}
    assert all(read_article(write_article(a), "f.md").article == a for a in seed_articles())


@pytest.mark.parametrize("article", [a for a in seed_articles() if a.audience != Audience.STAFF], ids=named)
def test_every_passage_may_be_quoted_by_itself(article: Article) -> None:
    passages = split(article.body)
    assert passages
    for passage in passages:
        quote = Segment(text=passage.text, source=Source.ARTICLE, rests_on=article.ref)
        checks = check(
            Draft(language=article.language, segments=(quote,)),
            evidence=None,
            articles=[article],
            actions=[],
            customer_id="cus_1",
            now=datetime.now(UTC),
        )
        assert checks.all_exactly_true, (checks.failed, passage.text)
