"""How a database URL becomes one for the driver that Interlock uses.

Apart, so that a serving process does not import what only migrations need.
"""

from sqlalchemy.engine import URL, make_url


def driver_url(url: str) -> URL:
    """Return `url` (postgres://, postgresql://, with TCP or a socket as host=) for SQLAlchemy's psycopg driver."""
    return make_url(url).set(drivername="postgresql+psycopg")
