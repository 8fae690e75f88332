"""Makes embeddings vectors of pgvector, on a server that has the extension; without it they stay arrays.

A search asks `nearness` of both alike; on arrays it is slower, and finds the same.
"""

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

_IS_ARRAY = sa.text(
    "SELECT atttypid = 'real[]'::regtype FROM pg_attribute WHERE attrelid = 'passages'::regclass"
    " AND attname = 'embedding'"
)
_AVAILABLE = sa.text("SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')")
_CREATED = sa.text("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')")
_TO_VECTORS = sa.text(
    """
DROP FUNCTION as_kept(real[]);
CREATE FUNCTION as_kept(asked real[]) RETURNS vector LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS 'SELECT CAST(asked AS vector)';
CREATE FUNCTION nearness(kept vector, asked vector) RETURNS real LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS 'SELECT CAST(-(kept <#> asked) AS real)';
ALTER TABLE passages ALTER COLUMN embedding TYPE vector USING CAST(embedding AS vector);
ALTER TABLE passages ALTER COLUMN embedding SET STORAGE MAIN;
"""
)


def use_vectors(owner: sa.Connection) -> bool:
    """Return whether embeddings are vectors now; `owner` has a migrated schema and no transaction open.

    The extension is not a trusted one: where the owner may not create it, an administrator of the server does, and the
    next migration finds it.
    """
    if not owner.execute(_AVAILABLE).scalar_one() or not _created(owner):
        owner.rollback()
        return False
    if owner.execute(_IS_ARRAY).scalar_one():
        owner.execute(_TO_VECTORS)
    owner.commit()
    return True


def _created(owner: sa.Connection) -> bool:
    if owner.execute(_CREATED).scalar_one():
        return True
    try:
        with owner.begin_nested():
            owner.execute(sa.text("CREATE EXTENSION vector"))
    except DBAPIError:  # it is the administrator's to create
        return False
    return True
