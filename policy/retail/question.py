"""A request in a world, as one Cedar request whose context holds every fact that a rule of the bundle looks at.

Pure: what the world does not hold has no owner, exactly as if it belonged to somebody else.
"""

from typing import Any, assert_never

from policy.retail.facts import first_amount, history_facts, item_facts, method_facts, swap_difference, swap_facts
from policy.retail.request import RetailRequest
from policy.retail.tools import (
    Arguments,
    Cancel,
    OrderAddress,
    OrderPayment,
    Return,
    Swap,
    Tool,
    UserAddress,
    arguments_of,
)
from policy.retail.world import World

_TOOLS = frozenset(Tool)
ANOTHER_TOOL = "another_tool"


def request_of(asked: RetailRequest, world: World) -> dict[str, Any]:
    """Return the Cedar request for `asked`, without approvals; `world` is the one that counts for it."""
    if asked.action not in _TOOLS:
        return _request(asked, world, ANOTHER_TOOL, True, _user_target(asked.principal, world))
    tool = Tool(asked.action)
    arguments, complete = arguments_of(tool, asked.arguments)
    return _request(asked, world, tool.value, complete, _particulars(tool, arguments, asked.principal, world))


def _request(
    asked: RetailRequest, world: World, action: str, complete: bool, particulars: dict[str, Any]
) -> dict[str, Any]:
    about = {
        "complete": complete,
        "user_found": asked.principal in world.users,
        "confirmed_otherwise": asked.confirmed is False,
    }
    resource = particulars.pop("resource")
    return {
        "principal": _user(asked.principal),
        "action": {"type": "Action", "id": action},
        "resource": resource,
        "context": {"request": about, **particulars},
    }


def _particulars(tool: Tool, arguments: Arguments, principal: str, world: World) -> dict[str, Any]:
    """What this tool is judged on besides, for a user who asks for it with these arguments."""
    if isinstance(arguments, UserAddress):
        return _user_target(arguments.user_id, world)
    user, order = world.users.get(principal), world.orders.get(arguments.order_id)
    target = _order_target(arguments.order_id, world)
    items = order.items if order else ()
    paid = order.payment_history if order else ()
    history = {"history": history_facts(paid, user)}
    match arguments:
        case Cancel(reason=reason):
            return {**target, **history, "reason": reason}
        case OrderAddress():
            return target
        case Swap(item_ids=named, new_item_ids=new, payment_method_id=method):
            difference = swap_difference(named, new, items, world.products)
            due = round(difference, 2) if tool is Tool.EXCHANGE else difference  # as the shop does
            return {
                **target,
                "method": method_facts(method, user, due),
                "items": item_facts(named, items),
                "swap": swap_facts(named, new, items, world.products),
            }
        case Return(item_ids=named, payment_method_id=method):
            return {**target, **history, "method": method_facts(method, user, 0.0), "items": item_facts(named, items)}
        case OrderPayment(payment_method_id=method):
            return {**target, **history, "method": method_facts(method, user, first_amount(paid))}
        case _ as never:
            assert_never(never)


def _order_target(ident: str, world: World) -> dict[str, Any]:
    order = world.orders.get(ident)
    target = {"owner": {"__entity": _user(order.user_id)}, "status": order.status} if order else {"status": ""}
    return {"resource": {"type": "Order", "id": ident}, "target": target}


def _user_target(ident: str, world: World) -> dict[str, Any]:
    target = {"owner": {"__entity": _user(ident)}} if ident in world.users else {}
    return {"resource": _user(ident), "target": target}


def _user(ident: str) -> dict[str, Any]:
    return {"type": "User", "id": ident}
