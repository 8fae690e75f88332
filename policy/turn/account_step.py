"""The branch for a customer who cannot sign in: a verified reset where the account is locked, else what may be done.

Pure; nobody is let in by what is said in a chat, the reset is finished at an address that was verified before.
"""

from domain.account import OWN_ACCOUNT, Account
from domain.action import ActionKind
from domain.situation import Situation
from domain.step import Answer, Propose, Step, Topic
from policy.turn.meaning import waits
from policy.turn.open_actions import settle

LOCKED = "locked"


def restore_access(situation: Situation, account: Account) -> Step:
    """Return the proposal of a reset, where the account is locked and has a verified address; else the answer."""
    if waiting := waits(situation):
        return waiting
    profile = account.profile
    if profile is None or profile.access != LOCKED or not profile.email_verified:
        return Answer(topic=Topic.ACCOUNT_ACCESS)
    wish = Propose(kind=ActionKind.RESTORE_ACCOUNT_ACCESS, resource=OWN_ACCOUNT)
    return settle(wish, situation, account, clear=True)
