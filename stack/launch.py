"""Become a child's program, tied to the life of the stack and, if asked, as another user.

Run as a script with nothing but the standard library: `launch.py PARENT SIGNAL UID GID CAPABILITY -- PROGRAM …`,
where SIGNAL comes when the parent dies, UID of -1 changes no user, and CAPABILITY of -1 keeps none.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1
PR_SET_KEEPCAPS = 8
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CAPABILITY_VERSION_3 = 0x20080522


def main(argv: list[str]) -> None:
    """Change the user, tie the knot with the parent, and exec; returns only by failing."""
    divider = argv.index("--")
    parent, signal, uid, gid, capability = (int(word) for word in argv[:divider])
    if uid >= 0:
        become(uid, gid, capability)
    if sys.platform == "linux":
        die_with(parent, signal)
    program = argv[divider + 1 :]
    os.execvp(program[0], program)


def become(uid: int, gid: int, capability: int) -> None:
    """Drop to `uid` and `gid`, keeping at most the one `capability` (a number of capabilities(7)) across exec."""
    keep = capability >= 0 and sys.platform == "linux"
    if keep:
        _prctl(PR_SET_KEEPCAPS, 1)
    os.setgroups([gid])
    os.setgid(gid)
    os.setuid(uid)
    if keep:
        _hold_only(capability)
        _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability)


def die_with(parent: int, signal: int) -> None:
    """Have the kernel send `signal` to this process when its parent dies; ends at once where that has happened.

    Comes after every change of user, since such a change forgets the wish.
    """
    _prctl(PR_SET_PDEATHSIG, signal)
    if os.getppid() != parent:
        sys.exit("the stack has ended")


def _hold_only(capability: int) -> None:
    """Make `capability` permitted, effective and inheritable, and every other one gone."""
    word, bit = divmod(capability, 32)
    sets = (ctypes.c_uint32 * 6)()
    for kind in range(3):  # effective, permitted, inheritable
        sets[word * 3 + kind] = 1 << bit
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, sets) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _prctl(option: int, first: int, second: int = 0) -> None:
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    if prctl(option, first, second, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option})")


if __name__ == "__main__":
    main(sys.argv[1:])
