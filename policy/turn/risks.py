"""Which marks on a message are a person's to judge, and which only make it more urgent.

Pure; somebody hurt, the law, an account in other hands, personal data and the press are never a machine's business.
"""

from domain.understanding import RiskMark, Understanding

FOR_A_PERSON = frozenset({RiskMark.LEGAL, RiskMark.SAFETY, RiskMark.FRAUD, RiskMark.PRIVACY, RiskMark.PRESS})


def needs_judgement(told: Understanding) -> bool:
    """Return whether a person has to judge what was said; a threatened chargeback and urgency are marks alone."""
    return not FOR_A_PERSON.isdisjoint(told.risks)
