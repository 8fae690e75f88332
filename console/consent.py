"""What an approver is told: what would happen and on which facts, what has changed, and who was first.

Pure: made of the dossier alone, which holds what the ledger and the system of record say and nothing else.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from console import payloads
from console.contract import Problem
from console.holdings import Reading, reading
from console.people import People
from console.wording import clock, duration, label, moment

Json = dict[str, Any]
HURRIED_N = 5  # decisions in the last minute from which on a person is told of their pace


@dataclass(frozen=True)
class Change:
    """One fact that is another now."""

    name: str
    before: str
    after: str


def facts_of(facts: Json | None, resource: str, now: datetime) -> Reading | None:
    """Return the facts of a dossier as lines: the resource, then the customer's account."""
    if facts is None:
        return None
    kind = resource.partition(":")[0]
    account: Json = {"profile": facts["profile"]}
    if kind != "account" and facts["resource"] is not None:
        account[f"{kind}s"] = [facts["resource"]]
    return reading({**facts, "account": account}, now)


def differences(before: payloads.Rows, after: payloads.Rows) -> list[Change]:
    """Return the rows that differ, in their order; one that is missing on a side is empty there."""
    old, new = _joined(before), _joined(after)
    names = [*new, *(name for name in old if name not in new)]
    told = [Change(name, old.get(name, ""), new.get(name, "")) for name in names]
    return [change for change in told if change.before != change.after]


def _joined(rows: payloads.Rows) -> dict[str, str]:
    told: dict[str, list[str]] = {}
    for name, value in rows:
        told.setdefault(name, []).append(value)
    return {name: ", ".join(values) for name, values in told.items()}


def payload_changes(dossier: Json) -> list[Change]:
    """Return what is another than in the proposal that this one has replaced."""
    if not dossier["replaces"]:
        return []
    return differences(payloads.rows(dossier["replaces"]["payload"]), payloads.rows(dossier["payload"]))


def fact_changes(dossier: Json, now: datetime) -> list[Change]:
    """Return what of the account is another than when it was proposed."""
    before = facts_of(dossier["facts"], dossier["resource"], now)
    after = facts_of(dossier["facts_now"], dossier["resource"], now)
    return differences(_lines(before), _lines(after)) if before and after else []


def _lines(read: Reading) -> payloads.Rows:
    return [(f"{holding.title}: {name}", value) for holding in read.holdings for name, value in holding.facts]


def open_roles(dossier: Json) -> list[str]:
    """Return the approvals that the reader may give and that are still missing."""
    return [role for role in dossier["yours"]["roles"] if role in dossier["missing"]]


def why_not(dossier: Json, people: People, now: datetime) -> str | None:
    """Return why the reader cannot decide it now; None where they can."""
    claim, yours = dossier["claim"], dossier["yours"]
    if dossier["state"] != "awaiting_approval":
        return "There is nothing to decide on it any more."
    if moment(dossier["expires_at"]) <= now:
        return "The time to approve has run out; it is being rejected."
    if yours["why_not"] == "own_proposal":
        return "You asked for this yourself; somebody else has to decide."
    if yours["decided"]:
        return "You have decided on this. " + _still(dossier)
    if yours["why_not"]:
        return f"Your role does not decide this. {_still(dossier)}"
    if claim and claim["staff"] != people.me:
        return f"{people.name(claim['staff'])} is deciding this, until {clock(claim['until'])} UTC at most."
    return None if open_roles(dossier) else _still(dossier)


def _still(dossier: Json) -> str:
    missing = dossier["missing"]
    who = " and ".join(f"the {label(role)}" for role in missing)
    return f"It still waits for {who}." if missing else "Nothing is missing."


def pace_warning(pace: Json) -> str | None:
    """Return what a person who decides in a hurry is told; None for everybody else."""
    if pace["decided_last_min"] < HURRIED_N:
        return None
    told = f"You have decided {pace['decided_last_min']} in the last minute"
    apart = pace["median_seconds_apart"]
    return told + (f", typically {seconds(apart)} apart." if apart is not None else ".")


def seconds(length: float | None) -> str:
    """Return a short time exactly enough to see haste: `less than 1 s`, `4 s`, `2 min`."""
    if length is None:
        return ""
    return "less than 1 s" if length < 1 else duration(length)


def refused(problem: Problem, dossier: Json, people: People, now: datetime) -> str:
    """Return why a decision was not recorded: who was first and when, or what has changed."""
    reason = problem.told.get("reason")
    if problem.slug == "approval-claimed":
        told = (
            f"{people.name(problem.told['staff'])} is deciding this, until {clock(problem.told['until'])} UTC at most."
        )
    elif first := _first(dossier, people):
        told = first
    elif reason == "digest_changed":
        told = "What you saw is not what it is now. This is how it stands."
    elif reason == "policy_changed":
        told = "Another policy is in force since this was asked for. It is being judged anew, and asked about again."
    elif reason == "evidence_changed":
        told = "The account has changed since this was asked for. It is being judged anew, and asked about again."
    else:
        told = problem.detail
    return f"{told} Nothing was recorded for you."


def _first(dossier: Json, people: People) -> str | None:
    """Who has settled it before, where somebody has."""
    if dossier["cause"] == "superseded":
        return f"It was replaced by another wish at {clock(dossier['history'][-1]['at'])} UTC."
    if dossier["cause"] in {"expired", "withdrawn"}:
        return f"It has {'expired' if dossier['cause'] == 'expired' else 'been called off'} meanwhile."
    others = [one for one in dossier["approvals"] if one["role"] != "customer" and not one["voided_at"]]
    others = [one for one in others if people.name(one["approver"]) != "You"]
    if not others:
        return None
    last = others[-1]
    verb = "approved" if last["decision"] == "approve" else "rejected"
    who = last["name"] or people.name(last["approver"])
    return f"{who} {verb} this as {label(last['role'])} at {clock(last['decided_at'])} UTC, before you."
