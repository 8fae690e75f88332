"""The stage: plays scenes one after the other, each between two clearings of the shop's faults.

A scene that fails is told as such, and the next one is played.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from demo.tour import casting, lines
from demo.tour.casting import Case, Cast
from demo.tour.chat import AGENT, Chat
from demo.tour.doors import Json, Stack
from demo.tour.faults import SceneFault
from demo.tour.teller import Outcome, Teller
from demo.tour.verdicts import Record

READING_PAUSE_S = 1.2
ARRIVAL_S_MAX = 15.0
WRITE, LOOK_UP = "refund", "look_up"


@dataclass
class Stage:
    """What a scene has at hand."""

    stack: Stack
    teller: Teller
    fast: bool = False
    cast: Cast = field(default_factory=Cast)

    def order_under_way(self) -> Case:
        """Return an order that is on its way."""
        return self.cast.shipped(self.stack.shop("GET", "/_world"))

    def refundable(self) -> Case:
        """Return a delivered order for a small refund."""
        world = self.stack.shop("GET", "/_world")
        return self.cast.refundable(world, self._busy(world))

    def refundable_pair(self) -> tuple[Case, Case]:
        """Return two of them, of one customer."""
        world = self.stack.shop("GET", "/_world")
        return self.cast.refundable_pair(world, self._busy(world))

    def chat(self, case: Case) -> Chat:
        """Begin a conversation of the case's customer."""
        self.teller.say("who", lines.of_case(case))
        return Chat.begin(self.stack, case.tenant, case.customer, self.teller.event)

    def fault(self, mode: str) -> None:
        """Have the shop's next refund go wrong in one way."""
        self.stack.shop("POST", "/_faults", {"operation": WRITE, "mode": mode, "times": 1})
        self.teller.say("fault", f"the shop's next refund meets {mode}", "yellow")

    def until_the_fault_is_met(self) -> None:
        """Return once a refund has reached the shop and met its fault. Raises SceneFault where none comes."""
        deadline = time.monotonic() + ARRIVAL_S_MAX
        while any(fault["operation"] == WRITE for fault in self._faults()):
            if time.monotonic() > deadline:
                raise SceneFault(f"no refund reached the shop within {ARRIVAL_S_MAX:g} s")
            time.sleep(0.05)

    def clear_faults(self) -> None:
        """Have the shop behave; look-ups that the demo's own past keeps from working stay as they are."""
        kept = [fault for fault in self._faults() if fault["operation"] == LOOK_UP]
        self.stack.shop("DELETE", "/_faults")
        for fault in kept:
            self.stack.shop("POST", "/_faults", fault)

    def close(self, chat: Chat) -> Record:
        """Tell ledger, effects and links of a conversation, and return all that was seen of it."""
        operations = chat.operations()
        actions = {ident: chat.action(ident) for ident in operations}
        effects = [e for e in self.stack.shop("GET", "/_effects")["effects"] if e["operation_id"] in operations]
        for action in actions.values():
            self.teller.ledger(action)
        self.teller.effects(effects)
        self.teller.link("workflow", self.stack.workflow_link(f"conversation/{chat.id}"))
        for ident in operations:
            self.teller.link("action", self.stack.workflow_link(ident))
        chat.follower.close()
        return Record(tuple(chat.events), actions, effects)

    def _busy(self, world: Json) -> set[str]:
        """Return the orders on which something waits or is unknown already, as the tenants' staff see it."""
        busy: set[str] = set()
        for tenant in casting.tenants(world):
            token = self.stack.token("staff", tenant, AGENT)
            waiting = [item["operation_id"] for item in self._items("/approvals", token)]
            waiting += [item["operation_id"] for item in self._items("/queue", token) if item.get("operation_id")]
            for operation_id in waiting:
                action = self.stack.api("GET", f"/actions/{operation_id}", token).body
                busy.add(str(action.get("payload", {}).get("order_id")))
        return busy

    def _faults(self) -> list[Json]:
        return list(self.stack.shop("GET", "/_faults")["faults"])

    def _items(self, path: str, token: str) -> list[Json]:
        return list(self.stack.api("GET", path, token).body.get("items", ()))


@dataclass(frozen=True)
class Scene:
    """One scene: what it is about, how it is played, and what it shows when it ends as it should."""

    title: str
    premise: str
    moral: str
    play: Callable[[Stage], list[str]]


def play_all(stage: Stage, scenes: Sequence[Scene]) -> list[Outcome]:
    """Play the scenes in order and return how each ended. Raises CannotPlay where the stack has gone."""
    outcomes = []
    for number, scene in enumerate(scenes, 1):
        stage.teller.heading(number, len(scenes), scene.title, scene.premise)
        outcomes.append(_play(stage, scene))
        stage.teller.outcome(outcomes[-1])
        if stage.teller.to_a_person and not stage.fast and number < len(scenes):
            time.sleep(READING_PAUSE_S)
    return outcomes


def _play(stage: Stage, scene: Scene) -> Outcome:
    began = time.monotonic()
    stage.clear_faults()
    try:
        wrong = scene.play(stage)
    except SceneFault as fault:
        wrong = [str(fault)]
    except (KeyError, TypeError) as error:
        wrong = [f"an answer has not the shape that the contract gives it: {type(error).__name__} {error}"]
    finally:
        stage.clear_faults()
    return Outcome(scene.title, wrong, time.monotonic() - began, scene.moral)
