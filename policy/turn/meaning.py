"""Which of the customer's things a wish is about: what is named, or talked about, or the only one that it can be.

Pure; where there is no telling, nothing is meant, and the customer is asked.
"""

from collections.abc import Sequence

from domain.account import Account
from domain.situation import Situation
from domain.step import Answer, AwaitOutcome
from policy.turn.mentions import canonical
from policy.turn.open_actions import outcome_of, standing


def meant_of(
    situation: Situation, account: Account, named: Sequence[str], candidates: Sequence[str], *kinds: str
) -> str | None:
    """Return the one resource that is meant, or None; a correction means another than that of the action it corrects.

    `named` is what the customer names, `candidates` what an unnamed one may be; what was talked about counts where it
    is of one of the `kinds` (`order:` and the like).
    """
    told = situation.understanding
    action = standing(situation) if told.corrects else None
    wrong = action.payload.resource if action else None
    if named:
        others = [r for r in named if r != wrong] or list(named)
        return others[-1] if told.corrects or len(others) == 1 else None
    here = canonical(situation.context.resource, account)
    if here and here.startswith(kinds) and not told.corrects:
        return here
    others = [r for r in candidates if r != wrong]
    return others[0] if len(others) == 1 else None


def waits(situation: Situation) -> AwaitOutcome | Answer | None:
    """Return the wait that a correction of something in flight comes to, or None."""
    action = standing(situation) if situation.understanding.corrects else None
    return outcome_of(action, situation) if action and action.state.in_flight else None
