"""The law of old histories: what a released version has recorded replays on today's code (INVARIANT 10)."""

from pathlib import Path

import pytest

from replaying.chains import read
from replaying.determinism import replay
from replaying.story import tell
from tests.scripted_model.lies import NEVER_SENT
from tests.workflows.golden import HISTORIES, SCENES, SCRIPTS
from tests.workflows.histories import assert_no_personal_text
from tests.workflows.reordered import ReorderedConversation
from tests.workflows.stage import ARTICLE, VAGUE

FILES = sorted(HISTORIES.glob("*.json"))
SAID = ("where is my order", "i want a refund", "hello", "yes, please", "how long does", "and when will", VAGUE)
WRITTEN = (ARTICLE.splitlines()[-1], "has the status", "another order", *NEVER_SENT)


def test_every_scene_has_its_histories() -> None:
    assert {file.name.partition(".")[0] for file in FILES} == set(SCENES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_a_recorded_history_replays_and_holds_only_identifiers(file: Path) -> None:
    chain = read(file)
    assert [r.difference for r in await replay(chain.runs)] == [None] * len(chain.runs)
    assert_no_personal_text(chain.runs, [*SAID, *WRITTEN])


async def test_turns_with_a_model_are_kept_with_their_routes() -> None:
    story = [e.detail for name in SCRIPTS for e in tell(read(HISTORIES / f"{name}.conversation.json").runs)]
    for words in (
        "the small model is to read it first",
        "by the small model (",
        "to be drafted by the small model",
        "handed_off",
    ):
        assert [line for line in story if words in line], words


def test_a_turn_for_review_is_told_as_one() -> None:
    story = [e.detail for e in tell(read(HISTORIES / "draft-for-review.conversation.json").runs)]
    for words in (", for a person to let out", "kept", "a draft waits for a person", "nothing to do"):
        assert [line for line in story if words in line], words


def test_a_continued_and_a_reopened_conversation_are_kept_with_all_their_runs() -> None:
    names = ("continue-as-new", "idle-close-and-reopen")
    continued, reopened = (read(HISTORIES / f"{name}.conversation.json").runs for name in names)
    assert (len(continued), len(reopened)) == (3, 2)


async def test_a_changed_order_of_commands_is_caught_with_the_event_where_it_differs() -> None:
    chain = read(HISTORIES / "order-status.conversation.json")
    (result,) = await replay(chain.runs, [ReorderedConversation])
    assert result.difference is not None
    assert "ondeterminism" in result.difference
    assert result.event_id == 6  # the first command of the first task
