"""The id-like tokens of a text, as its author wrote them: candidates to match against evidence, nothing more.

Amounts, dates, times, telephone and card numbers, addresses and links are not ids; when in doubt a token is left out.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from language.tokens import LATIN

MENTIONS_MAX = 20
_LETTERS_FOR_ONE_DIGIT = 4
_ANY_ID = "A-20417"  # as in the examples that the heads are trained on

_ELSE = re.compile(
    r"""
      (?<!\S)\S{1,64}@\S+                                                   # e-mail addresses
    | (?:https?://|www\.)\S+                                         # links
    | \+\d[\d\s()/.-]{6,20}\d                                         # telephone numbers
    | \b(?:phone|tel|telephone|mobile|cell|telefon\w*|handy|tel[eé]fono|t[eé]l[eé]phone|telefone|celular|cellulare)
        \W{0,3}(?:is|ist|es|est|[eéè]|number|nummer)?\W{0,3}\d[\d\s()/.-]{5,20}\d
    | \b(?:\d{4}[ -]){3}\d{1,4}\b                                    # card numbers in groups
    | \b\d{1,4}([/.-])\d{1,2}\1\d{1,4}\b                             # dates
    | \b\d{1,2}(?::\d{2}){1,2}(?:\s?[ap]m)?\b                        # times
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MONEY = re.compile(
    r"""
      [€$£¥₹]\s?\d[\d.,'\s]{0,20}\d | [€$£¥₹]\s?\d                        # amounts, sign first
    | \b(?:EUR|USD|GBP|CHF|JPY|BRL|US\$|R\$)\s?\d[\d.,']*
    | (?<!\d)\d[\d.,']{0,20}\s?(?:€|\$|£|¥
        |(?:eur|usd|gbp|chf|jpy|brl|euros?|dollars?|d[oó]lares|reais|pounds?|yen|francs?|franken)\b)
    | \b\d+(?:[.,]\d+)+\b                                            # decimals
    | \b\d+\s?%
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NAMED = (
    r"(?:order|ord|purchase|parcel|package|shipment|subscription|sub|payment|invoice|charge|transaction|tracking"
    r"|pedido|orden|compra|suscripci[oó]n|pago|bestellung|bestellnummer|auftrag|auftragsnummer|abo|abonnement|zahlung"
    r"|rechnung|sendung|sendungsnummer|commande|colis|paiement|facture|encomenda|assinatura|pagamento|fatura"
    r"|ordine|acquisto|abbonamento|fattura|id|ref|reference|referencia|referenz)"
)
_NUMBER_WORD = (
    r"(?:\s*(?:number|num|no|nr|n[uú]mero|nummer|num[eé]ro|numero|code|id|is|ist|es|est|n[º°o])?[\s.:#º°]*){1,3}"
)
_BODY = r"[A-Za-z0-9]+(?:[-_‐‑–][A-Za-z0-9]+)*"
_AFTER_NAME = re.compile(rf"\b{_NAMED}{_NUMBER_WORD}((?:[A-Za-z]{{1,3}}\s(?=\d{{3}}))?{_BODY})", re.IGNORECASE)
# Scripts that put no space between words touch an id with their letters; only Latin ones would be part of it.
_BARE = re.compile(rf"(?<![{LATIN}.@&#-])(#\s?)?((?:[A-Z]{{1,3}}\s(?=\d{{4}}))?{_BODY})(?![{LATIN}@])")
_UNIT = re.compile(
    r"\d+(?:st|nd|rd|th|x|kg|g|mg|lb|lbs|oz|km|cm|mm|m|ft|in|ml|l|kb|mb|gb|tb|h|hr|hrs|hours?|min|mins|s|sec|d|days?"
    r"|w|weeks?|months?|years?|y|am|pm|p|k|a|o|e|er|ere|eme|th|ter|eur|usd|gbp|uhr|hs|tage?|dias?|jours?|giorni)",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\d{1,3}[-–][A-Za-z]{2,}(?:[-–][A-Za-z]+)*|[A-Za-z]{5,}[-–]\d{1,2}", re.IGNORECASE)


_PREFIXED = re.compile(r"(?:sub|pay|re|ca|in|ch)_[A-Za-z0-9]{6,60}", re.IGNORECASE)  # an id, digits or not

# A plan by its name: a word with a capital beside a word for "subscription".
_PLAN = r"(?:plan|subscription|membership|tier|abo|abonnement|tarif|suscripci[oó]n|assinatura|plano|abbonamento|piano)"
_PLAN_NAMES = (
    re.compile(rf"\b([A-Z][A-Za-z0-9+]{{1,30}})[ -](?i:{_PLAN})\b"),
    re.compile(rf"\b(?i:{_PLAN})\s+([A-Z][A-Za-z0-9+]{{1,30}})\b"),
    re.compile(r"\b(?i:the)\s+([A-Z][A-Za-z0-9+]{1,30})\s+(?i:one)\b"),
    re.compile(r"\b(?i:unsubscribe me from|cancel my|cancel the)\s+([A-Z][A-Za-z0-9+]{1,30})\b"),
)
_NO_PLAN = frozenset(
    {
        "a",
        "an",
        "annual",
        "any",
        "cancel",
        "current",
        "das",
        "dieses",
        "el",
        "end",
        "i",
        "il",
        "is",
        "la",
        "le",
        "ma",
        "mein",
        "meine",
        "meu",
        "mi",
        "mia",
        "minha",
        "mio",
        "mon",
        "monthly",
        "my",
        "o",
        "old",
        "our",
        "paid",
        "plan",
        "please",
        "stop",
        "su",
        "subscription",
        "that",
        "the",
        "this",
        "tu",
        "unser",
        "votre",
        "what",
        "which",
        "yearly",
        "your",
    }
)


def plans_named(text: str) -> tuple[str, ...]:
    """Return the words by which `text` seems to name a plan, each once: to be matched against the account."""
    found = [m[1] for pattern in _PLAN_NAMES for m in pattern.finditer(text) if m[1].casefold() not in _NO_PLAN]
    return tuple(dict.fromkeys(found))[:MENTIONS_MAX]


def mentions_of(text: str) -> tuple[str, ...]:
    """Return the id-like tokens of `text` in order, each once (compared without case), at most `MENTIONS_MAX`."""
    masked = _MONEY.sub(_blank, _ELSE.sub(_blank, text))
    found: dict[int, str] = {}
    for match in _AFTER_NAME.finditer(masked):
        if _identifies(match[1], named=True):
            hashed = masked[match.start(1) - 1] == "#"
            found[match.start(1)] = ("#" if hashed else "") + match[1]
    spans = [(start, start + len(token)) for start, token in found.items()]
    for match in _BARE.finditer(masked):
        start, end = match.span(2)
        taken = any(start < stop and begin < end for begin, stop in spans)
        if not taken and _identifies(match[2], named=bool(match[1])):
            found[start] = ("#" if match[1] else "") + match[2]
    unique: dict[str, str] = {}
    for start in sorted(found):
        unique.setdefault(found[start].casefold(), found[start])
    return tuple(unique.values())[:MENTIONS_MAX]


def ids_alike(text: str) -> str:
    """Return `text` with one and the same id for each: which it is says nothing about a wish, and moves its vector."""
    ids = [m.lstrip("#") for m in mentions_of(text) if "_" not in m]
    if not ids:
        return text
    either = "|".join(re.escape(ident) for ident in sorted(ids, key=len, reverse=True))
    return re.sub(rf"(?<![{LATIN}])(?:{either})(?![{LATIN}])", _ANY_ID, text, flags=re.IGNORECASE)


def no_amounts_in(text: str, mentions: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return where `text` has digits that are no amount of money: ids, numbers to call, dates, times."""
    ids = (m.span() for ident in mentions for m in re.finditer(re.escape(ident), text, re.IGNORECASE))
    return (*(m.span() for m in _ELSE.finditer(text)), *ids)


def _blank(match: re.Match[str]) -> str:
    return "~" * len(match[0])


def _identifies(token: str, *, named: bool) -> bool:
    """Whether `token` looks like an id; `named` after a word such as "order" or a hash."""
    if _PREFIXED.fullmatch(token):
        return True
    digits = sum(c.isdigit() for c in token)
    if digits == 0 or len(token) > 64 or _UNIT.fullmatch(token) or _COUNTED.fullmatch(token):
        return False
    if token.isdigit():
        if named:
            return digits >= 3
        return 7 <= digits <= 15 and not token.startswith("0")
    if any(c in "-_‐‑–" for c in token):
        code = digits > 1 or sum(c.isalpha() for c in token) <= _LETTERS_FOR_ONE_DIGIT  # A-1, and not CANARY-X9
        return named or "_" in token or (code and _mixed(token) >= 1)
    return digits >= 3 or (named and len(token) >= 2) or _mixed(token) >= 3


def _mixed(token: str) -> int:
    """How often letters and digits alternate: once in `AB12`, three times in `8h2k`."""
    kinds = [c.isdigit() for c in token if c.isalnum()]
    return sum(a != b for a, b in pairwise(kinds))
