"""Scene 1: a question that needs no action. It is answered from the account, and from nothing else."""

from demo.tour import verdicts
from demo.tour.stage import Scene, Stage


def play(stage: Stage) -> list[str]:
    """Ask where an order is."""
    case = stage.order_under_way()
    chat = stage.chat(case)
    asked = chat.say(f"Hi, where is my order {case.order}?")
    chat.wait("bot_reply", asked)
    return verdicts.answered(stage.close(chat), case.order)


ORDER_STATUS = Scene(
    "Where is my order?",
    "A plain question. The answer rests on the account that was just read, and names what it rests on.",
    "Answered from evidence, by one reply.",
    play,
)
