"""What each child is told through its environment, and the record of it for later commands.

A child gets the secrets of its role and no others: the api never learns the owner's password, nor the shop's keys.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from stack.addresses import TEMPORAL_NAMESPACE, Addresses
from stack.faults import StackFault
from stack.keys import AUDIENCE, ISSUER
from stack.layout import DataDir, write_private
from stack.ports import LOOPBACK


class Role(Enum):
    """What a child is for, hence what it may know."""

    FOREIGN = "foreign"  # Postgres, Temporal, the shop: nothing of ours
    MIGRATE = "migrate"
    SEED = "seed"
    WORKER = "worker"
    API = "api"


@dataclass(frozen=True)
class Secrets:
    """Every URL and key that lets its holder do something."""

    database_url: str
    owner_url: str
    relay_url: str
    shop_read_key: str
    shop_write_key: str
    session_key: str
    secrets_key: str


SECRETS_OF: Mapping[Role, tuple[str, ...]] = {
    Role.FOREIGN: (),
    Role.MIGRATE: ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_RELAY_URL"),
    Role.SEED: (
        "DATABASE_URL",
        "DATABASE_OWNER_URL",
        "DATABASE_RELAY_URL",
        "SHOP_READ_KEY",
        "SHOP_WRITE_KEY",
        "SECRETS_KEY",
    ),
    Role.WORKER: ("DATABASE_URL", "DATABASE_RELAY_URL", "SHOP_READ_KEY", "SHOP_WRITE_KEY", "SECRETS_KEY"),
    # It reads accounts for proposals of people, and sends nothing.
    Role.API: ("DATABASE_URL", "SHOP_READ_KEY", "SESSION_KEY", "SECRETS_KEY"),
}

FOR_THE_WORKER_ALONE = {"MODEL_API_KEY"}  # inherited from whoever starts the stack


def child_environment(
    role: Role, data: DataDir, addresses: Addresses, secrets: Secrets, inherited: Mapping[str, str]
) -> dict[str, str]:
    """Return the environment of a child: `inherited`, over it the stack's settings and the secrets of `role`."""
    managed, guarded = _plain(data, addresses), _guarded(secrets)
    ours = managed.keys() | guarded.keys() | (set() if role is Role.WORKER else FOR_THE_WORKER_ALONE)
    env = {name: value for name, value in inherited.items() if name.removeprefix("INTERLOCK_") not in ours}
    env["PYTHONUNBUFFERED"] = "1"
    if role is Role.FOREIGN:
        return {name: value for name, value in env.items() if not name.startswith("INTERLOCK_")}
    given = {**managed, **{name: guarded[name] for name in SECRETS_OF[role]}}
    return env | {f"INTERLOCK_{name}": value for name, value in given.items()}


def record(data: DataDir, addresses: Addresses, secrets: Secrets) -> None:
    """Write the whole environment down for `interlock COMMAND --data-dir`, readable by its owner alone."""
    given = _plain(data, addresses) | _guarded(secrets)
    write_private(data.environment, {f"INTERLOCK_{name}": value for name, value in given.items()})


def recorded(data: DataDir) -> dict[str, str]:
    """Return the environment of the stack that runs, or last ran, over `data`; raises `StackFault`."""
    try:
        rows: Any = json.loads(data.environment.read_text())
        return {str(name): str(value) for name, value in rows.items()}
    except FileNotFoundError:
        raise StackFault(f"No stack has run over {data.root}. Start one with `interlock dev --data-dir …`.") from None
    except (ValueError, AttributeError):
        raise StackFault(f"{data.environment} cannot be read. Start `interlock dev` again to renew it.") from None


def _plain(data: DataDir, addresses: Addresses) -> dict[str, str]:
    return {
        "TEMPORAL_ADDRESS": addresses.temporal_address,
        "TEMPORAL_NAMESPACE": TEMPORAL_NAMESPACE,
        "TEMPORAL_TLS": "false",
        "SHOP_URL": addresses.shop_url,
        "API_HOST": LOOPBACK,
        "API_PORT": str(addresses.api_port),
        "API_PUBLIC_URL": addresses.api_url,
        "JWKS": str(data.keys / "jwks.json"),
        "JWT_ISSUER": ISSUER,
        "JWT_AUDIENCE": AUDIENCE,
        "DATA_DIR": str(data.root),
        "DEV_PEOPLE_FILE": str(data.people),
        "WEBHOOK_NETWORKS": "127.0.0.0/8,::1/128",  # a receiver on this machine, to try them with
        **({"TEMPORAL_UI_URL": addresses.temporal_ui_url} if addresses.temporal_ui_url else {}),
    }


def _guarded(secrets: Secrets) -> dict[str, str]:
    return {
        "DATABASE_URL": secrets.database_url,
        "DATABASE_OWNER_URL": secrets.owner_url,
        "DATABASE_RELAY_URL": secrets.relay_url,
        "SHOP_READ_KEY": secrets.shop_read_key,
        "SHOP_WRITE_KEY": secrets.shop_write_key,
        "SESSION_KEY": secrets.session_key,
        "SECRETS_KEY": secrets.secrets_key,
    }
