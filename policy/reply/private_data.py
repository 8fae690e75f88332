"""What may never stand in a reply: e-mail and network addresses, telephone, card and bank account numbers.

Pure; the caller first takes out the customer's own ids, dates and amounts, which digits alone would resemble.
"""

import re

import phonenumbers

_EMAIL = re.compile(r"[^\s@<>(),;]+@[^\s@<>(),;]+\.[^\W\d_]{2,}")
_PHONE = re.compile(r"(?<![\w.])(?:\+|00)?\(?\d(?:[ ().\-/]{0,3}\d){7,14}(?!\w)")
_CARD = re.compile(r"(?<!\d)\d(?:[ .\-]?\d){11,18}(?!\d)")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?:[ \-]?[A-Z0-9]){11,30}(?!\w)", re.IGNORECASE)
_IP = re.compile(
    r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|(?<![\w:])(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{1,4}(?![\w:])", re.IGNORECASE
)
PHONE_DIGITS_MIN = 9  # of a number without a leading + or 00
_DIALLED_MIN = 6  # digits, below which nothing is looked up as a telephone number
_REGIONS = {  # where a language's customers mostly are, and how numbers are written there
    "en": ("US", "GB", "AU"), "es": ("ES", "MX"), "de": ("DE", "AT", "CH"), "fr": ("FR", "BE"), "pt": ("BR", "PT"),
    "it": ("IT",), "nl": ("NL",), "pl": ("PL",), "ru": ("RU",), "uk": ("UA",), "tr": ("TR",), "sv": ("SE",),
    "ja": ("JP",), "zh": ("CN", "TW"), "ko": ("KR",), "ar": ("SA", "AE", "EG"), "hi": ("IN",),
}  # fmt: skip


def holds_private_data(text: str, language: str = "en") -> bool:
    """Return whether `text`, in plain form, holds an address or a number by which somebody is reached or charged."""
    if _EMAIL.search(text):
        return True
    if len(_digits(text)) < _DIALLED_MIN:
        return bool(_IP.search(text))
    return bool(_IP.search(text)) or _holds_phone(text, language) or _holds_card(text) or _holds_iban(text)


def published_contacts(page: str) -> set[str]:
    """Return the e-mail addresses and telephone numbers, as written, that a published page in plain form gives."""
    found = {m[0].rstrip(".") for m in _EMAIL.finditer(page)}
    numbers = {m[0].strip() for m in _PHONE.finditer(page) if not _holds_card(m[0]) and not _holds_iban(m[0])}
    return found | numbers


def _holds_phone(text: str, language: str) -> bool:
    for match in _PHONE.finditer(text):
        if match[0].startswith(("+", "00")) or len(_digits(match[0])) >= PHONE_DIGITS_MIN:
            return True
    regions = _REGIONS.get(language.partition("-")[0], _REGIONS["en"])
    return any(phonenumbers.PhoneNumberMatcher(text, region).has_next() for region in regions)


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
