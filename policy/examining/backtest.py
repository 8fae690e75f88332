"""Decisions on record judged again under another bundle, over the facts that were recorded with them.

Pure: a decision goes in, what would have come of it is counted. Nothing is read anew and no clock is asked.
"""

from collections.abc import Iterable, Mapping

from domain.verdict import VerdictKind
from policy.bundle import DEFAULT_DENY, EVALUATION_ERROR, Bundle
from policy.decision import Decision, Outcome
from policy.engine import PolicyEngine
from policy.examining.amounts import amount_of, band_of, thresholds_of
from policy.examining.tally import Example, FlipKey, Rules, Tally
from policy.misfit import misfit_of
from policy.schema import ActionShape, NotUnderstood, shapes_of

DOES_NOT_FIT = "what was recorded does not fit the bundle's schema"

Thresholds = Mapping[str, tuple[int, ...]]


class Judge:
    """Judges recorded requests under one bundle, and tells what it cannot judge."""

    def __init__(self, bundle: Bundle) -> None:
        self._engine = PolicyEngine(bundle)
        try:
            self._shapes: Mapping[str, ActionShape] | None = shapes_of(bundle.schema)
        except NotUnderstood:
            self._shapes = None

    def judge(self, decision: Decision) -> tuple[Outcome, Rules] | str:
        """Return the outcome and the rules that decide it, or why it cannot be judged."""
        verdict = self._engine.judge_request(decision.request, decision.granted)
        if EVALUATION_ERROR in verdict.rule_ids:
            misfit = DOES_NOT_FIT if self._shapes is None else misfit_of(self._shapes, decision.request)
            if misfit is not None:
                return misfit
        return Outcome.of(verdict), verdict.rule_ids

    def causes(self, decision: Decision, then: Outcome, now: Outcome, rules: Rules) -> Rules:
        """Return the rules by which `now` differs from `then`: where more consent is asked for, what asks for it.

        The rules of a verdict that asks are those that would permit; a forbid that the consent of then does not settle
        is the cause.
        """
        if now.kind is not VerdictKind.ASK or then.kind is VerdictKind.FORBID:
            return rules
        enough = then.asked if then.kind is VerdictKind.ASK else decision.granted
        refusing = self._engine.in_the_way(decision.request, enough)
        return rules if not refusing or DEFAULT_DENY in refusing else refusing


class Backtest:
    """Compares what would come of decisions under one bundle with what came of them, or would under another."""

    def __init__(self, under: Bundle, against: Bundle | None, thresholds: Thresholds, examples_max: int) -> None:
        self._under = Judge(under)
        self._against = None if against is None else Judge(against)
        self._thresholds, self._examples_max = thresholds, examples_max

    def tally(self, decisions: Iterable[Decision]) -> Tally:
        """Return what was counted over `decisions`."""
        tally = Tally(self._examples_max)
        for decision in decisions:
            self._count(tally, decision)
        return tally

    def _count(self, tally: Tally, decision: Decision) -> None:
        then = (decision.outcome, decision.rules) if self._against is None else self._against.judge(decision)
        now = self._under.judge(decision)
        if isinstance(then, str) or isinstance(now, str):
            tally.unjudgeable(decision.kind, then if isinstance(then, str) else str(now))
        elif then[0] == now[0]:
            tally.unchanged(by_other_rules=set(then[1]) != set(now[1]))
        else:
            amount, currency = amount_of(decision.request["context"])
            band = band_of(amount, self._thresholds.get(decision.kind, ()))
            told = (decision.tenant_id, decision.n, decision.at, decision.operation_id, decision.use, amount)
            causes = self._under.causes(decision, then[0], now[0], now[1])
            tally.flip(FlipKey(decision.kind, currency, band, then[0], now[0]), then[1], causes, Example(*told))


def thresholds_in(bundles: Iterable[Bundle]) -> dict[str, tuple[int, ...]]:
    """Return the amounts, by action, at which any of the bundles' rules change their mind."""
    found: dict[str, set[int]] = {}
    for bundle in bundles:
        for action in _actions(bundle):
            found.setdefault(action, set()).update(thresholds_of(bundle.rules, action))
    return {action: tuple(sorted(ends)) for action, ends in found.items()}


def _actions(bundle: Bundle) -> Iterable[str]:
    try:
        return shapes_of(bundle.schema)
    except NotUnderstood:  # then amounts are not told apart
        return ()
