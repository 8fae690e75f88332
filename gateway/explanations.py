"""What every problem means and what to do about it: one table, from which the pages at /problems/SLUG are made.

A test keeps it complete: each refusal of the domain and of the gateway has its row here.
"""

from dataclasses import dataclass
from html import escape
from itertools import chain

from starlette.responses import HTMLResponse

from domain.refusal import Refusal
from gateway.html import page, text


@dataclass(frozen=True)
class Explanation:
    """What went wrong, and what would be right."""

    wrong: str
    right: str


EXPLANATIONS: dict[str, Explanation] = {
    "refused": Explanation(
        "The request was understood and is not possible as things stand.",
        "Read `detail`, look at the object again, and send what fits it now.",
    ),
    "unauthenticated": Explanation(
        "There was no bearer token, or it is expired, not yet valid, made for somebody else, signed by a "
        "key that is not known here, or it belongs to a person who no longer works here.",
        "Get a new token from your issuer and send it as `Authorization: Bearer TOKEN`. Identity is taken "
        "from nowhere else. If a new token is refused too, ask whoever runs this service.",
    ),
    "bad-signature": Explanation(
        "The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` are not all there, or do not sign this "
        "body with the organisation's secret, or are more than 5 minutes from now; or there is no such organisation, "
        "or it has no secret for this.",
        "Sign `webhook-id.webhook-timestamp.body` by Standard Webhooks with the secret that `interlock secret set` "
        "keeps, over exactly the bytes that are sent, and look at the clock of the sender.",
    ),
    "customer-blocked": Explanation(
        "The organisation has blocked this customer account, so that nothing can be read or sent with it.",
        "A token will not help. Write to the organisation by another way, or, as staff, lift the block first.",
    ),
    "forbidden": Explanation(
        "You may see this, and your kind of account may not do it: taking over, releasing, replying, the "
        "queue, the list of approvals and handoff bundles are for staff; writing as the customer is for the"
        " customer. Or the policy in force does not let your role do it; `detail` says what, and for which role.",
        "Use a token of the right kind. Roles are looked up at every request, so that a new role counts at once.",
    ),
    "not-found": Explanation(
        "There is no such thing, or not for you: what a principal may not see does not exist for it.",
        "Check the id, and that the token is of the tenant and customer that it belongs to.",
    ),
    "method-not-allowed": Explanation(
        "The address exists, and does not take this method.",
        "The header `Allow` of the answer lists the methods that it takes.",
    ),
    "malformed-json": Explanation(
        "The body is not JSON: a bracket too few, a stray comma, not UTF-8, or nested without end.",
        "Send one JSON object in UTF-8. No part of what was sent is repeated in the answer.",
    ),
    "invalid-request": Explanation(
        "The body, the query or a header is not what this request takes: a field is missing, unknown, of "
        "another type, empty or too long, or a text holds a NUL character or half of a surrogate pair.",
        "`errors` lists each field with what is wrong. Fields that are not known are refused rather than "
        "ignored, so that a misspelt one does not go unnoticed. The reference says what every request "
        "takes.",
    ),
    "unsupported-media-type": Explanation(
        "The body was sent as something other than JSON in UTF-8.",
        "Send `Content-Type: application/json`.",
    ),
    "request-timeout": Explanation(
        "The connection was open for a long time, and the body of the request had still not come. Nothing was stored.",
        "Send the same again, over a better connection, with the same ids.",
    ),
    "body-too-large": Explanation(
        "The body has more bytes than are ever read here; it was not stored.",
        "Shorten it, or send several messages. `limit_bytes` is the most that is taken.",
    ),
    "rate-limited": Explanation(
        "This account, or all of its organisation together, sends faster than it may. Nothing was stored.",
        "Wait for the seconds in `Retry-After`, then send the same again. One organisation's rate never "
        "uses up another's.",
    ),
    "queue-full": Explanation(
        "More messages wait for an answer in this conversation than it can hold. This one was not stored.",
        "Wait for the seconds in `Retry-After`, then send the same again; its `client_message_id` keeps it "
        "from doubling.",
    ),
    "too-many-streams": Explanation(
        "This account holds as many event streams as it may, or this server holds as many as it can.",
        "Close the streams that are no longer read, or read the events with `?after=` instead; try again "
        "after `Retry-After`.",
    ),
    "bad-idempotency-key": Explanation(
        "The header `Idempotency-Key` is empty, longer than 255 characters, or holds something other than "
        "printable ASCII.",
        "Send a fresh random value, such as a UUID, for each new request, and the same one for each repeat.",
    ),
    "idempotency-conflict": Explanation(
        "This `Idempotency-Key` was used for another path or another body before. Keys are kept for at least 24 hours.",
        "Repeat the very same request, or use a new key for a new one.",
    ),
    "idempotency-in-progress": Explanation(
        "The first request under this `Idempotency-Key` is still being worked on.",
        "Wait for the seconds in `Retry-After` and repeat: the first answer will be there.",
    ),
    "message-conflict": Explanation(
        "A message with this `client_message_id` is in the log already, with other words.",
        "Use one new id for each new message. The same id with the same text is a repeat, and gets the first answer.",
    ),
    "version-conflict": Explanation(
        "The message was meant for an older version of the conversation than the one that there is.",
        "`current_version` is the version now. Read the events after yours, then decide whether to send it still.",
    ),
    "request-conflict": Explanation(
        "This `request_id` was used for another request in this conversation.",
        "Use a new `request_id` for each takeover, release, handoff and action; repeat it only to repeat the request.",
    ),
    "approval-stale": Explanation(
        "What would be approved is not what the action says now, was decided already, or no longer waits "
        "for an approval; or policy or evidence have changed since it was asked for. Nothing was approved.",
        "`reason` says which: `digest_changed`, `expired`, `already_decided`, `not_waiting`, `policy_changed`, "
        "`evidence_changed` or `consumed`. Read the action again, and decide on what it says now. After a change of "
        "policy or evidence it is judged again at once; what is still needed is asked for by a new `proposal`.",
    ),
    "approval-not-allowed": Explanation(
        "This approval is for another role, or for somebody other than whoever proposed the action, or it cannot be "
        "given in a batch.",
        "`reason` says which: `wrong_role` (the action does not need what you could give), `not_entitled` (the policy "
        "in force does not let your role give it), `own_proposal`, `not_alike` or `not_low_risk` (of a batch, of which "
        "nothing was decided). `required_approvals` of the action says whose consent it needs.",
    ),
    "approval-claimed": Explanation(
        "Somebody else of the staff is deciding this approval at the moment. Nothing was decided.",
        "`staff` says who, and `until` how long at most. Talk to them, or come back when it is free.",
    ),
    "draft-stale": Explanation(
        "The draft was decided already, or its moment has passed: the customer wrote again, the conversation changed "
        "hands, or the facts in it are too old or have changed. Nothing was sent.",
        "`reason` says which: `decided` (`staff` says by whom, `state` how), `newer_message`, `owner_changed`, "
        "`answered`, `facts_old`, `facts_changed` or `renewed`. Where the assistant still has the conversation, a new "
        "draft is made at once: read that one.",
    ),
    "handoff-claimed": Explanation(
        "Somebody else of the staff is about to take this handoff, or has taken the conversation over already. "
        "Nothing was changed.",
        "`staff` says who, and `until` how long at most. Talk to them, or take the conversation over: a claim keeps "
        "nobody from that.",
    ),
    "not-proposable": Explanation(
        "The action does not fit the customer's account as it is now: it names an order, item, payment method, "
        "address or plan that is not the customer's, or lacks what an action of its kind needs.",
        "`detail` says which. Read the account again, and name what is in it.",
    ),
    "bundle-unfit": Explanation(
        "This policy bundle does not load, is not for this organisation, or has a case that comes out otherwise than "
        "it says. Nothing was published.",
        "`file` and `line` say where, `wrong` what it is and `right` what would be right; `cases` are the cases that "
        "come out otherwise. `interlock policy validate` says the same, before you publish.",
    ),
    "policy-forbids": Explanation(
        "Policy forbids this action, whoever consents to it. It stands in the ledger as denied; nothing was changed.",
        "`rules` names the rules that forbid it; the policy page says each in plain words. Propose what they allow.",
    ),
    "action-in-flight": Explanation(
        "An action on the same thing may have been sent, and its outcome is not known yet.",
        "Wait until `operation_id` is confirmed or rejected; its outcome appears among the events. Then propose again.",
    ),
    "not-owned": Explanation(
        "A person has to hold the conversation for this, and, to release it, that person has to be you, at "
        "the epoch named.",
        "`owner` and `owner_epoch` say how it stands. Take the conversation over first.",
    ),
    "unavailable": Explanation(
        "Something that this request needs does not answer at the moment. Nothing that was accepted before is lost.",
        "Send the same again after the seconds in `Retry-After`, with the same ids: they keep it from being"
        " done twice.",
    ),
    "defect": Explanation(
        "The service made a mistake; the request is not at fault.",
        "Try again once. If it stays, give `request_id` to whoever runs this service: it finds the fault in the log.",
    ),
}


def known_refusals(kind: type[Refusal] = Refusal) -> dict[str, type[Refusal]]:
    """Return every kind of refusal by its slug."""
    return {kind.slug: kind} | dict(chain.from_iterable(known_refusals(k).items() for k in kind.__subclasses__()))


def problem_page(slug: str) -> HTMLResponse | None:
    """Return the page that explains a problem, or None where there is no such problem."""
    told, kind = EXPLANATIONS.get(slug), known_refusals().get(slug)
    if told is None or kind is None:
        return None
    body = (
        f"<h1>{escape(kind.title)}</h1><p class=status>HTTP {kind.status} · <code>{escape(slug)}</code></p>"
        f"<h2>What went wrong</h2><p>{text(told.wrong)}</p><h2>What would be right</h2><p>{text(told.right)}</p>"
    )
    return page(f"{kind.title} · Interlock", body)
