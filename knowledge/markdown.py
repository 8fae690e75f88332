"""One article as a Markdown file with a header, read and written.

Pure: text in, nouns out; what is wrong with a file is said with its line and with what would be right.
"""

import json
from dataclasses import dataclass
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from domain.knowledge import Article, ArticleKind
from knowledge.fields import FIELDS, NEEDED, READERS

BODY_CHARS_MAX = 50_000
_YAML = YAMLHandler()


class ArticleInvalid(Exception):
    """A file is no article. Its text says where, what is wrong, and what would be right."""

    def __init__(self, file: str, line: int, what: str) -> None:
        super().__init__(f"{file}, line {line}: {what}")


@dataclass(frozen=True)
class Source:
    """An article as its file has it: the tenant and the version that it names, each None where it names none."""

    file: str
    article: Article  # of version 1 where the file names none
    tenant: str | None
    version: int | None


def read_article(text: str, file: str) -> Source:
    """Return the article of one file. Raises ArticleInvalid."""
    header, body = _parted(text.removeprefix("\ufeff").replace("\r\n", "\n"), file)
    values, lines = _header(header, file)
    for field in NEEDED:
        if field not in values:
            raise ArticleInvalid(file, 1, f"the header has no {field}")
    read = {field: _field(file, lines[field], field, value) for field, value in values.items()}
    begins, ends = read.get("effective_from"), read.get("effective_until")
    if begins and ends and ends <= begins:
        raise ArticleInvalid(file, lines["effective_until"], "effective_until is not later than effective_from")
    if not body.strip():
        raise ArticleInvalid(file, header.count("\n") + 2, "there is no text below the header")
    if len(body) > BODY_CHARS_MAX:
        what = f"the text has {len(body)} characters; an article has at most {BODY_CHARS_MAX}"
        raise ArticleInvalid(file, header.count("\n") + 2, what)
    tenant, version = read.pop("tenant", None), read.pop("version", None)
    return Source(file, Article(**read, version=version or 1, body=body.strip()), tenant, version)


def _parted(text: str, file: str) -> tuple[str, str]:
    """The header, below as many lines as are above it in the file, and the body."""
    if not text.startswith("---") or not _YAML.detect(text):
        raise ArticleInvalid(file, 1, "it begins without a header: its first line has to be ---")
    try:
        header, body = _YAML.split(text)
    except ValueError:
        raise ArticleInvalid(file, 1, "its header does not end: a second line has to be ---") from None
    return "\n" * text.count("\n", 0, text.index(header)) + header, body


def _header(header: str, file: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The fields of the header as they are written, every value text, and the line of each."""
    try:
        node = yaml.compose(header, Loader=yaml.BaseLoader)
        values = _YAML.load(header, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark else 1
        what = f"the header is not YAML: {fault.problem or fault.context}; text with a colon in it goes into quotes"
        raise ArticleInvalid(file, line, what) from None
    except yaml.YAMLError as fault:
        raise ArticleInvalid(file, 1, f"the header is not YAML: {fault}") from None
    if not isinstance(node, yaml.MappingNode) or not isinstance(values, dict):
        raise ArticleInvalid(file, 1, f"the header has no fields; it needs {', '.join(NEEDED)}")
    lines: dict[str, int] = {}
    for name, _ in node.value:
        line = name.start_mark.line + 1
        if name.value not in FIELDS:
            what = f"there is no field {name.value!r}; the fields are {', '.join(FIELDS)}"
            raise ArticleInvalid(file, line, what)
        if name.value in lines:
            raise ArticleInvalid(file, line, f"{name.value} stands here a second time")
        lines[name.value] = line
    return values, lines


def _field(file: str, line: int, field: str, value: Any) -> Any:
    try:
        return READERS[field](value)
    except ValueError as wrong:
        raise ArticleInvalid(file, line, f"{field}: {wrong}") from None


def write_article(article: Article) -> str:
    """Return the article as the text of a file, which reads back as the same article."""
    fields = article.model_dump(mode="json", exclude={"body"}, exclude_none=True)
    if article.kind is ArticleKind.ARTICLE:
        del fields["kind"]
    header = [f"{name}: {json.dumps(fields[name], ensure_ascii=False)}" for name in FIELDS if fields.get(name)]
    return "\n".join(("---", *header, "---", article.body, ""))
