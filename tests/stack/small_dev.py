"""Runs `interlock dev` over stand-ins for its children: `DATA READY [none|play|only] [STATUS] [API_PORT] [WORLD]`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import settings
from stack.addresses import Addresses, Tour, Wishes
from stack.child import Child
from stack.dev import Programs, run
from stack.environment import Role
from stack.layout import DataDir
from stack.postgres import Cluster
from tests.stack.standins import DIES, python, standin, step


def small_roster(
    data: DataDir,
    addresses: Addresses,
    cluster: Cluster | None,
    shop_keys: Mapping[str, str],
    env_of: Callable[[Role], Mapping[str, str]],
) -> Sequence[Child]:
    """Return stand-ins of the names that the ready file speaks of."""
    if (data.root / "fail").exists():
        return [step("migrate", DIES)]
    return [standin(name, data.run) for name in ("temporal", "shop", "worker", "api")]


def main(
    folder: str, ready: str, tour: str = "none", tour_status: str = "0", api_port: str = "0", world: str = ""
) -> int:
    """Run until told to stop."""
    wishes = Wishes(
        data_dir=Path(folder),
        ready_file=Path(ready),
        tour=Tour(tour),
        api_port=int(api_port),
        shop_port=0,
        temporal_port=0,
        temporal_ui_port=0,
        database_url="postgresql://app@nowhere/interlock",
        owner_url="postgresql://owner@nowhere/interlock",
        shop_world=Path(world) if world else None,
    )

    def tour_of(path: Path) -> Sequence[str]:
        return python(f"import json, sys; json.load(open({str(path)!r})); sys.exit({tour_status})")

    return run(wishes, settings.inherited_environment(), Programs(small_roster, tour_of))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
