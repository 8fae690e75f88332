"""Scene 5: “wrong one, I meant …”. The open proposal is superseded, and can no longer be approved."""

from demo.tour import verdicts
from demo.tour.stage import Scene, Stage


def play(stage: Stage) -> list[str]:
    """Ask for one refund, correct it to another, try the first all the same, and confirm the second."""
    wrong, right = stage.refundable_pair()
    chat = stage.chat(wrong)
    asked = chat.say(f"Refund order {wrong.order} please, it came damaged.")
    first = chat.wait("proposal", asked)
    asked = chat.say(f"Sorry, wrong one. I meant order {right.order}.")
    second = chat.wait("proposal", asked, lambda event: bool(event["operation_id"] != first["operation_id"]))
    late = chat.approve(first)
    stage.teller.say("approves", f"the first proposal after all: the api answers {late.status}", "cyan")
    chat.confirm(second)
    chat.wait_state(second["operation_id"], "confirmed", "rejected")
    return verdicts.corrected(stage.close(chat), first["operation_id"], second["operation_id"], late)


CORRECTION = Scene(
    "Sorry, wrong one",
    "A correction rejects the open proposal. An old button does nothing; only the second is refunded.",
    "The first was superseded, the second made once.",
    play,
)
