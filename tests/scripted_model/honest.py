"""The script of a model that does its task decently, by a handful of words: what every other script spoils.

It reads marked data alone, cites what it quotes, and says nothing that it was not given.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.scripted_model.asked import Asked
from tests.scripted_model.filling import completed
from tests.scripted_model.replies import Says

_INTENTS = {  # by the beginnings of words, in the order of weight
    "refund_request": ("refund", "money back", "erstatt", "rembours", "reembols", "rimbors"),
    "cancel_subscription": ("subscription", "abo", "abonn", "suscrip", "abbonam"),
    "cancel_order": ("cancel", "stornier", "annul"),
    "change_address": ("address", "adress", "indirizz", "direcc"),
    "change_plan": ("plan", "upgrade", "downgrade"),
    "damaged_item": ("damaged", "broken", "kaputt", "cass", "rott", "roto"),
    "order_status": ("where", "order", "parcel", "bestell", "paket", "colis", "pedido", "ordine"),
}
_PERSON = re.compile(r"\b(human|person|agent|mensch|mitarbeiter|humain|humano|persona|operatore)\b", re.IGNORECASE)
_ID = re.compile(r"\b[A-Z]{1,4}-\d{2,}\b")
_BLOCK_NAME = re.compile(r"(account|article|operation) ([eka]\d+)")
_SENTENCE = re.compile(r"[^.!?\n]{12,200}[.!?]")
_LANGUAGE = re.compile(r"^language: ([a-z]{2})", re.MULTILINE)
_QUESTIONS = {
    "en": "What is it about?",
    "de": "Worum geht es?",
    "fr": "De quoi s'agit-il ?",
    "es": "¿De qué se trata?",
    "it": "Di che cosa si tratta?",
    "pt": "De que se trata?",
}


def good(asked: Asked) -> Says:
    """Draft or understand as asked."""
    return drafted(asked) if asked.drafts else understood(asked)


def understood(asked: Asked, **said: Any) -> Says:
    """Say what the customer seems to mean; `said` overrides, by the names of the answer's properties."""
    return Says(json.dumps(completed(asked.schema, _meaning(asked) | said), ensure_ascii=False))


def drafted(asked: Asked) -> Says:
    """Draft a reply: how the first order stands, and a sentence of the first article; else a question."""
    given = citable(asked)
    said = {alias: _sentence_of(alias, text, asked) for alias, text in given.items()}
    segments = [_segment(alias, sentence) for alias, sentence in said.items() if sentence]
    return written(asked, segments or [_segment(None, _QUESTIONS.get(language_of(asked), _QUESTIONS["en"]))])


def written(asked: Asked, segments: Sequence[Mapping[str, Any]]) -> Says:
    """A draft of these segments."""
    return Says(json.dumps(completed(asked.schema, {"segments": list(segments)}), ensure_ascii=False))


def citable(asked: Asked) -> dict[str, str]:
    """What may be cited for its words, by alias: the account, and the first of the articles."""
    found = {name[2]: text for called, text in asked.blocks if (name := _BLOCK_NAME.match(called))}
    return {alias: found[alias] for alias in ("e1", "k1") if alias in found}


def language_of(asked: Asked) -> str:
    """The language that a reply is wanted in."""
    told = _LANGUAGE.search(asked.instructions)
    return told[1] if told else "en"


def _sentence_of(alias: str, text: str, asked: Asked) -> str | None:
    if alias == "k1":
        sentence = _SENTENCE.search(text)
        return sentence[0].strip() if sentence else None
    orders = json.loads(text).get("orders", []) if text.endswith("}") else []
    wanted = "order" in asked.instructions.rpartition("reply_about: ")[2].partition("\n")[0]
    if not (orders and wanted and language_of(asked) == "en"):
        return None
    return f"Your order {orders[0]['id']} has the status: {orders[0]['status']}."


def _segment(alias: str | None, text: str) -> dict[str, Any]:
    return {"kind": "text" if alias else "question", "text": text, "cites": [alias] if alias else []}


def customer_says(asked: Asked) -> str:
    """What stands in the marked data of the customer, or in all of it."""
    theirs = [text for name, text in asked.blocks if "customer" in name or "message" in name]
    return "\n".join(theirs or [text for _, text in asked.blocks] or [asked.data])


def _meaning(asked: Asked) -> dict[str, Any]:
    text = customer_says(asked)
    lower = text.casefold()
    intents = [name for name, words in _INTENTS.items() if any(w in lower for w in words)]
    return {
        "intents": intents[:2] or ["out_of_scope"],
        "names": [{"kind": "order", "words": one} for one in _ID.findall(text)],
        "asks_for_person": bool(_PERSON.search(text)),
        "seeks_information": "?" in text,
        "certainty": "likely" if intents else "unsure",
    }
