"""A message made fit to be read: hidden characters out, look-alike letters mended, what is no language set aside.

Pure string work for understanding alone; what was received stays as it is in the log, and is what suspicion looks at.
"""

import re
import unicodedata

PIECE_CHARS_MAX = 280  # what one vector can stand for
PIECES_MAX = 6  # of a turn, half from each end

_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
    "|[\u200c\u200d](?=[!-\u024f])"  # joiners mean something in Persian and Hindi, between Latin letters nothing
)
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[a-zA-Z]")
_LOOKS_LATIN = str.maketrans(
    "аеорсухіјѕһԁԛԝкмтвнАВЕКМНОРСТУХІЈЅαοεικνρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwkmtbhABEKMHOPCTYXIJSaoeikvptuxABEZHIKMNOPTYX",
)
_LONE_LETTER = re.compile(rf"(?<!\w)[{''.join(map(chr, _LOOKS_LATIN))}](?=[-‐‑–]?\d{{3}})")  # of an id: "А-51225"
_NO_LANGUAGE = re.compile(
    r"(?:https?://|www\.)\S+|[^\s@]{1,64}@[^\s@]+\.\S+|(?<![\w/+])[A-Za-z0-9+/]{40,}={0,2}(?![\w/+])|\b(?:[0-9a-fA-F]{2}){16,}\b"
)
_LONG_NUMBER = re.compile(r"(?<![\w-])\d{6,}(?![\w-])")
_REPEATED = re.compile(r"(.)\1{3,}", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?;。！？؟।\n])\s*")
_PIECE_WORDS_MIN = 2


def unmasked(text: str) -> str:
    """Return `text` without hidden characters, and with the letters of words and ids of mixed scripts as they look."""
    plain = _WORD.sub(_as_it_looks, _HIDDEN.sub("", text))
    return _LONE_LETTER.sub(lambda letter: letter[0].translate(_LOOKS_LATIN), plain)


def cleaned(text: str) -> str:
    """Return `text` in one form for its vector: no hidden marks, links, blobs, long numbers or drawn-out letters."""
    plain = unicodedata.normalize("NFKC", unmasked(text))
    plain = _LONG_NUMBER.sub("12345", _NO_LANGUAGE.sub(" ", plain))
    return " ".join(_REPEATED.sub(r"\1\1\1", plain).split())


def pieces_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a cleaned text, long ones cut, at most `PIECES_MAX`, half of them from each end."""
    pieces: list[str] = []
    for sentence in _SENTENCE.split(text):
        while len(sentence) > PIECE_CHARS_MAX:
            cut = sentence.rfind(" ", 1, PIECE_CHARS_MAX)
            at = cut if cut > 0 else PIECE_CHARS_MAX
            pieces.append(sentence[:at])
            sentence = sentence[at:].lstrip()
        pieces.append(sentence)
    pieces = [piece.strip() for piece in pieces if any(c.isalpha() for c in piece)]
    if len(pieces) > PIECES_MAX:
        pieces = [*pieces[: PIECES_MAX // 2], *pieces[-PIECES_MAX // 2 :]]
    return tuple(pieces)


def _as_it_looks(word: re.Match[str]) -> str:
    """A word that mixes Latin letters with those of another script that look like them, all Latin."""
    letters = word[0]
    if letters.isascii() or not _LATIN.search(letters):
        return letters
    mended = letters.translate(_LOOKS_LATIN)
    return mended if all(unicodedata.name(c, "LATIN").startswith("LATIN") for c in mended) else letters
