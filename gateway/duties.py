"""Who may do what: the kind of principal decides what is theirs at all, the tenant's policy what their role may use.

A 403 is told only to those who may see the thing; to everybody else, and to those who may not look, it is not there.
"""

from domain.fault import OperationalFault
from domain.permission import Tool, ToolQuestion, ToolRole
from domain.principal import PrincipalKind
from domain.refusal import Forbidden, NotFound
from domain.tenant import TenantStanding
from gateway.desk import Desk
from gateway.identity import Caller
from gateway.refusals import Unavailable
from store.approvals import view_action
from store.conversations import view_conversation

_AUTHORS = frozenset({PrincipalKind.CUSTOMER, PrincipalKind.ANONYMOUS})
_STAFF_ONLY = "This is for the staff of the organisation."
RETRY_AFTER_S = 5


def role_of(caller: Caller) -> ToolRole:
    """Return in whose role the caller uses tools: staff in the one that the database gives them now."""
    return ToolRole(caller.role.value if caller.role else caller.kind.value)


async def may_use(
    desk: Desk, caller: Caller, tool: Tool, *, kind: str = "", amount_minor: int = 0, currency: str = ""
) -> bool:
    """Return whether the bundle in force lets the caller use `tool`, on an action of that kind and amount if any.

    Where no bundle is in force nobody may use anything. Raises Unavailable where the bundle cannot be had.
    """
    return await _allowed(
        desk, caller.tenant, caller.tenant.question(role_of(caller), tool, kind, amount_minor, currency)
    )


async def bot_may(desk: Desk, tenant: TenantStanding, *tools: Tool) -> bool:
    """Return whether the bundle in force lets the assistant use any of `tools`. Raises Unavailable, as above."""
    return any([await _allowed(desk, tenant, tenant.question(ToolRole.BOT, tool)) for tool in tools])


async def _allowed(desk: Desk, tenant: TenantStanding, question: ToolQuestion) -> bool:
    if tenant.policy_digest is None:
        return False
    try:
        await desk.policies.open(tenant.id, tenant.policy_digest)
    except OperationalFault as fault:
        raise Unavailable("The policy in force cannot be read at the moment.", retry_after_s=RETRY_AFTER_S) from fault
    return desk.policies.allows(tenant.policy_digest, question)


async def require_tool(
    desk: Desk, caller: Caller, tool: Tool, *, kind: str = "", amount_minor: int = 0, currency: str = ""
) -> None:
    """Return where the caller may use `tool`. Raises Forbidden, and Unavailable where the policy cannot be had."""
    if not await may_use(desk, caller, tool, kind=kind, amount_minor=amount_minor, currency=currency):
        raise _forbidden(caller, tool)


def require_staff(caller: Caller) -> Caller:
    """Return the caller, a person of the staff. Raises Forbidden."""
    if not caller.is_staff:
        raise Forbidden(_STAFF_ONLY)
    return caller


async def require_author(desk: Desk, caller: Caller) -> Caller:
    """Return the caller, a customer or visitor who may write. Raises Forbidden."""
    if caller.kind not in _AUTHORS:
        raise Forbidden("Only customers and visitors begin conversations.")
    await require_tool(desk, caller, Tool.WRITE_MESSAGE)
    return caller


async def reader_of(desk: Desk, caller: Caller, what: str = "conversation") -> Caller:
    """Return the caller, who may look at what is theirs to see. Raises NotFound: what one may not see is not there."""
    if not await may_read(desk, caller):
        raise NotFound(f"There is no such {what}.")
    return caller


async def require_reader(desk: Desk, caller: Caller) -> None:
    """Return where the caller may look at what is theirs to see. Raises Forbidden."""
    await require_tool(desk, caller, _reading(caller))


async def may_read(desk: Desk, caller: Caller) -> bool:
    """Return whether the caller may look at conversations at all: their own, or those of the organisation."""
    return await may_use(desk, caller, _reading(caller))


def _reading(caller: Caller) -> Tool:
    return Tool.READ_OWN if caller.kind in _AUTHORS else Tool.READ_CONVERSATIONS


async def staff_of(
    desk: Desk,
    caller: Caller,
    conversation_id: str,
    tool: Tool,
    *,
    kind: str = "",
    amount_minor: int = 0,
    currency: str = "",
) -> Caller:
    """Return the caller, of the staff, who may use `tool`. Raises NotFound for what is hidden, else Forbidden."""
    if not caller.is_staff:
        await _see(desk, caller, conversation_id)
        raise Forbidden(_STAFF_ONLY)
    if not await may_use(desk, caller, tool, kind=kind, amount_minor=amount_minor, currency=currency):
        await _see(desk, caller, conversation_id)
        raise _forbidden(caller, tool)
    return caller


async def staff_on(desk: Desk, caller: Caller, operation_id: str) -> Caller:
    """Return the caller, of the staff. Raises NotFound for an action that they may not see, else Forbidden."""
    reader = await reader_of(desk, caller, "action")
    if not reader.is_staff:
        await view_action(desk.db, reader, operation_id)
    return require_staff(reader)


async def author_of(desk: Desk, caller: Caller, conversation_id: str) -> Caller:
    """Return the caller, a customer or visitor who may write. Raises NotFound for what is hidden, else Forbidden."""
    if caller.kind not in _AUTHORS:
        await _see(desk, caller, conversation_id)
        raise Forbidden("Only the customer writes as the customer; people of the staff reply.")
    return await _user_of(desk, caller, conversation_id, Tool.WRITE_MESSAGE)


async def person_of(desk: Desk, caller: Caller, conversation_id: str) -> Caller:
    """Return the caller, who may ask for a person. Raises NotFound for what is hidden, else Forbidden."""
    if caller.kind is PrincipalKind.SERVICE:
        await _see(desk, caller, conversation_id)
        raise Forbidden("Services look, and ask for nobody.")
    return await _user_of(desk, caller, conversation_id, Tool.ASK_FOR_PERSON)


async def _user_of(desk: Desk, caller: Caller, conversation_id: str, tool: Tool) -> Caller:
    if not await may_use(desk, caller, tool):
        await _see(desk, caller, conversation_id)
        raise _forbidden(caller, tool)
    return caller


async def _see(desk: Desk, caller: Caller, conversation_id: str) -> None:
    """Return where the caller may see the conversation. Raises NotFound."""
    await view_conversation(desk.db, await reader_of(desk, caller), conversation_id)


def _forbidden(caller: Caller, tool: Tool) -> Forbidden:
    role, use = role_of(caller).value.replace("_", " "), tool.value.replace("_", " ")
    return Forbidden(f"The policy in force does not let the role {role} {use}.")
