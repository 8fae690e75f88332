"""Scene 6: one customer in two tabs. A repeat is no second message, and a tab that is behind hears so."""

from demo.tour import verdicts
from demo.tour.chat import Chat, described
from demo.tour.doors import Answer
from demo.tour.stage import Scene, Stage

MESSAGE_ID = "from-both-tabs"


def play(stage: Stage) -> list[str]:
    """Send one message from both tabs, then another from the tab that has not read on."""
    case = stage.order_under_way()
    chat = stage.chat(case)
    text = f"Where is my order {case.order}?"
    first = _tab(stage, "A", "sends", chat.post(text, MESSAGE_ID))
    again = _tab(stage, "B", "sends the same, under the same client_message_id", chat.post(text, MESSAGE_ID))
    chat.wait("bot_reply")
    stale, anew = _behind(stage, chat, int(first.body["seq"]))
    if anew.status == 202:
        chat.wait("bot_reply", int(anew.body["seq"]))
    return verdicts.one_log_for_two_tabs(stage.close(chat), first, again, stale, anew)


def _behind(stage: Stage, chat: Chat, seen: int) -> tuple[Answer, Answer]:
    """Have tab B write as of the version that it has seen, and once more after reading on."""
    said = _tab(stage, "B", f"writes as of version {seen}", chat.post("Thanks!", expected_conversation_version=seen))
    now = chat.version()
    anew = chat.post("Thanks!", expected_conversation_version=now)
    return said, _tab(stage, "B", f"reads on, and writes as of version {now}", anew)


def _tab(stage: Stage, tab: str, does: str, answer: Answer) -> Answer:
    seq = f", seq {answer.body['seq']}" if "seq" in answer.body else ""
    again = ", a duplicate" if answer.body.get("duplicate") else ""
    stage.teller.say(f"tab {tab}", f"{does}: {described(answer)}{seq}{again}", "cyan")
    return answer


TWO_TABS = Scene(
    "Two tabs",
    "The same message from two tabs is one message. A tab that is behind is told the version now.",
    "One message, one refusal, one log.",
    play,
)
