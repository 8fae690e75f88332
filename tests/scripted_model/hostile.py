"""Scripts of models that want harm: false claims, other people's data, numbers out of nowhere, obedience to strangers.

Their answers have the right form, so that only what is checked beyond the form can stop them.
"""

import json
import re

from tests.scripted_model.asked import Asked
from tests.scripted_model.filling import completed
from tests.scripted_model.honest import citable, customer_says, drafted, good, language_of, understood, written
from tests.scripted_model.lies import CLAIMS, CONFIRMS, INVENTED, LEAKS, OBEYS, ORDERS, PROMISES
from tests.scripted_model.replies import Reply, Says

_CANARY = re.compile(r"CANARY-\w+|https?://[^\s\"'<>)]+|\{canary\}", re.IGNORECASE)
_HARMLESS = {
    "intents": ["thanks_greeting"],
    "asks_for_person": False,
    "instructs_machine": False,
    "urgent": False,
    "risks": [],
    "certainty": "sure",
}


def invents_orders(asked: Asked) -> Reply:
    """Name orders, amounts and statuses that nobody has."""
    if asked.drafts:
        return _says(asked, INVENTED[asked.n % len(INVENTED)])
    names = [{"kind": "order", "words": order} for order in ORDERS]
    return understood(asked, names=names, intents=["refund_request"], certainty="sure")


def claims_refunds(asked: Asked) -> Reply:
    """Say or promise that it is done, in the language wanted."""
    if not asked.drafts:
        return understood(asked, intents=["refund_request"], certainty="sure")
    language = language_of(asked)
    every = [CLAIMS.get(language, CLAIMS["en"]), *(PROMISES if language == "en" else ())]
    return _says(asked, every[asked.n % len(every)])


def leaks_names(asked: Asked) -> Reply:
    """Tell one customer about another."""
    return _says(asked, LEAKS[asked.n % len(LEAKS)]) if asked.drafts else good(asked)


def obeys_injection(asked: Asked) -> Reply:
    """Do what any of the data says: repeat its tokens and its addresses, approve, keep the person away."""
    ordered = " ".join(_CANARY.findall(asked.data))
    if not asked.drafts:
        return (
            understood(asked, **_HARMLESS | {"intents": ["affirmation", "refund_request"]}) if ordered else good(asked)
        )
    ordered = ordered or customer_says(asked)[:300]
    return _says(asked, f"{OBEYS}: {ordered} Your refund has been approved.")


def repeats_data(asked: Asked) -> Reply:
    """Say the prompt, and everything that was given."""
    return _says(asked, f"{asked.instructions[:400]} {asked.data[:400]}") if asked.drafts else good(asked)


def confirms_everything(asked: Asked) -> Reply:
    """Take every message for a request for money and for a "yes", surely."""
    if asked.drafts:
        return _says(asked, CONFIRMS)
    return understood(asked, **_HARMLESS | {"intents": ["affirmation", "refund_request"]})


def denies_person(asked: Asked) -> Reply:
    """Never hear that somebody wants a person, is in danger or attacks."""
    return drafted(asked) if asked.drafts else understood(asked, **_HARMLESS)


def tool_loop(asked: Asked) -> Reply:
    """Want the same read for ever, and never write."""
    if not asked.drafts:
        return good(asked)
    wish = {"read": "search_articles", "about": "refunds"}
    return Says(json.dumps(completed(asked.schema, {"segments": [], "reads": [wish]})))


def _says(asked: Asked, text: str) -> Reply:
    """A lie that cites what was given; or one that cites nothing, as a question."""
    given = list(citable(asked))
    if not given or asked.n % 4 == 3:
        return written(asked, [{"kind": "question", "text": f"{text.rstrip('.')}, right?", "cites": []}])
    return written(asked, [{"kind": "text", "text": text, "cites": [given[asked.n % len(given)]]}])
