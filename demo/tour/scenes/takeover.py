"""Scene 4: a person takes over while a refund is being written. The bot falls silent; the outcome still appears."""

from demo.tour import verdicts
from demo.tour.stage import Scene, Stage

DELAY_MS, FAST_DELAY_MS = 4_000, 2_500
SILENCE_S = 1.5


def play(stage: Stage) -> list[str]:
    """Delay the write, take over in the middle of it, ask on, and listen."""
    case = stage.refundable()
    chat = stage.chat(case)
    asked = chat.say(f"My order {case.order} arrived damaged. Please refund it.")
    proposal = chat.wait("proposal", asked)
    operation_id = proposal["operation_id"]
    stage.fault(f"delay_ms:{FAST_DELAY_MS if stage.fast else DELAY_MS}")
    chat.confirm(proposal)
    chat.wait_state(operation_id, "submitted")
    stage.until_the_fault_is_met()  # before that, a takeover would still withdraw it
    stage.teller.say("takeover", "agent-1 takes the conversation while the refund is on its way", "red")
    takeover = chat.take_over()
    chat.wait("owner_changed")
    chat.say("Is it done? And please refund my other orders too!")
    chat.wait_state(operation_id, "confirmed", "rejected")
    chat.listen(SILENCE_S)
    return verdicts.silent_after_takeover(stage.close(chat), operation_id, takeover)


TAKEOVER = Scene(
    "A takeover while a refund is written",
    "A person takes over at any instant. What was sent before is still established, and shown.",
    "The bot fell silent; the outcome appeared.",
    play,
)
