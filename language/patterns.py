"""A small language for phrases over tokens, compiled to regular expressions once.

`refund*` a stem, `~3` up to three tokens of the same sentence, `(a | b)` either, `x?` maybe, `!x` not followed by x,
`{name}` a named group of phrases, `^` the start of a sentence and `$` its end.
"""

import re
from collections.abc import Mapping, Sequence

from language.tokens import fold

_LEXEME = re.compile(r"~\d+|\{\w+\}|[()|^$!?]|[^\s()|{}^$!?]+")
_START = r"(?:(?<![^\n])|(?<=\. )|(?<=\. , ))"
_END = r"(?=\.|\Z)"
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue"}

Macros = Mapping[str, Sequence[str]]


class _Phrase:
    """One phrase being translated: its lexemes and how far they are read."""

    def __init__(self, phrase: str, macros: Macros) -> None:
        self.phrase, self.macros = phrase, macros
        self.lexemes: list[str] = _LEXEME.findall(phrase)
        self.at = 0

    def either(self) -> str:
        """Translate alternatives up to a closing bracket or the end."""
        branches = [self.row()]
        while self.at < len(self.lexemes) and self.lexemes[self.at] == "|":
            self.at += 1
            branches.append(self.row())
        return f"(?:{'|'.join(branches)})"

    def row(self) -> str:
        """Translate units in sequence."""
        units: list[str] = []
        while self.at < len(self.lexemes) and self.lexemes[self.at] not in "|)":
            units.append(self.unit())
        return "".join(units)

    def unit(self) -> str:
        """Translate one unit with the question mark after it."""
        lexeme = self.lexemes[self.at]
        self.at += 1
        match lexeme[0]:
            case "!":
                return f"(?!{self.unit()})"
            case "^":
                return _START
            case "$":
                return _END
            case "~":
                return rf"(?:[^\s.]+ ){{0,{int(lexeme[1:])}}}?"
            case "(":
                unit = self.either()
                if self.lexemes[self.at : self.at + 1] != [")"]:
                    raise ValueError(f"unclosed bracket in {self.phrase!r}")
                self.at += 1
            case "{":
                unit = either_of(self.macros[lexeme[1:-1]], self.macros)
            case _:
                unit = _word(lexeme)
        if self.lexemes[self.at : self.at + 1] == ["?"]:
            self.at += 1
            return f"(?:{unit})?"
        return unit


def either_of(phrases: Sequence[str], macros: Macros) -> str:
    """Return the expression that matches any of `phrases`, each token with the space behind it."""
    return f"(?:{'|'.join(_Phrase(p, macros).either() for p in phrases)})"


def compiled(phrases: Sequence[str], macros: Macros) -> re.Pattern[str]:
    """Return the expression that finds any of `phrases` at a token's start in a line of tokens."""
    return re.compile(rf"(?<!\S){either_of(phrases, macros)}")


def _word(lexeme: str) -> str:
    stem = lexeme.endswith("*")
    forms = {fold(lexeme.rstrip("*"))}
    if any(c in lexeme for c in _UMLAUTS):
        forms.add(fold("".join(_UMLAUTS.get(c, c) for c in lexeme.rstrip("*"))))
    body = "|".join(re.escape(form) for form in sorted(forms))
    return rf"(?:{body})\S* " if stem else rf"(?:{body}) "


def literals(phrases: Sequence[str]) -> set[tuple[str, bool]]:
    """Return the words of `phrases`, folded, each with whether it is a stem."""
    words = (lexeme for phrase in phrases for lexeme in _LEXEME.findall(phrase))
    return {(fold(w.rstrip("*")), w.endswith("*")) for w in words if w[0] not in "~{()|^$!?.,"}
