"""The bases that count for a tenant, each in its time, and a tenant's layer made anew over one of them.

Reads what is published and writes nothing; a layer that does not fit over a base is refused, with whose it is.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from domain.base import Noun
from domain.refusal import BundleUnfit, Refusal
from policy.bundle import BundleInvalid
from publishing.examining import load
from publishing.timeline import spans
from store.database import Database
from store.policies import NewBundle, Publication, StoredBundle, publications, stored_bundle


class Era(Noun):
    """`base` counts for a tenant from `since` until `until`, or for good where that is None."""

    base: StoredBundle
    since: datetime
    until: datetime | None


async def eras_of(
    db: Database, tenant_id: str, known: Sequence[Publication], since: datetime, until: datetime | None
) -> tuple[Era, ...]:
    """Return the bases that count for a tenant from `since` until `until`, in order, whatever layers are over them.

    `known` are its publications, the newest first. Raises Refusal where nothing counts then.
    """
    eras: list[Era] = []
    for span in spans(known, since, until):
        stored = await kept(db, tenant_id, span.publication.digest)
        base = stored if stored.base_digest is None else await kept(db, tenant_id, stored.base_digest)
        if eras and eras[-1].base.digest == base.digest:
            eras[-1] = eras[-1].model_copy(update={"until": span.until})
        else:
            eras.append(Era(base=base, since=span.since, until=span.until))
    if not eras:
        raise Refusal(f"No policy counts for {tenant_id} then; publish a base first.")
    return tuple(eras)


async def base_in_force(db: Database, tenant_id: str, now: datetime) -> StoredBundle:
    """Return the base that counts for a tenant now. Raises NotFound for no such tenant, Refusal where none counts."""
    return (await eras_of(db, tenant_id, await publications(db, tenant_id), now, None))[0].base


async def kept(db: Database, tenant_id: str, digest: str) -> StoredBundle:
    """Return a published bundle. Raises Refusal where it is nowhere."""
    stored = await stored_bundle(db, tenant_id, digest)
    if stored is None:
        raise Refusal(f"The bundle {digest[:12]} is nowhere.")
    return stored


async def layer_over(stored: StoredBundle, base: NewBundle, tenant_id: str) -> NewBundle:
    """Return what a tenant has under `base`: `base`, where `stored` is a base, else its layer over it.

    Raises BundleUnfit where the layer does not fit over it.
    """
    if stored.base_digest is None:
        return base
    if stored.base_digest == base.digest:
        return stored
    try:
        layer = await asyncio.to_thread(load, stored.files, base.files)
    except BundleInvalid as fault:
        raise BundleUnfit(
            f"The layer {stored.bundle_id} {stored.version} of {tenant_id} does not fit over {base.bundle_id} "
            f"{base.version}: {fault}",
            file=fault.file,
            line=fault.line,
            wrong=fault.wrong,
            right=fault.right,
            tenant=tenant_id,
        ) from None
    of_layer = stored.model_dump(include=set(NewBundle.model_fields))
    return NewBundle.model_validate({**of_layer, "digest": layer.digest, "base_digest": base.digest})
