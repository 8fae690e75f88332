"""What a customer's tokens name among that customer's own things; whatever they do not name does not exist.

Pure; nothing is ever matched outside the account, so another's order and a made-up one are the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from domain.account import Account, Address, Plan, Subscription

ENDED_STATUSES = frozenset({"cancelled", "canceled", "ended", "expired", "terminated"})
DIGITS_MIN = 3  # fewer digits alone name nothing


@dataclass(frozen=True)
class Named:
    """What tokens named (`order:ID` and the like, in order, each once), and whether some named nothing."""

    orders: tuple[str, ...] = ()
    subscriptions: tuple[str, ...] = ()
    payments: tuple[str, ...] = ()
    unknown: bool = False

    @property
    def nothing(self) -> bool:
        """Whether no token named anything of the customer's."""
        return not (self.orders or self.subscriptions or self.payments)


def named_in(mentions: Iterable[str], account: Account) -> Named:
    """Return what `mentions` name: by id, by the digits of an id, or by a tracking code."""
    known = _handles(account)
    found: dict[str, None] = {}
    unknown = False
    for mention in mentions:
        resource = _find(_bare(mention), known)
        if resource is None:
            unknown = True
        else:
            found.setdefault(resource)
    return Named(
        orders=_of("order", found),
        subscriptions=_of("subscription", found),
        payments=_of("payment", found),
        unknown=unknown,
    )


def resource_named(mention: str, account: Account) -> str | None:
    """Return the one thing of the customer's that a token names, or None."""
    return _find(_bare(mention), _handles(account))


def resources_named(mentions: Iterable[str], account: Account) -> tuple[str, ...]:
    """Return all that tokens name of the customer's, in the order of the tokens, each once."""
    known = _handles(account)
    return tuple(dict.fromkeys(r for m in mentions if (r := _find(_bare(m), known))))


def is_id(mention: str) -> bool:
    """Whether a token can be an id; other tokens are words, which may name a plan or an address and else nothing."""
    return any(c.isdigit() or c == "_" for c in mention)


def plans_named(mentions: Iterable[str], account: Account) -> tuple[Plan, ...]:
    """Return the plans on offer that `mentions` name, in their order, each once."""
    wanted = [_bare(mention) for mention in mentions]
    found = [plan for name in wanted for plan in account.plans if name and _bare(plan.name) == name]
    return tuple(dict.fromkeys(found))


def addresses_named(mentions: Iterable[str], account: Account) -> tuple[Address, ...]:
    """Return the addresses of the customer's own book that `mentions` name by id or label; a shared label names all."""
    wanted = [_bare(mention) for mention in mentions]
    found = [a for name in wanted for a in account.addresses if name and name in (_bare(a.id), _bare(a.label))]
    return tuple(dict.fromkeys(found))


def canonical(resource: str | None, account: Account) -> str | None:
    """Return `resource` with the id as the account writes it, or None where the account has no such thing."""
    found = account.resource(resource) if resource else None
    return f"{(resource or '').partition(':')[0]}:{found.id}" if found else None


def _handles(account: Account) -> list[tuple[str, str]]:
    """Every string by which a resource may be named, bare, with the resource; a payment of an order stands for it."""
    handles = [(_bare(o.id), f"order:{o.id}") for o in account.orders]
    handles += [(_bare(s.id), f"subscription:{s.id}") for s in account.subscriptions]
    handles += _plans(account)
    for order in account.orders:
        if order.shipment and order.shipment.tracking_code:
            handles.append((_bare(order.shipment.tracking_code), f"order:{order.id}"))
    for payment in account.payments:
        order_of = account.order(payment.order_id) if payment.order_id else None
        handles.append((_bare(payment.id), f"order:{order_of.id}" if order_of else f"payment:{payment.id}"))
    return handles


def _plans(account: Account) -> list[tuple[str, str]]:
    """Subscriptions by the name of their plan, where it names one alone; one that runs goes before those that ended."""
    by_plan: dict[str, list[Subscription]] = {}
    for subscription in account.subscriptions:
        by_plan.setdefault(_bare(subscription.plan), []).append(subscription)
    handles = []
    for plan, all_of_it in by_plan.items():
        running = [s for s in all_of_it if s.status not in ENDED_STATUSES] or all_of_it
        if len(running) == 1:
            handles.append((plan, f"subscription:{running[0].id}"))
    return handles


def _find(mention: str, known: list[tuple[str, str]]) -> str | None:
    """The resource of that handle; digits alone must fit one resource only."""
    for handle, resource in known:
        if mention and handle == mention:
            return resource
    if len(mention) >= DIGITS_MIN and mention.isdigit():
        fitting = {resource for handle, resource in known if handle.lstrip(_LETTERS) == mention}
        if len(fitting) == 1:
            return fitting.pop()
    return None


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _bare(ident: str) -> str:
    """An id without case, separators and accents that people leave out or type otherwise."""
    return "".join(c for c in ident.casefold() if c.isalnum())


def _of(kind: str, resources: Iterable[str]) -> tuple[str, ...]:
    return tuple(r for r in resources if r.startswith(f"{kind}:"))
