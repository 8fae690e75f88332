"""Which of the database's failures pass by themselves, so that the same transaction may be tried again.

Everything else that the database raises is a refusal that a function here should have turned into one, or a defect.
"""

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

# SQLSTATE classes: lost connection, resources, shutdown, serialization and deadlock, system error; lock not available.
_PASSING_SQLSTATES = ("08", "53", "57", "40", "58", "55P03", "25006")


def passes(fault: BaseException) -> bool:
    """Whether `fault` is the database being away, full, restarting or in conflict."""
    if isinstance(fault, OperationalError | InterfaceError | PoolTimeout | OSError):
        return True
    if isinstance(fault, DBAPIError):
        return str(getattr(fault.orig, "sqlstate", None) or "").startswith(_PASSING_SQLSTATES)
    return False
