"""Sends one signed message to a tenant's webhook, and says what came of it: the only client of what tenants name.

Where a host leads is looked up here and judged, and the very address that was judged is connected to.
"""

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address

import httpx
from standardwebhooks import Webhook
from standardwebhooks.webhooks import EmptyWebhookSecretError

from domain.webhook import Address, Letter, Network, Tried, is_public, may_reach, url_fault
from domain.webhook_kinds import DeliveryFault

USER_AGENT = "Interlock-Webhooks/1"
GONE = 410
LOOKUPS_AT_ONCE = 20  # in threads of their own: a name server that never answers keeps one long after its time-out


class WebhookSender:
    """Posts letters; `networks` are those beside the public ones that may be reached, over plain http too."""

    def __init__(self, timeout_s: float, networks: Sequence[Network]) -> None:
        self._timeout_s, self._networks = timeout_s, networks
        self._lookups = ThreadPoolExecutor(LOOKUPS_AT_ONCE, "webhook-lookup")
        self._http = httpx.AsyncClient(
            timeout=timeout_s,
            follow_redirects=False,  # what is signed for one address is not carried to another
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def send(self, letter: Letter) -> Tried:
        """Send a letter, in `timeout_s` at most, and return what came of it; raises nothing of the network's."""
        try:
            async with asyncio.timeout(self._timeout_s):
                if url_fault(letter.url, self._networks) is not None:
                    return Tried(fault=DeliveryFault.FORBIDDEN_ADDRESS)
                url = httpx.URL(letter.url)
                address = await self._address(url)
                if address is None:
                    return Tried(fault=DeliveryFault.FORBIDDEN_ADDRESS)
                return await self._post(letter, url, address)
        except (TimeoutError, httpx.TimeoutException):
            return Tried(fault=DeliveryFault.TIMEOUT)
        except (OSError, UnicodeError, httpx.HTTPError, httpx.InvalidURL):
            return Tried(fault=DeliveryFault.UNREACHABLE)
        except (ValueError, EmptyWebhookSecretError):  # a secret that signs nothing
            return Tried(fault=DeliveryFault.NO_SECRET)

    async def close(self) -> None:
        """Close what is open."""
        await self._http.aclose()
        self._lookups.shutdown(wait=False, cancel_futures=True)

    async def _address(self, url: httpx.URL) -> Address | None:
        """Return where the host leads, or None where that may not be reached: every one of its addresses has to be."""
        port = url.port or (443 if url.scheme == "https" else 80)
        ask = partial(socket.getaddrinfo, url.host, port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._lookups, ask)
        addresses = [ip_address(str(place[4][0]).partition("%")[0]) for place in found]
        if not addresses or not all(self._allowed(url.scheme, address) for address in addresses):
            return None
        return addresses[0]

    def _allowed(self, scheme: str, address: Address) -> bool:
        return may_reach(address, self._networks) and (scheme == "https" or not is_public(address))

    async def _post(self, letter: Letter, url: httpx.URL, address: Address) -> Tried:
        now = datetime.now(UTC)
        headers = {
            "host": url.netloc.decode("ascii"),
            "content-type": "application/json",
            "user-agent": USER_AGENT,
            "webhook-id": letter.message_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": Webhook(letter.secret).sign(letter.message_id, now, letter.body),
        }
        request = self._http.build_request(
            "POST",
            url.copy_with(host=str(address)),
            content=letter.body.encode(),
            headers=headers,
            extensions={"sni_hostname": url.host},  # the certificate has to be the name's, not the address's
        )
        answer = await self._http.send(request, stream=True)
        await answer.aclose()  # its status is all that is asked of it: no byte of its body is read
        return _tried(answer)


def _tried(answer: httpx.Response) -> Tried:
    status = answer.status_code
    if answer.is_success:
        return Tried(status=status)
    if answer.is_redirect:
        return Tried(fault=DeliveryFault.REDIRECTED, status=status)
    fault = DeliveryFault.GONE if status == GONE else DeliveryFault.ANSWERED
    return Tried(fault=fault, status=status, retry_after_s=_seconds(answer.headers.get("retry-after")))


def _seconds(header: str | None) -> float | None:
    """Return the seconds of a Retry-After that counts them; one that names a date is passed over."""
    return float(header) if header and header.isascii() and header.isdigit() and len(header) < 9 else None
