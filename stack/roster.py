"""The table of children behind `interlock dev`, each with its needs: the one place that says what runs.

The supervisor knows nothing of what stands here, and tests give it other tables.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from stack import postgres, temporal
from stack.addresses import Addresses
from stack.child import Child
from stack.environment import Role
from stack.layout import DataDir
from stack.ports import LOOPBACK
from stack.postgres import Cluster
from stack.probes import FileProbe, HttpProbe

Environments = Callable[[Role], Mapping[str, str]]


def roster(
    data: DataDir,
    addresses: Addresses,
    cluster: Cluster | None,
    shop_keys: Mapping[str, str],
    env_of: Environments,
) -> list[Child]:
    """Return the children of one stack, in the order in which they are to come up; `cluster` None: not ours."""
    foreign = env_of(Role.FOREIGN)
    seed = [] if data.seeded.exists() else [_seed(data, env_of(Role.SEED))]
    base = ("migrate", "temporal", "shop")  # seeding goes on beside worker and api: it needs neither
    return [
        *(postgres.children(cluster, foreign) if cluster else []),
        temporal.server(data, addresses, foreign),
        _shop(data, addresses, {**foreign, **shop_keys}),
        Child("migrate", _interlock("migrate"), env_of(Role.MIGRATE), after=("postgres",) if cluster else ()),
        *seed,
        _worker(data, env_of(Role.WORKER), after=base),
        _api(addresses, env_of(Role.API), after=base),
    ]


def _interlock(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "cli", *words)


def _shop(data: DataDir, addresses: Addresses, env: Mapping[str, str]) -> Child:
    where = ("--host", LOOPBACK, "--port", str(addresses.shop_port), "--data", str(data.shop))
    world = ("--world", str(data.shop_world)) if data.shop_world.exists() else ()
    return Child(
        name="shop",
        argv=(sys.executable, "-m", "demo.shop", *where, *world),
        env=env,
        ready=HttpProbe(LOOPBACK, addresses.shop_port, "/healthz"),
    )


def _seed(data: DataDir, env: Mapping[str, str]) -> Child:
    return Child(
        "seed", _interlock("seed"), env, after=("migrate", "temporal", "shop"), then=data.seeded.touch, deadline_s=120.0
    )


def _worker(data: DataDir, env: Mapping[str, str], after: tuple[str, ...]) -> Child:
    ready = data.run / "worker.ready"
    return Child(
        name="worker",
        argv=_interlock("worker", "--ready-file", str(ready)),
        env=env,
        ready=FileProbe(ready),
        after=after,
        clears=(ready,),
        stop_patience_s=15.0,
    )


def _api(addresses: Addresses, env: Mapping[str, str], after: tuple[str, ...]) -> Child:
    return Child(
        name="api",
        argv=_interlock("api"),
        env=env,
        ready=HttpProbe(LOOPBACK, addresses.api_port, "/readyz"),
        after=after,
    )


def world_check(world: Path) -> tuple[str, ...]:
    """Return the command that says what is wrong with a world for the shop, and ends with 0 where nothing is."""
    return (sys.executable, "-m", "demo.shop", "--check-world", "--world", str(world), "--data", "none")


def models_check() -> tuple[str, ...]:
    """Return the command that says what is wrong with models.toml, and ends with 0 where nothing is."""
    return (sys.executable, "-m", "cli", "models", "list")


def tour(ready_file: Path) -> tuple[str, ...]:
    """Return the command that plays the guided tour against a stack that is ready."""
    return (sys.executable, "-m", "demo.tour", "--ready", str(ready_file))
