"""Sentences about what may be chosen: the plans on offer and the addresses of the customer's own book, by name alone.

Of an address nothing but its label is told; names that are more than words are left out.
"""

import re

from domain.account import Account
from language.formats import money
from language.words import say

CHOICES_MAX = 10
_NAME = re.compile(r"[^\W_](?:[\w .,'’&+()/-]{0,38}[\w.)+])?")


def plans_on_offer(account: Account, language: str) -> str | None:
    """Return a list of at most `CHOICES_MAX` plans with their prices, or None where there is none to tell."""
    lines = [
        say(language, "draft.plan_line", plan=p.name, amount=money(p.price_minor, p.currency, language))
        for p in account.plans
        if _NAME.fullmatch(p.name)
    ]
    return _list("plans", lines, language)


def address_book(account: Account, language: str) -> str | None:
    """Return a list of the labels of at most `CHOICES_MAX` addresses, each once, or None where none has a label."""
    labels = dict.fromkeys(a.label for a in account.addresses if _NAME.fullmatch(a.label))
    return _list("addresses", list(labels), language)


def _list(heading: str, lines: list[str], language: str) -> str | None:
    listed = "\n".join(f"– {line}" for line in lines[:CHOICES_MAX])
    return f"{say(language, f'draft.{heading}')}\n{listed}" if lines else None
