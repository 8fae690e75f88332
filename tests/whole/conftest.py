"""The one stack that the tests of the whole product share."""

from collections.abc import Iterator

import pytest

from tests.whole.running import Product, running


@pytest.fixture(scope="session")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """A running `interlock dev`."""
    with running(tmp_path_factory.mktemp("whole") / "data") as it:
        yield it
