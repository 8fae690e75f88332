"""The looks that `interlock doctor` takes, one function each, none of which changes anything.

A check waits a few seconds at most, and its finding says what to run or set.
"""

import importlib.util
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from stack.doctor import Check, Finding, Installation, fault, good, warning
from stack.layout import FORMAT_VERSION, DataDir

if TYPE_CHECKING:
    from psycopg import Connection

PATIENCE_S = 4
DISK_BYTES_MIN = 1 << 30
POSTGRES_MIN = 150_000
PYTHON_MIN = (3, 11)
PACKAGES = ("alembic", "cedarpy", "cryptography", "fastapi", "jwt", "psycopg", "pydantic", "sqlalchemy", "temporalio")
UNDER_DEV = "Start it with `interlock dev`, or set"


def python(_: Installation) -> list[Finding]:
    """Look at the version of Python."""
    version = tuple(sys.version_info[:3])
    found = ".".join(map(str, version))
    if version < PYTHON_MIN:
        return [fault("python", f"{found} is too old", "Install Python 3.11 or newer, then run `make setup`.")]
    return [good("python", found)]


def packages(_: Installation) -> list[Finding]:
    """Look for the packages that the processes import."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        return [fault("packages", f"missing: {', '.join(missing)}", "Run `make setup`.")]
    return [good("packages", f"{len(PACKAGES)} importable")]


def variables(installation: Installation) -> list[Finding]:
    """Look for misspelt variables, which nobody would hear of otherwise."""
    if not installation.unknown_variables:
        return []
    return [
        warning("environment", f"unknown: {', '.join(installation.unknown_variables)}", "Correct or unset these names.")
    ]


def postgres(installation: Installation) -> list[Finding]:
    """Look at Postgres: its version, what the app role may do, how far it is migrated."""
    import psycopg

    try:
        with psycopg.connect(installation.database_url, connect_timeout=PATIENCE_S, autocommit=True) as connection:
            return [
                _server_version(connection.info.server_version),
                _app_role(connection),
                _migrations(connection, installation.migration_head),
            ]
    except psycopg.OperationalError as error:
        why = " ".join(str(error).split())[:200] or "no answer"
        return [fault("postgres", why, f"{UNDER_DEV} INTERLOCK_DATABASE_URL to a Postgres that answers.")]


def policies(installation: Installation) -> list[Finding]:
    """Look whether the bundles in force load: under one that does not, nobody is answered by the bot."""
    told = installation.policies_not_loading() if installation.policies_not_loading is not None else None
    if told is None:
        return []
    mend = "Run `interlock policy rollback --as-operator NAME --tenant T`, or publish a base anew with --for-all."
    return [fault("policy", each, mend) for each in told] or [good("policy", "every bundle in force loads")]


def temporal(installation: Installation) -> list[Finding]:
    """Look at Temporal: whether it answers, its namespace, its search attributes."""
    import asyncio

    return asyncio.run(_temporal(installation))


def shop(installation: Installation) -> list[Finding]:
    """Look whether the business system answers."""
    import httpx

    try:
        answer = httpx.get(f"{installation.shop_url}/healthz", timeout=PATIENCE_S, trust_env=False)
    except httpx.HTTPError as error:
        return [fault("shop", f"{installation.shop_url}: {error}", f"{UNDER_DEV} INTERLOCK_SHOP_URL.")]
    if answer.is_error:
        return [fault("shop", f"{installation.shop_url}/healthz answers {answer.status_code}", "Look at its log.")]
    return [good("shop", installation.shop_url)]


def signing_keys(installation: Installation) -> list[Finding]:
    """Look whether the key set is readable and holds a key that can sign."""
    mend = "Start `interlock dev` once, or set INTERLOCK_JWKS to the key set of your identity provider."
    try:
        keys = json.loads(_read(installation.jwks))["keys"]
        usable = [key["kid"] for key in keys if key.get("kty") in {"EC", "RSA", "OKP"} and "d" not in key]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return [fault("jwks", f"{installation.jwks}: {type(error).__name__}: {error}", mend)]
    if not usable:
        return [fault("jwks", f"{installation.jwks} holds no public key with a kid", mend)]
    return [good("jwks", f"{len(usable)} key{'s' * (len(usable) > 1)} in {installation.jwks}")]


def data_dir(installation: Installation) -> list[Finding]:
    """Look at the data folder's format, and at the room on its disk."""
    data = DataDir.at(installation.data_dir)
    near = next(folder for folder in (data.root, *data.root.parents) if folder.exists())
    free = shutil.disk_usage(near).free
    room = f"{free / (1 << 30):.1f} GiB free at {near}"
    disk = good("disk", room) if free >= DISK_BYTES_MIN else fault("disk", room, "Make room, at least 1 GiB.")
    if not data.version.exists():
        return [disk]
    found = data.version.read_text(errors="replace").strip()
    if found != FORMAT_VERSION:
        mend = "Use the Interlock that made it, or another folder with --data-dir."
        return [disk, fault("data folder", f"{data.root} has format {found[:40]}, not {FORMAT_VERSION}", mend)]
    return [disk, good("data folder", f"{data.root}, format {found}")]


def _server_version(number: int) -> Finding:
    if number < POSTGRES_MIN:
        return fault("postgres", f"version {number // 10_000}", "Move to Postgres 15 or newer.")
    return good("postgres", f"version {number // 10_000}.{number % 10_000}")


def _app_role(connection: "Connection[Any]") -> Finding:
    """INVARIANT: row-level security holds only for a role that cannot pass it by."""
    row = connection.execute(
        "SELECT current_user, rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    name, *powers = row or ("unknown", False, False, False)
    held = [word for word, has in zip(("SUPERUSER", "BYPASSRLS", "CREATEROLE"), powers, strict=True) if has]
    if held:
        mend = f'As an administrator: ALTER ROLE "{name}" {" ".join("NO" + word for word in held)};'
        return fault("app role", f"{name} is {', '.join(held)}, so it can read across tenants", mend)
    owned = connection.execute(
        "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p') AND pg_has_role(relowner, 'MEMBER')"
    ).fetchone()
    if owned and owned[0]:
        mend = "Let INTERLOCK_DATABASE_URL name a role that owns nothing; migrate as INTERLOCK_DATABASE_OWNER_URL."
        return fault("app role", f"{name} owns {owned[0]} tables, so it can switch their row-level security off", mend)
    return good("app role", f"{name} cannot bypass row-level security")


def _migrations(connection: "Connection[Any]", head: str | None) -> Finding:
    import psycopg

    mend = "Run `interlock migrate`."
    try:
        rows: Sequence[tuple[str]] = connection.execute("SELECT version_num FROM alembic_version").fetchall()
    except psycopg.errors.UndefinedTable:
        return fault("migrations", "none has been run", mend)
    except psycopg.errors.InsufficientPrivilege:
        return warning("migrations", "the app role may not read alembic_version", "GRANT SELECT on it to the app role.")
    found = ", ".join(row[0] for row in rows) or "none"
    if head is not None and found != head:
        return fault("migrations", f"at {found}, while this code wants {head}", mend)
    return good("migrations", f"at {found}")


async def _temporal(installation: Installation) -> list[Finding]:
    import asyncio

    from temporalio.client import Client

    try:
        client = await asyncio.wait_for(
            Client.connect(
                installation.temporal_address,
                namespace=installation.temporal_namespace,
                tls=installation.temporal_tls or installation.temporal_api_key is not None,
                api_key=installation.temporal_api_key,
            ),
            PATIENCE_S,
        )
    except (RuntimeError, TimeoutError) as error:
        refused = "onnection refused" in str(error)
        why = (
            f"{installation.temporal_address}: {'connection refused' if refused else 'no answer as Temporal gives it'}"
        )
        return [fault("temporal", why, f"{UNDER_DEV} INTERLOCK_TEMPORAL_ADDRESS, _TLS and _API_KEY.")]
    return [good("temporal", installation.temporal_address), *await _namespace(client, installation)]


async def _namespace(client: Any, installation: Installation) -> list[Finding]:
    from datetime import timedelta

    from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
    from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
    from temporalio.service import RPCError

    from stack.temporal import SEARCH_ATTRIBUTES

    name, wait = installation.temporal_namespace, timedelta(seconds=PATIENCE_S)
    try:
        await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=name), timeout=wait)
    except RPCError as error:
        mend = f"Run `temporal operator namespace create -n {name}`, or set INTERLOCK_TEMPORAL_NAMESPACE."
        return [fault("namespace", f"{name}: {error.message}", mend)]
    try:
        answer = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=name), timeout=wait
        )
    except RPCError as error:
        mend = "Look in your provider's console for " + ", ".join(SEARCH_ATTRIBUTES)
        return [good("namespace", name), warning("attributes", f"cannot be listed: {error.message}", mend)]
    missing = [wanted for wanted in SEARCH_ATTRIBUTES if wanted not in answer.custom_attributes]
    if missing:
        flags = " ".join(f"--name {each} --type {SEARCH_ATTRIBUTES[each]}" for each in missing)
        mend = f"Run `temporal operator search-attribute create -n {name} {flags}`."
        return [good("namespace", name), fault("attributes", f"missing: {', '.join(missing)}", mend)]
    return [good("namespace", name), good("attributes", f"{len(SEARCH_ATTRIBUTES)} registered")]


def _read(place: str) -> str:
    if urlsplit(place).scheme in {"http", "https"}:
        import httpx

        try:
            return httpx.get(place, timeout=PATIENCE_S).raise_for_status().text
        except httpx.HTTPError as error:
            raise OSError(str(error)) from None
    return Path(place).read_text()


CHECKS: tuple[Check, ...] = (python, packages, variables, postgres, policies, temporal, shop, signing_keys, data_dir)
