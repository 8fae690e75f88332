"""Outgoing webhooks: where they may go, and when what was not taken is tried again."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.webhook import JITTER, RETRY_FIRST_S, RETRY_MAX_S, Tried, after, may_reach, networks_of, url_fault
from domain.webhook_kinds import DeliveryFault, DeliveryState

FAILED = Tried(fault=DeliveryFault.ANSWERED, status=500)


@given(st.integers(1, 200), st.floats(0, 1))
def test_a_try_is_made_again_later_each_time_and_never_too_late(attempts: int, chance: float) -> None:
    wait_s = after(FAILED, attempts, 1_000, chance).wait_s
    assert RETRY_FIRST_S * (1 - JITTER) <= wait_s <= RETRY_MAX_S * (1 + JITTER)
    assert after(FAILED, attempts + 1, 1_000, chance).wait_s >= wait_s


@given(st.integers(1, 9), st.floats(0, 1), st.floats(0, 1e9))
def test_the_receivers_wish_is_heeded_within_bounds(attempts: int, chance: float, asked_s: float) -> None:
    wait_s = after(FAILED.model_copy(update={"retry_after_s": asked_s}), attempts, 10, chance).wait_s
    assert wait_s >= min(asked_s, RETRY_MAX_S)
    assert wait_s <= RETRY_MAX_S * (1 + JITTER)


@pytest.mark.parametrize(
    ("tried", "attempts", "state"),
    [
        (Tried(status=204), 10, DeliveryState.DELIVERED),
        (FAILED, 9, DeliveryState.WAITING),
        (FAILED, 10, DeliveryState.DEAD),
        (Tried(fault=DeliveryFault.GONE, status=410), 1, DeliveryState.DEAD),
        (Tried(fault=DeliveryFault.NO_SECRET), 1, DeliveryState.WAITING),
    ],
)
def test_what_becomes_of_a_delivery(tried: Tried, attempts: int, state: DeliveryState) -> None:
    assert after(tried, attempts, 10, 0.5).state is state


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
     "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:10.0.0.1",
     "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "::ffff:169.254.169.254", "fec0::1", "::127.0.0.1", "::ffff:0:127.0.0.1",
     "64:ff9b:1::7f00:1", "2001::1", "100::1", "2001:db8::1"],
)  # fmt: skip
def test_what_is_not_public_is_not_reached_unless_it_is_named(address: str) -> None:
    where = ip_address(address)
    assert not may_reach(where, ())
    assert not may_reach(where, networks_of("203.0.113.0/24"))


def test_public_addresses_and_named_networks_are_reached() -> None:
    assert may_reach(ip_address("1.1.1.1"), ())
    assert may_reach(ip_address("2606:4700::1111"), ())
    assert may_reach(ip_address("10.1.2.3"), networks_of("127.0.0.0/8, 10.1.0.0/16"))
    assert may_reach(ip_address("::ffff:10.1.2.3"), networks_of("10.1.0.0/16"))
    assert not may_reach(ip_address("10.2.2.3"), networks_of("10.1.0.0/16"))


@pytest.mark.parametrize(
    "url",
    ["", "nope", "ftp://example.com/", "https://", "https:///x", "http://example.com/", "https://u:p@example.com/",
     "https://example.com/#x", "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest", "https://[::1",
     "https://example.com:99999/", "https://exämple.com/", "https://example.com/" + "x" * 2_000],
)  # fmt: skip
def test_a_url_that_cannot_be_used_is_refused_with_what_would_be_right(url: str) -> None:
    fault = url_fault(url, ())
    assert fault is not None
    assert "https://" in fault or "address" in fault or "signed" in fault


def test_a_url_that_can_be_used() -> None:
    assert url_fault("https://desk.example.com:8443/hooks?of=us", ()) is None
    assert url_fault("http://127.0.0.1:9000/hook", networks_of("127.0.0.0/8")) is None
    assert url_fault("http://169.254.169.254/", networks_of("127.0.0.0/8")) is not None
