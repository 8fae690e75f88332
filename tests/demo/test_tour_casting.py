"""Laws of casting: which orders of a world a scene may use, and that none is used twice."""

import pytest

from demo.tour.casting import Case, Cast
from demo.tour.faults import SceneFault
from tests.demo.tour_records import customer, order, world


def test_a_case_says_whose_order_it_is_and_how_much_can_be_given_back() -> None:
    case = Cast().refundable(world(customer("c1", order("A-1", 2_000, 500))), set())
    assert case == Case("acme", "c1", "A-1", 1_500, "EUR")


@pytest.mark.parametrize(
    "unfit",
    [
        order("A-1", status="shipped"),
        order("A-1", captured=99),
        order("A-1", captured=5_001),
        order("A-1", captured=2_000, refunded=2_000),
    ],
    ids=["not delivered", "too little", "too much", "refunded before"],
)
def test_an_order_that_a_small_refund_does_not_fit_is_passed_over(unfit: dict[str, object]) -> None:
    assert Cast().refundable(world(customer("c1", unfit, order("A-2"))), set()).order == "A-2"


def test_the_ends_of_the_range_fit() -> None:
    cast, two = Cast(), world(customer("c1", order("A-1", 100)), customer("c2", order("A-2", 5_000)))
    assert {cast.refundable(two, set()).order, cast.refundable(two, set()).order} == {"A-1", "A-2"}


def test_an_order_on_which_something_waits_already_is_passed_over() -> None:
    assert Cast().refundable(world(customer("c1", order("A-1"), order("A-2"))), {"A-1"}).order == "A-2"


def test_no_order_is_cast_twice_and_new_customers_come_first() -> None:
    cast, both = Cast(), world(customer("c1", order("A-1"), order("A-2")), customer("c2", order("A-3")))
    assert [cast.refundable(both, set()).order for _ in range(3)] == ["A-1", "A-3", "A-2"]


def test_a_pair_is_of_one_customer() -> None:
    two = world(customer("c1", order("A-1")), customer("c2", order("A-2"), order("A-3")))
    first, second = Cast().refundable_pair(two, set())
    assert (first.customer, first.order, second.customer, second.order) == ("c2", "A-2", "c2", "A-3")


def test_an_order_under_way_is_cast_for_a_question() -> None:
    assert Cast().shipped(world(customer("c1", order("A-1"), order("A-2", status="shipped")))).order == "A-2"


def test_other_kinds_of_tenants_are_not_cast() -> None:
    with pytest.raises(SceneFault, match="no such case left"):
        Cast().refundable(world(customer("c1", order("A-1")), kind="saas"), set())


def test_a_world_that_is_used_up_says_what_makes_a_fresh_one() -> None:
    with pytest.raises(SceneFault, match="_reset"):
        Cast().refundable_pair(world(customer("c1", order("A-1"))), set())
