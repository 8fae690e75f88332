"""One conversation on stage: the customer speaks and decides, staff take over, and the log is told as it grows.

It acts and records; whether what happened was right is judged in `verdicts`.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from demo.tour.doors import Answer, Json, Stack
from demo.tour.faults import SceneFault
from demo.tour.following import Follower

PATIENCE_S = 25.0
AGENT = "agent-1"

Told = Callable[[Json], None]
Where = Callable[[Json], bool]


def _any(event: Json) -> bool:
    return True


@dataclass
class Chat:
    """A conversation of one customer; every event that is taken from the log is told at once."""

    stack: Stack
    tenant: str
    customer: str
    id: str
    follower: Follower
    told: Told
    events: list[Json] = field(default_factory=list)

    @classmethod
    def begin(cls, stack: Stack, tenant: str, customer: str, told: Told) -> Chat:
        """Begin a conversation, and follow its log as staff do, who see what lies behind each event."""
        answer = stack.api("POST", "/conversations", stack.token("customer", tenant, customer), {})
        if answer.status != 201:
            raise SceneFault(f"POST /conversations was answered {described(answer)}")
        ident = str(answer.body["id"])
        url = f"{stack.ready['api_url']}/conversations/{ident}/events"
        return cls(stack, tenant, customer, ident, Follower(url, stack.token("staff", tenant, AGENT)), told)

    def post(self, text: str, client_message_id: str | None = None, **more: object) -> Answer:
        """Post one message as the customer and return the answer."""
        body = {"client_message_id": client_message_id or str(uuid.uuid4()), "text": text, **more}
        return self.stack.api("POST", f"/conversations/{self.id}/messages", self._own_token(), body)

    def say(self, text: str) -> int:
        """Post one message and return its seq. Raises SceneFault where it is not taken."""
        answer = self.post(text)
        if answer.status != 202:
            raise SceneFault(f"the message was answered {described(answer)}")
        return int(answer.body["seq"])

    def approve(self, proposal: Json) -> Answer:
        """Confirm a proposal as the customer, naming the digest of exactly what was shown."""
        body = {"payload_digest": proposal["payload_digest"], "decision": "approve"}
        return self.stack.api("POST", f"/actions/{proposal['operation_id']}/approvals", self._own_token(), body)

    def confirm(self, proposal: Json) -> None:
        """Confirm a proposal. Raises SceneFault where the confirmation is not taken."""
        answer = self.approve(proposal)
        if answer.status != 200:
            raise SceneFault(f"the confirmation was answered {described(answer)}")

    def take_over(self) -> Json:
        """Take the conversation over as a member of staff and return the answer. Raises SceneFault."""
        token = self.stack.token("staff", self.tenant, AGENT)
        answer = self.stack.api("POST", f"/conversations/{self.id}/takeover", token, {"request_id": str(uuid.uuid4())})
        if answer.status != 200:
            raise SceneFault(f"the takeover was answered {described(answer)}")
        return answer.body

    def wait(self, kind: str, after: int = 0, where: Where = _any, patience_s: float = PATIENCE_S) -> Json:
        """Return the first event of `kind` past seq `after` for which `where` holds. Raises SceneFault."""
        deadline, looked = time.monotonic() + patience_s, 0
        while True:
            for event in self.events[looked:]:
                if event["kind"] == kind and event["seq"] > after and where(event):
                    return event
            looked = len(self.events)
            if time.monotonic() > deadline:
                raise SceneFault(f"no {kind} came within {patience_s:g} s")
            self._take(min(0.5, deadline - time.monotonic()))

    def wait_state(self, operation_id: str, *states: str) -> str:
        """Return the first of `states` that the log tells of an action. Raises SceneFault."""

        def mine(event: Json) -> bool:
            return event["operation_id"] == operation_id and event["state"] in states

        return str(self.wait("action_state", where=mine)["state"])

    def listen(self, seconds: float) -> None:
        """Take whatever comes within `seconds`."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._take(until - time.monotonic())

    def action(self, operation_id: str) -> Json:
        """Return an action of the ledger, as its customer sees it. Raises SceneFault."""
        answer = self.stack.api("GET", f"/actions/{operation_id}", self._own_token())
        if answer.status != 200:
            raise SceneFault(f"GET /actions was answered {described(answer)}")
        return answer.body

    def operations(self) -> list[str]:
        """Return the operation ids that were proposed, in order, each once."""
        return list(dict.fromkeys(e["operation_id"] for e in self.events if e["kind"] == "proposal"))

    def version(self) -> int:
        """Return the version of the conversation now."""
        return int(self.stack.api("GET", f"/conversations/{self.id}", self._own_token()).body["version"])

    def _take(self, patience_s: float) -> None:
        event = self.follower.take(patience_s)
        if event is not None:
            self.events.append(event)
            self.told(event)

    def _own_token(self) -> str:
        return self.stack.token("customer", self.tenant, self.customer)


def described(answer: Answer) -> str:
    """Return a status and, where a problem document came with it, what that is about."""
    slug = str(answer.body.get("type", "")).rpartition("/")[2]
    return " ".join(filter(None, (str(answer.status), slug, str(answer.body.get("detail", "")))))
