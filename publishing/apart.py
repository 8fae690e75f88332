"""Examining a bundle beside the traffic: in a process of its own, one at a time, and for no longer than it may take.

`python -m publishing.apart` is that process: it reads `{files, base_files}` and writes what `examine` comes to.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

from domain.refusal import Refusal
from policy.bundle import BundleInvalid
from policy.manifest import MANIFEST
from publishing.examining import Examined, examine

SECONDS_MAX = 30.0  # of one examination; a layer of a few dozen rules takes ten
WAIT_SECONDS_MAX = 20.0  # for those before it; both together are less than an Idempotency-Key is leased for


class Examiner:
    """Examines for one app: `examine(files, base_files)`, as the function does. Whoever stops waiting stops it."""

    def __init__(self, seconds_max: float = SECONDS_MAX, wait_seconds_max: float = WAIT_SECONDS_MAX) -> None:
        self._seconds_max, self._wait_seconds_max = seconds_max, wait_seconds_max
        self._one_at_a_time = asyncio.Lock()

    async def examine(self, files: Mapping[str, str], base_files: Mapping[str, str] | None) -> Examined:
        """Return all that is to be known of a bundle.

        Raises BundleInvalid, also where it takes too long, and Refusal where too many others are examined before it.
        """
        given = {"files": dict(files), "base_files": None if base_files is None else dict(base_files)}
        try:
            async with asyncio.timeout(self._wait_seconds_max):
                await self._one_at_a_time.acquire()
        except TimeoutError:
            raise Refusal("Other bundles are being examined; nothing was published. Try again in a minute.") from None
        try:
            told = await self._ask(json.dumps(given).encode())
        finally:
            self._one_at_a_time.release()
        if "wrong" in told:
            raise BundleInvalid(told["file"], told["line"], told["wrong"], told["right"])
        return Examined.model_validate(told)

    async def _ask(self, given: bytes) -> dict[str, Any]:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "publishing.apart", stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            async with asyncio.timeout(self._seconds_max):
                answer, _ = await process.communicate(given)
        except TimeoutError:
            wrong = f"it could not be examined within {self._seconds_max:g} seconds"
            right = "fewer or simpler rules; interlock policy publish takes as long as it needs"
            raise BundleInvalid(MANIFEST, 1, wrong, right) from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise BundleInvalid(MANIFEST, 1, "its examination broke off", "try it with interlock policy validate")
        told: dict[str, Any] = json.loads(answer)
        return told


def main() -> None:
    """Examine what comes in; whatever a bundle is refused for is an answer, too."""
    given = json.load(sys.stdin)
    try:
        told = examine(given["files"], given["base_files"]).model_dump(mode="json")
    except BundleInvalid as fault:
        told = {"file": fault.file, "line": fault.line, "wrong": fault.wrong, "right": fault.right}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
