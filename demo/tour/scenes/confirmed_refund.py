"""Scene 2: a refund that the customer confirms. Policy asks for consent, and the executor acts once."""

from demo.tour import verdicts
from demo.tour.stage import Scene, Stage


def play(stage: Stage) -> list[str]:
    """Ask for a refund, confirm it, and wait for the outcome."""
    case = stage.refundable()
    chat = stage.chat(case)
    asked = chat.say(f"My order {case.order} arrived damaged. Please refund it.")
    proposal = chat.wait("proposal", asked)
    stage.teller.say("confirms", f"the customer confirms digest {proposal['payload_digest'][:12]}…", "cyan")
    chat.confirm(proposal)
    chat.wait_state(proposal["operation_id"], "confirmed", "rejected")
    return verdicts.refunded_once(stage.close(chat), proposal["operation_id"])


CONFIRMED_REFUND = Scene(
    "A refund that the customer confirms",
    "The assistant proposes, policy asks for the customer's consent, and the refund is made once.",
    "Proposed, confirmed, and made once.",
    play,
)
