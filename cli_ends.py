"""How a command begins and ends: its settings, its logs, and what it says when it fails.

Imports nothing heavy, so that a small command starts at once.
"""

import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from settings import Settings
    from store.database import Database

Found = TypeVar("Found")


@dataclass(frozen=True)
class Databases:
    """The database as the product's own roles have it, and the moment at which the command began."""

    db: "Database"
    relay: "Database"
    now: datetime


def settings_of(command: str, data_dir: Path | None = None) -> "Settings":
    """Return the settings of the environment, or of the stack in `data_dir`; ends the command when they are wrong."""
    import settings
    from stack.environment import recorded
    from stack.faults import StackFault
    from stack.layout import DataDir

    if data_dir is None and settings.PREFIX + "DATABASE_URL" not in settings.inherited_environment():
        what = f"no stack is given: name its --data-dir, or set {settings.PREFIX}DATABASE_URL and the rest"
        raise failed(command, ValueError(what), 1)
    try:
        return settings.load(recorded(DataDir.at(data_dir)) if data_dir else None)
    except StackFault as fault:
        raise failed(command, fault, fault.exit_code) from None
    except settings.SettingsFault as fault:
        raise failed(command, fault, 1) from None


def configure_logs(told: "Settings") -> None:
    """Log as the settings say."""
    from logs import configure

    configure(told.log_level, as_json=told.log_json)


def plainly(fault: Exception) -> Exception:
    """Return a failure without its statement and its parameters."""
    return RuntimeError(str(getattr(fault, "orig", None) or fault).strip())


def failed(command: str, fault: Exception, status: int) -> typer.Exit:
    """Say on standard error why a command failed; returns what ends it with `status`."""
    typer.echo(f"interlock {command}: {fault}", err=True)
    return typer.Exit(status)


def given_lines(command: str) -> Iterable[str]:
    """Return the lines on standard input; ends the command with 1 where it is closed (`<&-`)."""
    if sys.stdin is None:
        raise failed(command, ValueError("standard input is closed; give it JSON lines, as in < FILE"), 1)
    return sys.stdin


def in_databases(command: str, data_dir: Path | None, work: Callable[[Databases], Awaitable[Found]]) -> Found:
    """Run `work` and return what it does; a refusal, or a database that is away, ends the command."""
    import asyncio
    from datetime import UTC, datetime

    from sqlalchemy.exc import SQLAlchemyError

    from domain.fault import OperationalFault
    from domain.refusal import Refusal
    from settings import SettingsFault
    from store.database import Database

    told = settings_of(command, data_dir)

    async def run() -> Found:
        db, relay = Database(told.database_url, 2), Database(told.relay_url, 1)
        try:
            return await work(Databases(db=db, relay=relay, now=datetime.now(UTC)))
        finally:
            await db.close()
            await relay.close()

    try:
        return asyncio.run(run())
    except Refusal as no:
        raise failed(command, no, 3 if "wait_s" in no.fields else 1) from None
    except (OperationalFault, SettingsFault) as fault:
        raise failed(command, fault, 1) from None
    except SQLAlchemyError as fault:
        raise failed(command, plainly(fault), 1) from None
