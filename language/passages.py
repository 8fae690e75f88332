"""A Markdown page as passages that can be quoted word for word: a paragraph or a list each, under its headings.

Pure; whatever is cut off a page stands in it, spacing aside.
"""

import re
from collections.abc import Iterator

from domain.base import Noun

PASSAGE_CHARS_MAX = 700
# A mark alone is a heading without a title, as in CommonMark.
_HEADING = re.compile(r"(#{1,6})(?:\s+(.*?))??(?:\s+#*)?\s*$")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n")


class Section(Noun):
    """A passage and the headings that it stands under, outermost first."""

    headings: tuple[str, ...]
    text: str


def split(body: str) -> tuple[Section, ...]:
    """Return the passages of a Markdown body in order; none for a body without text.

    A paragraph that ends in a colon goes with what follows it. One longer than PASSAGE_CHARS_MAX is cut between
    sentences, where it has more than one.
    """
    found: list[Section] = []
    opening, under = "", 0  # a paragraph that announces the next one, and the heading that it stands under
    for headings, number, block in _blocks(body):
        if found and opening and under == number:
            found[-1] = Section(headings=headings, text=f"{found[-1].text}\n{block}")
        else:
            found += [Section(headings=headings, text=part) for part in _cut(block)]
        opening, under = block if block.endswith((":", "：")) else "", number
    return tuple(found)


def sentences(body: str) -> tuple[str, ...]:
    """Return the sentences of a Markdown body, and the items of its lists, in order; headings are none."""
    parts = (part.strip() for passage in split(body) for part in _SENTENCE_END.split(passage.text))
    return tuple(part for part in parts if part)


def _blocks(body: str) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Each paragraph or list, with its headings and how many headings stand before it."""
    path: list[tuple[int, str]] = []
    number = 0
    for block in re.split(r"\n[ \t]*\n", body.replace("\r\n", "\n")):
        kept: list[str] = []
        for line in block.splitlines():
            heading = _HEADING.match(line)
            if heading is None:
                kept.append(line.rstrip())
                continue
            if text := _joined(kept):
                yield tuple(title for _, title in path), number, text
            kept, depth = [], len(heading[1])
            number += 1
            path = [(d, title) for d, title in path if d < depth]
            path += [(depth, heading[2])] if heading[2] else []
        if text := _joined(kept):
            yield tuple(title for _, title in path), number, text


def _joined(lines: list[str]) -> str:
    """The lines of a block as one text: those of a list stay apart."""
    apart = any(_LIST_ITEM.match(line) for line in lines)
    return ("\n" if apart else " ").join(line.strip() for line in lines if line.strip())


def _cut(text: str) -> list[str]:
    """The text in pieces that are not too long, cut between sentences alone."""
    if len(text) <= PASSAGE_CHARS_MAX:
        return [text]
    pieces, begin, end = [], 0, 0
    for stop in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
        if stop - begin > PASSAGE_CHARS_MAX and end > begin:
            pieces.append(text[begin:end].strip())
            begin = end
        end = stop
    return [*pieces, text[begin:].strip()]
