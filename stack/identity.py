"""Whom a child runs as when the stack is root, for a program that refuses to be.

Such a child gets an ordinary user, and one capability only where a folder such as /root would bar its way.
"""

import os
import pwd
import stat
from pathlib import Path

from stack.child import Identity
from stack.faults import StackFault

UNPRIVILEGED_USERS = ("interlock", "postgres", "nobody")
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2


def unprivileged(paths: list[Path]) -> Identity | None:
    """Return whom a child that must reach `paths` runs as: None, where this process is no root; raises `StackFault`.

    The capability to read and search opens the way through folders that bar it; no other is given while that one is
    to be had.
    """
    if os.geteuid() != 0:
        return None
    user = next((found for name in UNPRIVILEGED_USERS if (found := _user(name)) is not None), None)
    if user is None:
        raise StackFault(
            "Postgres refuses to run as root, and there is no user `nobody`. Run Interlock as an ordinary user."
        )
    if all(_may_reach(user, path) for path in paths):
        return Identity(user.pw_uid, user.pw_gid)
    for capability in (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE):
        if _permitted(capability):
            return Identity(user.pw_uid, user.pw_gid, capability)
    raise StackFault(
        f"Postgres refuses to run as root, and user {user.pw_name} cannot reach {paths[0]}. "
        "Choose a folder that all may pass through with --data-dir, or run Interlock as an ordinary user."
    )


def _user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _may_reach(user: pwd.struct_passwd, path: Path) -> bool:
    """Tell whether `user` may pass through every folder above `path`."""
    return all(_may_pass(user, folder.stat()) for folder in path.parents)


def _may_pass(user: pwd.struct_passwd, folder: os.stat_result) -> bool:
    if folder.st_uid == user.pw_uid:
        return bool(folder.st_mode & stat.S_IXUSR)
    if folder.st_gid == user.pw_gid:
        return bool(folder.st_mode & stat.S_IXGRP)
    return bool(folder.st_mode & stat.S_IXOTH)


def _permitted(capability: int) -> bool:
    try:
        status = Path("/proc/self/status").read_text()
    except FileNotFoundError:
        return False
    held = next((line for line in status.splitlines() if line.startswith("CapPrm:")), "CapPrm: 0")
    return bool(int(held.split()[1], 16) >> capability & 1)
