"""Ports on this machine: free ones, taken ones, and who has them.

A port is looked at before any child starts, so that the error names the flag and not a log file.
"""

import socket
from collections.abc import Mapping

from stack.faults import PortFault

LOOPBACK = "127.0.0.1"


def resolve(wanted: Mapping[str, int]) -> dict[str, int]:
    """Return a port for each flag, a free one for 0; raises `PortFault` naming every one that is taken."""
    taken = [(flag, port) for flag, port in wanted.items() if port and not is_free(port)]
    if taken:
        raise PortFault("\n".join(_complaint(flag, port) for flag, port in taken))
    twice = [flag for flag, port in wanted.items() if port and list(wanted.values()).count(port) > 1]
    if twice:
        raise PortFault(f"{' and '.join(twice)} ask for the same port, {wanted[twice[0]]}. Give each its own, or 0.")
    free = iter(_free_ports(sum(port == 0 for port in wanted.values()), avoid=set(wanted.values())))
    return {flag: port or next(free) for flag, port in wanted.items()}


def is_free(port: int) -> bool:
    """Tell whether a server may listen on `port` of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def holder(port: int) -> str | None:
    """Return `name (process N)` for the process that listens on `port`, or None where that cannot be known."""
    import psutil

    try:
        for connection in psutil.net_connections(kind="tcp"):
            if connection.status != psutil.CONN_LISTEN or not connection.laddr or connection.pid is None:
                continue
            if connection.laddr.port == port:
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    except psutil.Error:
        return None
    return None


def _complaint(flag: str, port: int) -> str:
    by = f" by {found}" if (found := holder(port)) else ""
    return f"Port {port} is in use{by}. Stop what uses it, or choose another with {flag} (0: any free)."


def _free_ports(count: int, avoid: set[int]) -> list[int]:
    """Return `count` distinct free ports; held together while they are picked, so that none comes twice."""
    held: list[socket.socket] = []
    ports: list[int] = []
    try:
        while len(ports) < count:
            held.append(socket.create_server((LOOPBACK, 0)))
            port = held[-1].getsockname()[1]
            if port not in avoid:
                ports.append(port)
    finally:
        for listener in held:
            listener.close()
    return ports
