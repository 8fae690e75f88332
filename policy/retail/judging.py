"""Requests judged one by one: the world that counts for each, the one question, and the verdict in a line.

Pure given its engine and world; a line that cannot be read is told apart from a request that is forbidden.
"""

from domain.action import ApprovalRole
from domain.base import Noun
from domain.verdict import VerdictKind
from policy.engine import PolicyEngine
from policy.retail.question import request_of
from policy.retail.request import LineInvalid, RetailRequest, id_in, request_in
from policy.retail.world import World, WorldInvalid

NOT_A_REQUEST = "not-a-request"  # in the place of a rule's id, as `default-deny` is


class Judged(Noun):
    """What came of one request; `rules` are the ids of those that decided."""

    id: str | int
    verdict: VerdictKind
    rules: tuple[str, ...]


class LineOutcome(Noun):
    """What came of a line: a verdict, unless it has no id; what is `wrong` with it; the names that are `unread`."""

    judged: Judged | None = None
    wrong: str | None = None
    unread: tuple[str, ...] = ()


def judge_line(engine: PolicyEngine, world: World, line: bytes) -> LineOutcome:
    """Return what comes of a line of a requests file.

    What is no request is wrong, and forbidden where its id can be read; so is an unknown principal.
    """
    try:
        asked, unread = request_in(line)
        judged = judge(engine, world, asked)
    except (LineInvalid, WorldInvalid) as error:
        known = id_in(line)
        refused = Judged(id=known, verdict=VerdictKind.FORBID, rules=(NOT_A_REQUEST,)) if known is not None else None
        return LineOutcome(judged=refused, wrong=str(error))
    wrong = None
    if asked.principal not in world.users and asked.principal not in asked.users:
        wrong = f"the principal {asked.principal!r} is nobody in this world; it should be the id of one of its users"
    return LineOutcome(judged=judged, wrong=wrong, unread=unread)


def judge(engine: PolicyEngine, world: World, asked: RetailRequest) -> Judged:
    """Return what the bundle says of `asked`. Raises WorldInvalid where its own orders or users cannot be read.

    The customer's approval is granted by a yes to exactly the arguments asked, and by nothing else.
    """
    counting = world.overridden(asked.users, asked.orders)
    granted = (ApprovalRole.CUSTOMER,) if asked.confirmed else ()
    verdict = engine.judge_request(request_of(asked, counting), granted)
    return Judged(id=asked.id, verdict=verdict.kind, rules=verdict.rule_ids)
