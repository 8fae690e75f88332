"""Aliases: nothing but what was handed out can be cited, and a segment cites as its kind has to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge import Article
from domain.model_draft import ModelDraft, ModelSegment, Read, Wish
from domain.reply import Author, SegmentKind, Source
from policy.reply.citing import Citable, draft_of, objection
from policy.reply.plain import shown
from policy.reply.tool_use import ToolUse
from tests.policy import worlds as w

ARTICLES = tuple(Article(slug=s, version=1, language="en", title=s, body=s) for s in ("returns", "refunds"))
GIVEN = Citable(evidence=w.evidence(w.account(w.order())), articles=ARTICLES, actions=(w.action(),))
READY = ToolUse(allowed=frozenset(Read))
T, Q, S = SegmentKind.TEXT, SegmentKind.QUESTION, SegmentKind.ACTION_STATUS


def one(kind: SegmentKind, text: str, *cites: str) -> ModelDraft:
    return ModelDraft(segments=(ModelSegment(kind=kind, text=text, cites=cites),))


@pytest.mark.parametrize(
    ("draft", "fits"),
    [
        (one(T, "x", "e1"), True),
        (one(T, "x", "k2"), True),
        (one(T, "x"), False),
        (one(T, "x", "a1"), False),
        (one(T, "x", "e1", "k1"), False),
        (one(T, " ", "e1"), False),
        (one(T, "x", "k3"), False),
        (one(Q, "x?"), True),
        (one(Q, "x?", "e1"), True),
        (one(Q, "x?", "k1"), False),
        (one(S, "", "a1"), True),
        (one(S, "Done.", "a1"), False),
        (one(S, "", "e1"), False),
        (one(S, "", "a2"), False),
        (ModelDraft(), False),
    ],
)
def test_each_kind_cites_as_it_has_to(draft: ModelDraft, fits: bool) -> None:
    assert (objection(draft, GIVEN, READY) is None) is fits


def test_reads_are_fine_until_they_are_over() -> None:
    wish = Wish(read=Read.READ_ORDER, about="A-1")
    draft = ModelDraft(reads=(wish,))
    assert objection(draft, GIVEN, READY) is None
    assert objection(draft, GIVEN, READY.after(wish).after(wish)) is not None
    assert objection(draft, GIVEN, ToolUse(allowed=frozenset())) is not None


@given(st.text(max_size=6))
def test_an_alias_that_was_not_handed_out_stands_for_nothing(alias: str) -> None:
    assert (GIVEN.resolve(alias) is not None) is (alias in {"e1", "k1", "k2", "a1"})


def test_a_visitor_has_no_evidence_to_cite() -> None:
    assert Citable(articles=ARTICLES).resolve("e1") is None


def test_a_draft_of_a_model_says_so_and_rests_on_what_it_cites() -> None:
    every = ModelDraft(segments=(*one(T, " x ", "k2").segments, *one(S, " ", "a1").segments, *one(Q, "x?").segments))
    made = draft_of(every, GIVEN, "de", "draft_action@1")
    assert (made.author, made.language) == (Author.MODEL, "de")
    assert [(s.text, s.source, s.rests_on) for s in made.segments] == [
        ("x", Source.ARTICLE, "refunds@1"),
        ("", Source.LEDGER, w.action().operation_id),
        ("x?", Source.TEMPLATE, "draft_action@1"),
    ]
    assert [s for s in made.segments if s.is_beside] == []


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("12\u202e.50\u2069 EUR\x00", "12.50 EUR"),
        ("\x1b[31mred\x7f", "[31mred"),
        ("a\u200b\U000e0041\ufffe\ue000b", "ab"),
        ("one\r\ntwo\tthree", "one\ntwo three"),
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"),
        ("re\u200cfund \u200cمی", "refund می"),
        ("ㅤ\u2800\ufe01x", "x"),
    ],
)
def test_a_draft_holds_only_what_can_be_seen(written: str, seen: str) -> None:
    (segment,) = draft_of(one(T, written, "k1"), GIVEN, "en", "p@1").segments
    assert segment.text == seen


def test_words_that_nobody_sees_are_none() -> None:
    assert objection(one(T, "\u200b\x00", "k1"), GIVEN, READY) is not None


@given(st.text())
def test_what_can_be_seen_stays(text: str) -> None:
    for language in ("en", "ar"):
        seen = shown(text, language)
        assert shown(seen, language) == seen
        assert not set(seen) - set(text) - {"\n", " "}


@pytest.mark.parametrize(
    ("text", "segments", "fits"),
    [
        ("x" * 1_200, 2, True),
        ("x" * 1_200, 3, False),
        ("я" * 1_000, 1, True),  # two bytes each
        ("я" * 1_000, 2, False),
        ("退款" * 400, 1, True),
        ("a-" * 290, 1, True),
        ("a-" * 310, 1, False),
        ("One more word. " * 10, 10, True),
    ],
)
def test_a_draft_is_no_longer_than_can_be_read_sentence_by_sentence(text: str, segments: int, fits: bool) -> None:
    segment = ModelSegment(kind=T, text=text, cites=("k1",))
    assert (objection(ModelDraft(segments=(segment,) * segments), GIVEN, READY) is None) is fits
