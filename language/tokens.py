"""A customer's text as the rules read it: quotations dropped, accents and case folded, ids and numbers set apart.

Pure string work; what is returned is never shown to anybody, only matched.
"""

import re
import unicodedata
from collections.abc import Sequence

TEXT_CHARS_MAX = 2_000  # of each end of one message; the rest is not read
TOKENS_MAX = 600  # of a turn, half from each end
TOKEN_CHARS_MAX = 40
LATIN = r"0-9A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"  # within brackets: what belongs to a word that it touches
ID_TOKEN, NUMBER_TOKEN = "xid", "xnum"  # what stands for an id and for a number

_QUOTE_HEADER = re.compile(
    r"^\s*(?:-{3,}.*|(?:on|am|el|le|em|il)\b.{4,120}"
    r"(?:wrote|schrieb|escribi[oó]|a [eé]crit|escreveu|ha scritto).{0,60}:\s*)$",
    re.IGNORECASE,
)
_INLINE_QUOTE = re.compile(r"[\"“„«]\s*([^\"“”„«»\n]{3,300}?)\s*[\"”“»]")
_CONTRACTION = re.compile(r"(?<=\w)'(t|s|m|d|ve|ll|re)\b")
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufe0f\U000e0000-\U000e007f]")
_TOKEN = re.compile(r"[^\W_]+|[.!?;\n]+|[,:()]|(?<=\s)[-–—]+(?=\s)|[👍👎🙏👋✅❌👌]")
_MARKS = {"👍": "ok", "👌": "ok", "✅": "ok", "👎": "no", "❌": "no", "🙏": "thanks", "👋": "hello"}
_QUOTED_WORDS_MIN = 4
_OWN_WORDS_MIN = 3


def fold(text: str) -> str:
    """Return `text` without case, accents and hidden characters, with plain apostrophes."""
    plain = _HIDDEN.sub("", text).replace("’", "'").replace("`", "'").replace("´", "'")
    decomposed = unicodedata.normalize("NFKD", plain.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def own_words(text: str) -> str:
    """Return the part of a message that its author wrote: without quoted mail and long quotations, unless it is all."""
    if len(text) > 2 * TEXT_CHARS_MAX:
        text = text[:TEXT_CHARS_MAX] + "\n" + text[-TEXT_CHARS_MAX:]
    kept: list[str] = []
    for line in text.splitlines():
        if _QUOTE_HEADER.match(line):
            break
        if not line.lstrip().startswith((">", "|")):
            kept.append(line)
    own = "\n".join(kept)
    spoken = _INLINE_QUOTE.sub(_drop_long, own)
    if len(spoken.split()) >= _OWN_WORDS_MIN:
        return spoken
    return own if own.strip() else text


def _drop_long(quotation: re.Match[str]) -> str:
    return " " if len(quotation[1].split()) >= _QUOTED_WORDS_MIN else quotation[0]


def set_apart(text: str, ids: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return `text` with a stand-in for every occurrence of `ids`, and the occurrences in order, as in `ids`."""
    if not ids:
        return text, ()
    spelled = {ident.casefold(): ident for ident in ids}
    either = "|".join(re.escape(ident) for ident in sorted(ids, key=len, reverse=True))
    seen: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        seen.append(spelled.get(match[0].casefold(), match[0]))
        return f" {ID_TOKEN} "

    return re.sub(rf"(?<![{LATIN}])(?:{either})(?![{LATIN}])", stand_in, text, flags=re.IGNORECASE), tuple(seen)


def tokens_of(text: str) -> list[str]:
    """Return folded tokens; sentence ends become `.`, other breaks `,`, numbers a stand-in."""
    found = _TOKEN.findall(_CONTRACTION.sub(r"\1", fold(text)))
    if len(found) > TOKENS_MAX:
        found = [*found[: TOKENS_MAX // 2], *found[-TOKENS_MAX // 2 :]]
    return [_token(t) for t in found]


def _token(raw: str) -> str:
    if raw in _MARKS:
        return _MARKS[raw]
    if raw[0] in ".!?;\n":
        return "."
    if raw[0] in ",:()-–—":
        return ","
    return NUMBER_TOKEN if raw.isdigit() else raw[:TOKEN_CHARS_MAX]
