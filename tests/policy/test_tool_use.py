"""Laws of reading before writing: from a list, so many times, nothing twice, and after a refusal nothing at all."""

from hypothesis import given
from hypothesis import strategies as st

from domain.model_draft import Read, Wish
from policy.reply.tool_use import STEPS_MAX, Ruling, ToolUse

WISHES = st.builds(
    Wish, read=st.sampled_from(list(Read)), about=st.sampled_from(["A-1", " a-1 ", "A-2", "x", "y", "z"])
)


@given(st.lists(WISHES, max_size=12), st.sets(st.sampled_from(list(Read))))
def test_whatever_is_wished_for_only_so_much_is_read_and_nothing_twice(wishes: list[Wish], allowed: set[Read]) -> None:
    use, read, refused = ToolUse(allowed=frozenset(allowed)), [], False
    for wish in wishes:
        ruling, use = use.ruling(wish), use.after(wish)
        if ruling is Ruling.READ:
            assert not refused
            read.append((wish.read, wish.about.strip().casefold()))
        refused = refused or ruling is not Ruling.READ
    assert len(read) == len(set(read)) <= STEPS_MAX
    assert {kind for kind, _ in read} <= allowed
    assert use.over is refused
    assert use.steps == len(read)


def test_the_same_in_other_letters_is_the_same() -> None:
    use = ToolUse(allowed=frozenset(Read)).after(Wish(read=Read.READ_ORDER, about="A-1"))
    assert use.ruling(Wish(read=Read.READ_ORDER, about=" a-1")) is Ruling.ASKED_BEFORE
    assert use.ruling(Wish(read=Read.SEARCH_ARTICLES, about="A-1")) is Ruling.READ
