"""Laws of ports: a taken one is named with its flag and its holder, free ones never collide."""

import os
import socket
from collections.abc import Iterator

import pytest

from stack.faults import PortFault
from stack.ports import LOOPBACK, resolve


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server((LOOPBACK, 0)) as listener:
        yield listener.getsockname()[1]


def test_a_taken_port_is_named_with_its_flag_and_its_holder(taken: int) -> None:
    with pytest.raises(PortFault) as caught:
        resolve({"--api-port": taken})
    assert str(taken) in str(caught.value)
    assert "--api-port" in str(caught.value)
    assert f"process {os.getpid()}" in str(caught.value)
    assert caught.value.exit_code == 2


def test_every_taken_port_is_told_at_once(taken: int) -> None:
    with pytest.raises(PortFault) as caught:
        resolve({"--api-port": taken, "--shop-port": taken})
    assert len(str(caught.value).splitlines()) == 2


def test_zero_gives_free_ports_that_differ() -> None:
    assert len(set(resolve({f"--{number}": 0 for number in range(50)}).values())) == 50


def test_one_port_is_not_given_twice() -> None:
    free = resolve({"--any": 0})["--any"]
    with pytest.raises(PortFault, match="--api-port and --shop-port ask for the same port"):
        resolve({"--api-port": free, "--shop-port": free})


def test_a_free_port_is_given_as_asked() -> None:
    free = resolve({"--any": 0})["--any"]
    assert resolve({"--api-port": free}) == {"--api-port": free}
