"""Scene 3: the shop commits a refund and its answer is lost. Nobody guesses: it is unknown, then looked up."""

from demo.tour import verdicts
from demo.tour.stage import Scene, Stage


def play(stage: Stage) -> list[str]:
    """Have the answer to a refund cut off, and wait until the outcome is known."""
    case = stage.refundable()
    chat = stage.chat(case)
    asked = chat.say(f"Order {case.order} came broken, I would like my money back.")
    proposal = chat.wait("proposal", asked)
    stage.fault("drop_response_after_commit")
    stage.teller.say("confirms", "the customer confirms; the shop will commit, and its answer will be lost", "cyan")
    chat.confirm(proposal)
    chat.wait_state(proposal["operation_id"], "unknown")
    chat.wait_state(proposal["operation_id"], "confirmed", "rejected")
    return verdicts.settled_from_unknown(stage.close(chat), proposal["operation_id"])


LOST_RESPONSE = Scene(
    "An answer that is lost after the commit",
    "A lost answer is neither success nor failure. The refund is unknown until the shop is asked.",
    "Unknown, looked up, settled: one effect.",
    play,
)
