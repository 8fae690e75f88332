"""How a command begins and ends: its settings, its logs, and what it says when it fails.

Imports nothing heavy, so that a small command starts at once.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from settings import Settings


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
