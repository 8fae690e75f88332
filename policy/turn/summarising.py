"""What a conversation comes to, folded turn by turn: goals, constraints, questions, corrections, each with its event.

Pure; amounts, approvals and statuses never get in, so that a summary cannot contradict the ledger.
"""

from collections.abc import Sequence
from functools import reduce

from domain.account import OWN_ACCOUNT
from domain.errand import Considered
from domain.step import HandOff, Withdraw
from domain.summary import Constraint, Correction, Goal, OpenQuestion, Summary, TurnNote
from domain.understanding import Intent, Need, TurnContext
from policy.turn.needs import one_matter

SUMMARY_EVERY = 4  # turns
KEPT_MAX = 10  # of each kind of part, the newest
NAMED_MAX = 20  # resources, the oldest: "the first one that I mentioned" stays


def summarise(summary: Summary, notes: Sequence[TurnNote]) -> Summary:
    """Return the summary of everything up to and with the last of `notes`, which come oldest first."""
    return reduce(_with, (n for n in notes if n.seq > summary.through_seq), summary)


def note_of(considered: Considered) -> TurnNote | None:
    """Return what a considered turn comes to, or None where nothing was decided."""
    step, told = considered.step, considered.understood
    if step is None or told is None:
        return None
    question = getattr(step, "question", None)
    return TurnNote(
        seq=considered.through_seq,
        intent=considered.meant or told.intent,
        resource=getattr(step, "resource", None),
        question=question.value if question else None,
        corrects=told.corrects,
        withdraws=isinstance(step, Withdraw),
        waiting=considered.waiting,
        named=considered.named,
    )


def summary_due(summary: Summary, since: Sequence[TurnNote], considered: Considered) -> Summary | None:
    """Return the summary to keep with this turn: at every `SUMMARY_EVERY`th and when a person takes over."""
    note = note_of(considered)
    if note is None:
        return None
    notes = [*(n for n in since if n.seq > summary.through_seq), note]
    due = len(notes) >= SUMMARY_EVERY or isinstance(considered.step, HandOff)
    return summarise(summary, notes) if due else None


def recalled(context: TurnContext, summary: Summary, since: Sequence[TurnNote]) -> TurnContext:
    """Return the context of a turn with what lies further back: the last goal, and what was spoken of, in order."""
    told = summarise(summary, since)
    goal = told.goals[-1] if told.goals else None
    last = Need(intent=goal.intent, resource=goal.resource) if goal else None
    return context.model_copy(update={"goal": last, "named": told.named})


def _with(before: Summary, note: TurnNote) -> Summary:
    spoken_of = (*before.named, *note.named, *((note.resource,) if note.resource not in (None, OWN_ACCOUNT) else ()))
    told = tuple(dict.fromkeys(spoken_of))
    present = before.goals[-1] if before.goals else None
    return Summary(
        through_seq=note.seq,
        goals=_goals(before, note)[-KEPT_MAX:],
        waiting=_waiting(before, note)[-KEPT_MAX:],
        constraints=_constraints(before, note, present)[-KEPT_MAX:],
        open_questions=_questions(before, note)[-KEPT_MAX:],
        corrections=_corrections(before, note, present)[-KEPT_MAX:],
        named=told[:NAMED_MAX],
    )


def _goals(before: Summary, note: TurnNote) -> tuple[Goal, ...]:
    """With the present one last; one that is taken back is gone, and one that is corrected is in its new form."""
    if note.withdraws:
        return before.goals[:-1]
    if not _is_goal(note.intent):
        return before.goals
    now = Goal(intent=note.intent, resource=note.resource, seq=note.seq)
    present = before.goals[-1] if before.goals else None
    if present is None:
        return (now,)
    if one_matter(_need(present), _need(now)):  # the same, told with more
        more = present.model_copy(update={"intent": now.intent, "resource": now.resource or present.resource})
        return (*before.goals[:-1], more)
    return (*(before.goals[:-1] if _replaces(note, present) else before.goals), now)


def _waiting(before: Summary, note: TurnNote) -> tuple[Goal, ...]:
    """What still waits, each with the event in which it was first said."""
    said = {(g.intent, g.resource): g.seq for g in before.waiting}
    return tuple(
        Goal(intent=n.intent, resource=n.resource, seq=said.get((n.intent, n.resource), note.seq)) for n in note.waiting
    )


def _constraints(before: Summary, note: TurnNote, present: Goal | None) -> tuple[Constraint, ...]:
    """`not:RESOURCE` for what the customer has taken back; coming back to it lifts that."""
    kept = tuple(c for c in before.constraints if c.label != f"not:{note.resource}")
    if present is None or present.resource is None or not (note.withdraws or _replaces(note, present)):
        return kept
    label = f"not:{present.resource}"
    return (*(c for c in kept if c.label != label), Constraint(label=label, seq=note.seq))


def _corrections(before: Summary, note: TurnNote, present: Goal | None) -> tuple[Correction, ...]:
    was = present.resource if present else None
    if note.withdraws and was:
        return (*before.corrections, Correction(was=was, now=None, seq=note.seq))
    if present is None or not _replaces(note, present):
        return before.corrections
    return (*before.corrections, Correction(was=was, now=note.resource, seq=note.seq))


def _questions(before: Summary, note: TurnNote) -> tuple[OpenQuestion, ...]:
    """The question of the last turn that asked one, until a need is met or taken back; small talk answers nothing."""
    if note.question is not None:
        return (OpenQuestion(question=note.question, resource=note.resource, seq=note.seq),)
    return () if note.withdraws or _is_goal(note.intent) or note.intent is Intent.REFUSAL else before.open_questions


def _replaces(note: TurnNote, present: Goal) -> bool:
    """Whether the turn puts something else in the place of the present goal's resource."""
    return note.corrects and note.resource is not None and note.resource != present.resource


def _is_goal(intent: Intent) -> bool:
    return intent.is_need and intent is not Intent.ACTION_STATUS


def _need(goal: Goal) -> Need:
    return Need(intent=goal.intent, resource=goal.resource)
