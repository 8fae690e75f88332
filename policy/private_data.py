"""What may never stand in a reply: e-mail addresses, telephone numbers, card and bank account numbers.

Pure; the caller first takes out the customer's own ids, dates and amounts, which digits alone would resemble.
"""

import re

_EMAIL = re.compile(r"[^\s@<>(),;]+@[^\s@<>(),;]+\.[^\W\d_]{2,}")
_PHONE = re.compile(r"(?<![\w.])(?:\+|00)?\(?\d(?:[ ().\-/]{0,3}\d){7,14}(?!\w)")
_CARD = re.compile(r"(?<!\d)\d(?:[ .\-]?\d){12,18}(?!\d)")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?:[ \-]?[A-Z0-9]){11,30}(?!\w)", re.IGNORECASE)
PHONE_DIGITS_MIN = 9  # of a number without a leading + or 00


def holds_private_data(text: str) -> bool:
    """Return whether `text`, in plain form, holds an address or a number by which somebody is reached or charged."""
    return bool(_EMAIL.search(text)) or _holds_phone(text) or _holds_card(text) or _holds_iban(text)


def _holds_phone(text: str) -> bool:
    for match in _PHONE.finditer(text):
        if match[0].startswith(("+", "00")) or len(_digits(match[0])) >= PHONE_DIGITS_MIN:
            return True
    return False


def _holds_card(text: str) -> bool:
    return any(_luhn(_digits(match[0])) for match in _CARD.finditer(text))


def _holds_iban(text: str) -> bool:
    """Whether a stretch, or the beginning of one that runs into the next word, is a valid IBAN."""
    for match in _IBAN.finditer(text):
        account = re.sub(r"[ \-]", "", match[0]).upper()
        if any(_mod_97(account[:length]) for length in range(15, min(34, len(account)) + 1)):
            return True
    return False


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdigit())


def _luhn(number: str) -> bool:
    doubled = [sum(divmod(2 * int(d), 10)) if i % 2 else int(d) for i, d in enumerate(reversed(number))]
    return len(set(number)) > 1 and sum(doubled) % 10 == 0


def _mod_97(account: str) -> bool:
    turned = account[4:] + account[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1
