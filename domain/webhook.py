"""Outgoing webhooks: what is told, what became of telling it, and when it is tried again.

Pure: chance and the clock are arguments.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from domain.base import Noun
from domain.webhook_kinds import DeliveryFault, DeliveryState

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

RETRY_FIRST_S = 5.0
RETRY_FACTOR = 4.0
RETRY_MAX_S = 43_200.0
URL_CHARS_MAX = 2_000
JITTER = 0.2  # of the wait, either way, so that what failed together does not come back together


class Letter(Noun):
    """One message as it is sent: to where, signed with which secret, under an id that is the same at every try."""

    url: str
    secret: str
    message_id: str
    body: str

    def __repr__(self) -> str:
        """Say which message it is, and nothing of what it says or is signed with."""
        return f"Letter({self.message_id})"


class Tried(Noun):
    """What one try came to: delivered where `fault` is None."""

    fault: DeliveryFault | None = None
    status: int | None = None
    retry_after_s: float | None = None


class Next(Noun):
    """What becomes of a delivery after a try; `wait_s` where it is tried again."""

    state: DeliveryState
    wait_s: float = 0.0


def after(tried: Tried, attempts: int, attempts_max: int, chance: float) -> Next:
    """Return what becomes of a delivery after its try number `attempts` (from 1); `chance` is from 0 to 1."""
    if tried.fault is None:
        return Next(state=DeliveryState.DELIVERED)
    if tried.fault is DeliveryFault.GONE or attempts >= attempts_max:
        return Next(state=DeliveryState.DEAD)
    backoff_s = min(RETRY_FIRST_S * RETRY_FACTOR ** min(attempts - 1, 20), RETRY_MAX_S)
    backoff_s *= 1 + JITTER * (2 * chance - 1)
    asked_s = min(tried.retry_after_s or 0.0, RETRY_MAX_S)
    return Next(state=DeliveryState.WAITING, wait_s=max(backoff_s, asked_s))


_NAT64 = IPv6Network("64:ff9b::/96")


def networks_of(text: str | None) -> tuple[Network, ...]:
    """Return the networks of a list with commas between, such as `127.0.0.0/8, ::1/128`. Raises ValueError."""
    return tuple(ip_network(one.strip()) for one in (text or "").split(",") if one.strip())


def may_reach(address: Address, beside: Sequence[Network]) -> bool:
    """Return whether a webhook may go to an address: to public ones, and to the networks `beside` them.

    What an IPv6 address carries of an IPv4 one is judged by that.
    """
    inner = _carried(address) if isinstance(address, IPv6Address) else None
    judged = inner or address
    return is_public(judged) or any(judged in network for network in beside)


def is_public(address: Address) -> bool:
    """Return whether everybody on the internet means the same by this address."""
    of_a_site = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not (address.is_multicast or address.is_reserved or of_a_site)


def _carried(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


def url_fault(url: str, beside: Sequence[Network]) -> str | None:
    """Return what is wrong with a webhook's URL, in a sentence that says what would be right; None: it can be used.

    A host that is a name is looked up only when something is sent, and its addresses are judged then.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "this is no URL; one begins with https:// and a host"
    if parts.scheme not in {"https", "http"} or not host or port == 0 or len(url) > URL_CHARS_MAX or not url.isascii():
        return f"an https:// URL with a host is needed, in ASCII and of at most {URL_CHARS_MAX} characters"
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "no user, password or fragment may stand in it: every message is signed instead"
    literal = _literal(host)
    if literal is not None and not may_reach(literal, beside):
        return "the address is not a public one, and INTERLOCK_WEBHOOK_NETWORKS does not allow it"
    if parts.scheme == "http" and not beside:
        return "https:// is needed: plain http shows customers' words on the way"
    return None


def _literal(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
