"""Whether a draft may be published: one closed decision, and the only place that mints a `CheckedReply`.

INVARIANT: a reply leaves only if the bot owns, nobody asked for a person, it says something, and every check is True.
"""

from enum import StrEnum

from domain.base import Noun
from domain.handoff import HandoffReason
from domain.reply import CheckedReply, Checks, Draft, Source


class Withheld(StrEnum):
    """Why a draft is not published (design §7)."""

    NOT_BOT_OWNED = "not_bot_owned"
    HANDOFF_REQUESTED = "handoff_requested"
    GENERATION_FAILED = "handoff_generation_failed"
    CHECKS_FAILED = "handoff_checks_failed"

    @property
    def handoff(self) -> HandoffReason | None:
        """The reason to hand off with; None where a person, or nobody, has the conversation already."""
        return None if self is Withheld.NOT_BOT_OWNED else HandoffReason(self.value)


class Publish(Noun):
    """The reply may go out, as checked and not otherwise."""

    reply: CheckedReply


class DoNotPublish(Noun):
    """The reply stays in. `failed` names the checks that are not True, where those were the reason."""

    reason: Withheld
    failed: tuple[str, ...] = ()


Decision = Publish | DoNotPublish


def decide(*, owner_is_bot: bool, asked_for_person: bool, draft: Draft | None, checks: Checks | None) -> Decision:
    """Return whether `draft`, with the `checks` made of it, may be published."""
    if owner_is_bot is not True:
        return DoNotPublish(reason=Withheld.NOT_BOT_OWNED)
    if asked_for_person is not False:
        return DoNotPublish(reason=Withheld.HANDOFF_REQUESTED)
    if draft is None or _empty(draft):
        return DoNotPublish(reason=Withheld.GENERATION_FAILED)
    if checks is None or not checks.all_exactly_true:
        failed = tuple(Checks.model_fields) if checks is None else checks.failed
        return DoNotPublish(reason=Withheld.CHECKS_FAILED, failed=failed)
    return Publish(reply=CheckedReply(draft=draft, draft_digest=draft.digest))


def _empty(draft: Draft) -> bool:
    """Whether nothing would be said: no words, and no sentence that the ledger will speak."""
    return not any(s.text.strip() or s.source is Source.LEDGER for s in draft.segments)
