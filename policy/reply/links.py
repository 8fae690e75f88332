"""Whether a text leads somewhere, or holds markup that could, beyond what the page that it cites says itself.

Pure; what an article does not lead to, a reply does not either.
"""

import re

_LEADS = re.compile(
    r"\b[a-z][a-z0-9+.\-]{1,15}://\S+|(?<!\w)(?:www\.|mailto:|javascript:|data:)\S+"
    r"|(?<![\w.@])(?:[a-z0-9][a-z0-9\-]+\.)+[a-z]{2,24}(?![\w.])(?:/\S*)?",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\]\s?\(|</?[a-z!]|&#?\w{2,8};|\{\{|!\[|\[/?[a-z]+\]", re.IGNORECASE)
_TRAILING = ".,;:!?)]}'\"»“”。、"


def leads_astray(text: str, pages: list[str]) -> bool:
    """Return whether plain `text` holds a link, an address or markup that none of the cited `pages` holds."""
    if _MARKUP.search(text):
        return True
    return any(not any(found[0].rstrip(_TRAILING) in page for page in pages) for found in _LEADS.finditer(text))
