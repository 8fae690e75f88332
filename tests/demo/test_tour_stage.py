"""Laws of the stage: every scene is played between two clearings of the faults, and a failing one stops no other."""

import io
from collections.abc import Callable
from typing import cast

import pytest
from rich.console import Console

from demo.tour.doors import Answer, Json, Stack
from demo.tour.faults import CannotPlay, SceneFault
from demo.tour.stage import Scene, Stage, play_all
from demo.tour.teller import WIDTH, Teller
from tests.demo.tour_records import customer, order, world

REFUND = {"operation": "refund", "mode": "reject", "times": 1}
LOOK_UP = {"operation": "look_up", "mode": "unavailable", "operation_id": "op-1"}


class PaperStack:
    """A shop with faults and a world, and an api where something waits on one order."""

    def __init__(self) -> None:
        self.faults: list[Json] = [REFUND, LOOK_UP]

    def shop(self, method: str, path: str, body: Json | None = None) -> Json:
        match method, path:
            case "DELETE", "/_faults":
                self.faults = []
            case "POST", "/_faults" if body:
                self.faults.append(body)
            case "GET", "/_world":
                return world(customer("c1", order("A-1"), order("A-2")))
            case _:
                pass
        return {"faults": list(self.faults)}

    def api(self, method: str, path: str, token: str, body: Json | None = None) -> Answer:
        items = {"/approvals": [{"operation_id": "op-1"}], "/queue": [{"handoff_id": "h-1", "operation_id": None}]}
        return Answer(200, {"items": items[path]} if path in items else {"payload": {"order_id": "A-1"}})

    def token(self, kind: str, tenant: str, ident: str) -> str:
        return f"{kind}:{ident}"


def staged() -> tuple[Stage, PaperStack, io.StringIO]:
    stack, sheet = PaperStack(), io.StringIO()
    return Stage(cast("Stack", stack), Teller(Console(file=sheet, width=WIDTH))), stack, sheet


def scene(title: str, play: Callable[[Stage], list[str]]) -> Scene:
    return Scene(title, "A premise.", "It went well.", play)


def goes_wrong(stage: Stage) -> list[str]:
    raise SceneFault("nothing came")


def goes_well(stage: Stage) -> list[str]:
    return []


def finds_another_shape(stage: Stage) -> list[str]:
    return [Answer(200, {}).body["items"]]


def test_a_scene_that_fails_says_why_and_the_next_one_is_played() -> None:
    stage, _, sheet = staged()
    outcomes = play_all(stage, [scene("First", goes_wrong), scene("Second", goes_well)])
    assert [each.wrong for each in outcomes] == [["nothing came"], []]
    assert "✘           nothing came" in sheet.getvalue()
    assert "✔           It went well." in sheet.getvalue()


def test_an_answer_of_another_shape_fails_its_scene_alone() -> None:
    stage, _, _ = staged()
    outcomes = play_all(stage, [scene("First", finds_another_shape), scene("Second", goes_well)])
    assert "not the shape" in outcomes[0].wrong[0]
    assert outcomes[1].wrong == []


def test_faults_are_cleared_before_and_after_a_scene_but_for_the_look_ups_of_the_demos_past() -> None:
    stage, stack, _ = staged()
    seen: list[list[Json]] = []

    def arms_a_fault(stage: Stage) -> list[str]:
        seen.append(list(stack.faults))
        stage.fault("reject")
        raise SceneFault("in the middle")

    play_all(stage, [scene("First", arms_a_fault)])
    assert seen == [[LOOK_UP]]
    assert stack.faults == [LOOK_UP]


def test_a_stack_that_has_gone_ends_the_tour() -> None:
    def loses_the_stack(stage: Stage) -> list[str]:
        raise CannotPlay("the api does not answer")

    stage, _, _ = staged()
    with pytest.raises(CannotPlay):
        play_all(stage, [scene("First", loses_the_stack), scene("Second", goes_well)])


def test_an_order_on_which_something_waits_is_not_cast() -> None:
    stage, _, _ = staged()
    assert stage.refundable().order == "A-2"
