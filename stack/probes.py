"""Ways to see that a child is ready; each is a callable that answers yes or no and never waits long.

They speak to the loopback address directly, whatever proxy the environment names.
"""

import http.client
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

PATIENCE_S = 2.0


class Probe(Protocol):
    """Answers whether a child is ready now."""

    def __call__(self) -> bool:
        """Return True once the child serves."""


@dataclass(frozen=True)
class TcpProbe:
    """Ready once something accepts connections."""

    host: str
    port: int

    def __call__(self) -> bool:
        """Return True where a connection is accepted."""
        try:
            socket.create_connection((self.host, self.port), timeout=PATIENCE_S).close()
        except OSError:
            return False
        return True


@dataclass(frozen=True)
class HttpProbe:
    """Ready once a path answers with a status below 400."""

    host: str
    port: int
    path: str

    def __call__(self) -> bool:
        """Return True where GET succeeds."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", self.path)
            return connection.getresponse().status < 400
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


@dataclass(frozen=True)
class FileProbe:
    """Ready once the child has put its ready file there."""

    path: Path

    def __call__(self) -> bool:
        """Return True where the file exists."""
        return self.path.exists()
