"""Laws of what a process remembers of its steps: bounded, and nobody is given or loses anything for another tenant."""

from hypothesis import given
from hypothesis import strategies as st

from activities.keeping import Kept

MOVES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 6).map(str), st.integers()), max_size=40)


@given(MOVES)
def test_a_tenant_gets_its_own_latest_and_no_more_than_so_many(moves: list[tuple[str, str, int]]) -> None:
    kept: Kept[int] = Kept(per_tenant_max=3)
    for tenant, key, value in moves:
        kept.keep(tenant, key, value)
    for tenant in "ab":
        mine = {key: value for whose, key, value in moves if whose == tenant}
        last = list(dict.fromkeys(key for whose, key, _ in reversed(moves) if whose == tenant))[:3]
        assert {key: kept.get(tenant, key) for key in mine} == {k: v if k in last else None for k, v in mine.items()}


def test_what_is_dropped_is_gone_and_tenants_are_so_many_too() -> None:
    kept: Kept[int] = Kept(tenants_max=2)
    for n, tenant in enumerate("abc"):
        kept.keep(tenant, "k", n)
    assert [kept.get(tenant, "k") for tenant in "abc"] == [None, 1, 2]
    kept.drop("b", "k")
    kept.drop("b", "k")
    assert kept.get("b", "k") is None
