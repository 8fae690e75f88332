"""Scene 7: how something works, asked in Spanish. An article answers, nothing is proposed; then a person is wanted."""

from demo.tour import verdicts
from demo.tour.stage import Scene, Stage


def play(stage: Stage) -> list[str]:
    """Ask how refunds work while a refund would be possible, then for a person."""
    case = stage.refundable()
    chat = stage.chat(case)
    asked = chat.say("Hola, ¿cuánto tarda en llegar un reembolso a mi cuenta?")
    chat.wait("bot_reply", asked)
    wanted = chat.say("Gracias. Prefiero hablarlo con alguien de su equipo.")
    chat.wait("owner_changed", wanted)
    chat.wait("notice", wanted)
    return verdicts.told_from_an_article(stage.close(chat))


A_QUESTION = Scene(
    "A question is no request",
    "How long does a refund take, somebody asks in Spanish: no wish for one. Then they would rather have a person.",
    "Answered from a version of an article, nothing proposed, then handed to a person.",
    play,
)
