"""`python -m tests.scripted_model.beside COMMAND …`: run a command with a scripted model beside it, and end with it.

The command is told by its environment to ask that model; its exit status is passed on.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.scripted_model.process import scripted_model


def main(command: list[str]) -> int:
    """Run `command` and return its exit status."""
    with tempfile.TemporaryDirectory(prefix="scripted-model-") as folder, scripted_model(Path(folder)) as model:
        told = {
            "INTERLOCK_MODEL": "openai",
            "INTERLOCK_MODEL_BASE_URL": model.base_url,
            "INTERLOCK_MODEL_API_KEY": "scripted",
        }
        print(f"A scripted model answers at {model.base_url}; switch it: POST {model.control_url}/_script {{name}}")
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the command too, which ends in order
        child = subprocess.Popen(command, env={**os.environ, **told}, preexec_fn=_heeds_ctrl_c)
        signal.signal(signal.SIGTERM, lambda number, frame: child.send_signal(number))
        return child.wait()


def _heeds_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
