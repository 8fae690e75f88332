"""Where everything of one stack is to be reached, and what it is to be asked for.

What a caller of `interlock dev` chose is `Wishes`; what came of it is `Addresses`.
"""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from stack.ports import LOOPBACK, resolve

TEMPORAL_NAMESPACE = "default"


class Tour(Enum):
    """What the guided tour has to do with this run."""

    NONE = "none"
    PLAY = "play"
    ONLY = "only"


@dataclass(frozen=True)
class Wishes:
    """The options of `interlock dev`; a port of 0 means any free one."""

    data_dir: Path = Path(".interlock")
    api_port: int = 8080
    shop_port: int = 8090
    temporal_port: int = 7233
    temporal_ui_port: int = 8233
    postgres_port: int = 5434
    ready_file: Path | None = None
    tour: Tour = Tour.NONE
    database_url: str | None = None
    owner_url: str | None = None
    relay_url: str | None = None
    ui: bool = True
    shop_world: Path | None = None


@dataclass(frozen=True)
class Addresses:
    """The ports that were settled on; those of what is not ours to start are None."""

    api_port: int
    shop_port: int
    temporal_port: int
    temporal_ui_port: int | None
    postgres_port: int | None

    @property
    def api_url(self) -> str:
        """The api's base URL."""
        return f"http://{LOOPBACK}:{self.api_port}"

    @property
    def shop_url(self) -> str:
        """The shop's base URL."""
        return f"http://{LOOPBACK}:{self.shop_port}"

    @property
    def temporal_address(self) -> str:
        """HOST:PORT of Temporal's frontend."""
        return f"{LOOPBACK}:{self.temporal_port}"

    @property
    def temporal_ui_url(self) -> str | None:
        """The base URL of Temporal's UI, or None where it is off."""
        return f"http://{LOOPBACK}:{self.temporal_ui_port}" if self.temporal_ui_port else None


def settle(wishes: Wishes) -> Addresses:
    """Return the addresses for `wishes`; raises `PortFault` naming the flag of each port that is taken."""
    wanted = {
        "--api-port": wishes.api_port,
        "--shop-port": wishes.shop_port,
        "--temporal-port": wishes.temporal_port,
    }
    if wishes.ui:
        wanted["--temporal-ui-port"] = wishes.temporal_ui_port
    if wishes.database_url is None:
        wanted["--postgres-port"] = wishes.postgres_port
    got = resolve(wanted)
    return Addresses(
        api_port=got["--api-port"],
        shop_port=got["--shop-port"],
        temporal_port=got["--temporal-port"],
        temporal_ui_port=got.get("--temporal-ui-port"),
        postgres_port=got.get("--postgres-port"),
    )
