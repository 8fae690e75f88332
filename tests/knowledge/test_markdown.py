"""Laws of the files: what is written reads back, and what is wrong is said with its line and what would be right."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge import Article, ArticleKind, Audience
from knowledge.markdown import ArticleInvalid, read_article, write_article

LINE = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=60).filter(
    lambda s: s.strip() == s and s != ""
)
MOMENT = st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(
    title=LINE,
    body=LINE.filter(lambda s: not s.startswith("---")),
    audience=st.sampled_from([a.value for a in Audience]),
    kind=st.sampled_from(ArticleKind),
    versions=st.lists(st.from_regex(r"[0-9]{1,2}(\.[0-9]{1,2})?", fullmatch=True), max_size=3),
    begins=st.none() | MOMENT,
    reviewer=st.none() | LINE,
    version=st.integers(1, 1_000_000),
)
def test_an_article_reads_back_as_it_was_written(
    title: str,
    body: str,
    audience: str,
    kind: ArticleKind,
    versions: list[str],
    begins: datetime | None,
    reviewer: str | None,
    version: int,
) -> None:
    article = Article(
        slug="returns",
        version=version,
        language="de",
        title=title,
        body=body,
        audience=audience,
        kind=kind,
        product_versions=tuple(versions),
        effective_from=begins,
        reviewed_by=reviewer,
    )
    source = read_article(write_article(article), "f.md")
    assert (source.article, source.version) == (article, version)


GOOD = "---\nslug: returns\nlanguage: en\ntitle: Returns\n---\nWithin 30 days.\n"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("Within 30 days.", 1, "its first line has to be ---"),
        ("---\nslug: a\nWithin 30 days.", 1, "a second line has to be ---"),
        ("---\n---\nText", 1, "it needs slug, language, title"),
        (GOOD.replace("title: Returns\n", ""), 1, "the header has no title"),
        (GOOD.replace("title: Returns", "title: Returns: when"), 4, "goes into quotes"),
        (GOOD.replace("title: Returns", "titel: Returns"), 4, "no field 'titel'; the fields are slug"),
        (GOOD.replace("title: Returns", "slug: other"), 4, "a second time"),
        (GOOD.replace("---\nslug", "---\n\nslug").replace("language: en", "language: E"), 4, "'E' is not a language"),
        (GOOD.replace("slug: returns", "slug: My Returns"), 2, "'My Returns' is not a slug"),
        (GOOD.replace("language: en", "language: en-GB"), 3, "two or three small letters"),
        (GOOD.replace("title: Returns", "title: Returns\naudience: everyone"), 5, "none of public, signed_in, staff"),
        (GOOD.replace("title: Returns", "title: Returns\nversion: 1.5"), 5, "not a whole number from 1 on"),
        (GOOD.replace("title: Returns", "title: Returns\neffective_from: 2026-03-01T08:00"), 5, "has no zone"),
        (GOOD.replace("title: Returns", "title: Returns\neffective_from: soon"), 5, "such as 2026-03-01"),
        (
            GOOD.replace("title: Returns", "title: R\neffective_from: 2026-03-01\neffective_until: 2026-03-01"),
            6,
            "not later than effective_from",
        ),
        (GOOD.replace("Within 30 days.", " "), 6, "no text below the header"),
    ],
)
def test_a_broken_file_is_named_with_its_line_and_what_would_be_right(text: str, line: int, what: str) -> None:
    with pytest.raises(ArticleInvalid) as raised:
        read_article(text, "returns.md")
    assert str(raised.value).startswith(f"returns.md, line {line}: ")
    assert what in str(raised.value)


@given(st.text(max_size=200).map(lambda s: f"---\n{s}\n---\ntext"))
def test_no_header_whatever_is_more_than_refused(text: str) -> None:
    with suppress(ArticleInvalid):
        assert read_article(text, "f.md").file == "f.md"


def test_a_version_of_the_product_keeps_its_last_zero() -> None:
    text = GOOD.replace("title: Returns", "title: Returns\nproduct_versions: [2.10, 3]")
    assert read_article(text, "f.md").article.product_versions == ("2.10", "3")
