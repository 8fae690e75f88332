"""Where the browser of these tests is: Debian's Chromium, installed where this machine allows it.

`python -m tests.browser.chromium` sees to it and says what it did; Playwright itself never downloads one.
"""

import os
import shutil
import subprocess
import sys

GIVEN = "INTERLOCK_TEST_CHROMIUM"
NAMES = ("chromium", "chromium-browser")
PACKAGE = "chromium"
ADVICE = (
    f"There is no Chromium here. Install it (on Debian: apt-get install {PACKAGE}), or let {GIVEN} name its program."
)


def chromium() -> str | None:
    """Return the program: the one given, else one on the path, else None.

    Raises ValueError where what is given is no program.
    """
    given = os.environ.get(GIVEN)
    if given is None:
        return next((found for name in NAMES if (found := shutil.which(name))), None)
    if shutil.which(given) is None:
        raise ValueError(f"{GIVEN} names {given}, which is no program that can be run.")
    return given


def in_ci() -> bool:
    """Whether this machine's runs decide about a change, so that nothing may be left out."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def _installer() -> list[str] | None:
    """Return how this user installs Debian's packages without being asked for anything, or None."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n", "apt-get"]
    return None


def _install(apt_get: list[str]) -> bool:
    steps = (["update", "-qq"], ["install", "-qq", "--yes", "--no-install-recommends", PACKAGE])
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in steps:
        run = subprocess.run([*apt_get, *step], env=quiet, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            print(f"setup: apt-get {step[0]} failed:\n{run.stdout[-2000:]}", file=sys.stderr)
            return False
    return True


def main() -> int:
    """Install Chromium where it is missing; return 0, or 1 where the browser's tests must run and cannot."""
    try:
        if chromium() is not None:
            return 0
    except ValueError as fault:
        print(f"setup: {fault}", file=sys.stderr)
        return 1
    if (apt_get := _installer()) is not None:
        print(f"setup: installing Debian's package {PACKAGE} for the browser's tests")
        if _install(apt_get) and chromium() is not None:
            return 0
    print(f"setup: {ADVICE} Until then the browser's tests are left out.", file=sys.stderr)
    return 1 if in_ci() else 0


if __name__ == "__main__":
    sys.exit(main())
