"""The words by which languages tell how an order, a payment or a subscription stands.

Data alone: a status is told in a text where its words occur, and denied where a negation stands before them.
"""

import re

from policy.reply.status_words_more import (
    NEGATION_AFTER,
    NEGATION_BEFORE,
    NEGATION_BEFORE_UNSPACED,
    SPACED,
    UNSPACED,
)

# What a business system's status says besides itself: what was delivered was shipped before.
IMPLIED = {
    "delivered": ("delivered", "shipped"),
    "shipped": ("shipped",),
    "in_transit": ("in_transit", "shipped"),
    "out_for_delivery": ("out_for_delivery", "in_transit", "shipped"),
    "picked_up": ("picked_up", "shipped"),
    "partially_refunded": ("refunded",),
    "canceled": ("cancelled",),
    "ended": ("cancelled",),
    "terminated": ("cancelled",),
    "fulfilled": ("shipped",),
    "complete": ("delivered", "shipped"),
    "completed": ("delivered", "shipped"),
}
_WORDS = {
    "delivered": (
        r"(?<!be )delivered",
        r"entregad[oa]s?",
        r"zugestellt|(?:aus)?geliefert",
        r"livrée?s?",
        r"entregues?",
        r"consegnat[oaei]",
    ),
    "shipped": (
        r"shipped|dispatched",
        r"enviad[oa]s?",
        r"versandt|versendet|verschickt",
        r"expédiée?s?|envoyée?s?",
        r"despachad[oa]s?",
        r"spedit[oaei]",
    ),
    "in_transit": (
        r"in transit|on (?:its|the) way",
        r"en tránsito|en camino",
        r"unterwegs",
        r"en transit|en route|en chemin",
        r"em trânsito|a caminho",
        r"in transito|in viaggio",
    ),
    "out_for_delivery": (
        r"out for delivery",
        r"en reparto",
        r"in zustellung",
        r"en cours de livraison",
        r"saiu para entrega|em rota de entrega",
        r"in consegna",
    ),
    "processing": (
        r"being (?:processed|prepared)|in preparation|processing",
        r"en (?:proceso|preparación)",
        r"in (?:bearbeitung|vorbereitung)",
        r"en (?:cours de (?:traitement|préparation)|préparation)",
        r"em (?:processamento|preparação)",
        r"in (?:lavorazione|preparazione|elaborazione)",
    ),
    "cancelled": (
        r"cancell?ed",
        r"cancelad[oa]s?|anulad[oa]s?|canceló|anuló",
        r"storniert|gekündigt",
        r"annulée?s?|résiliée?s?",
        r"annullat[oaei]|disdett[oaei]|cancellat[oaei]",
    ),
    "refunded": (
        r"refunded|reimbursed|(?:given|paid) back",
        r"reembolsad[oa]s?|devuelt[oa]s?|devolvió|reembolsó",
        r"(?:zurück|rück)?erstattet|zurückgezahlt",
        r"remboursée?s?",
        r"estornad[oa]s?|devolvid[oa]s?",
        r"rimborsat[oaei]",
    ),
    "returned": (
        r"returned",
        r"de vuelta en la tienda",
        r"zurückgeschickt|zurückgesendet",
        r"retournée?s?",
        r"retornad[oa]s?",
        r"restituit[oaei]",
    ),
    "active": (r"active", r"activ[oa]s?", r"aktiv", r"actifs?|actives?", r"ativ[oa]s?", r"attiv[oaei]"),
    "trialing": (
        r"in (?:the|its) trial(?: period)?",
        r"en per[ií]odo de prueba",
        r"in der (?:probezeit|testphase)",
        r"en période d'essai",
        r"em período de teste",
        r"in periodo di prova",
    ),
    "past_due": (
        r"past due|overdue",
        r"vencid[oa]s?",
        r"überfällig",
        r"en retard|impayée?s?",
        r"em atraso",
        r"scadut[oaei]",
    ),
    "paused": (r"paused", r"en pausa", r"pausiert", r"en pause", r"em pausa", r"in pausa"),
    "failed": (
        r"failed|declined",
        r"fallid[oa]s?",
        r"fehlgeschlagen",
        r"échouée?s?",
        r"recusad[oa]s?",
        r"fallit[oaei]",
    ),
    "lost": (r"lost", r"perdid[oa]s?", r"verloren", r"perdue?s?", r"smarrit[oaei]"),
    "processed": (
        r"(?<!being )prepared",
        r"preparad[oa]s?",
        r"vorbereitet",
        r"préparée?s?",
        r"preparat[oaei]",
    ),
    "packed": (r"packed", r"embalad[oa]s?", r"verpackt", r"emballée?s?", r"imballat[oaei]"),
    "label_created": (
        r"label (?:printed|created)",
        r"etiqueta impresa",
        r"etikett gedruckt",
        r"étiquette imprimée",
        r"etiqueta impressa",
        r"etichetta stampata",
    ),
    "picked_up": (
        r"picked up",
        r"recogid[oa]s?",
        r"abgeholt",
        r"prise? en charge",
        r"recolhid[oa]s?",
        r"ritirat[oaei]",
    ),
    "delivery_attempted": (
        r"delivery attempted|attempted delivery",
        r"intento de entrega",
        r"zustellversuch",
        r"tentative de livraison",
        r"tentativa de entrega",
        r"tentativo di consegna",
    ),
    "exception": (r"held up", r"retenid[oa]s?", r"aufgehalten", r"retenue?s?", r"retid[oa]s?", r"trattenut[oaei]"),
}
READ_IN = frozenset("en es de fr pt it nl pl ru uk sv tr ja zh ko ar hi".split())  # noqa: SIM905 languages of these words


def _pattern(name: str) -> re.Pattern[str]:
    spaced = "|".join((*_WORDS[name], *([SPACED[name]] if name in SPACED else ())))
    unspaced = f"|{UNSPACED[name]}" if name in UNSPACED else ""
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w){unspaced}", re.IGNORECASE)


STATUS = {name: _pattern(name) for name in _WORDS}
NEGATION = re.compile(
    r"(?<!\w)(?:not|nothing|none|no|never|cannot|\w+n't|nada|nunca|ningun[oa]?|ningún|sin|nicht|nichts|nie"
    r"|kein\w*|pas|rien|jamais|aucune?|ne|n'\w+|não|nenhum\w*|non|niente|nulla|mai|nessun\w*"
    rf"|{NEGATION_BEFORE})(?!\w)|{NEGATION_BEFORE_UNSPACED}",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(NEGATION_AFTER)
_CLAUSE_END = re.compile(r"[.!?;:,\n。！？；：，、।؟،]")
NEGATION_CHARS_MAX = 60


def denied(text: str, at: int) -> bool:
    """Return whether a negation stands before position `at` in its clause, or behind it where the verb comes last."""
    before = text[max(0, at - NEGATION_CHARS_MAX) : at]
    if NEGATION.search(_CLAUSE_END.split(before)[-1]):
        return True
    behind = text[at : at + NEGATION_CHARS_MAX]
    return bool(_DENIED_AFTER.search(_CLAUSE_END.split(behind)[0]))
