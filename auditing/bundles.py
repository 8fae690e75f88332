"""The bundle that a person names, as it would count for each tenant: a folder, a published one, or one that ships.

A base is laid under the layer that a tenant has over it, as its publication would; a layer is laid over its base.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from auditing.sources import Sources
from domain.base import Noun
from domain.refusal import NotFound
from policy.bundle import BUNDLES, BundleInvalid, read_folder
from policy.manifest import MANIFEST, read_manifest
from store.database import Database
from store.policies import StoredBundle, find_bundle, in_force, stored_bundle


class NoBundle(ValueError):
    """What was named is no bundle, or cannot count for a tenant; str() says why."""


class _Named(Noun):
    """What a name stands for, and where it was found."""

    sources: Sources
    origin: str


class Candidate(Noun):
    """A named bundle, by tenant: as it would count for each of them."""

    title: str
    by_tenant: dict[str, Sources]


async def candidate(db: Database, tenants: Sequence[str], name: str) -> Candidate:
    """Return the bundle called `name` as it would count for each of `tenants`. Raises NoBundle or BundleInvalid.

    A tenant's layer counts for its tenant alone.
    """
    named = await _named(db, tenants, name)
    sources, loaded = named.sources, named.sources.bundle()
    manifest = loaded.manifest
    title = f"{manifest.id} {manifest.version} ({loaded.digest[:12]}, {named.origin})"
    if manifest.tenant is not None:
        if manifest.tenant not in tenants:
            raise NoBundle(f"{name} is a layer of the tenant {manifest.tenant}, and counts for no other")
        return Candidate(title=title, by_tenant={manifest.tenant: sources})
    by_tenant = {}
    for tenant in tenants:
        by_tenant[tenant] = _under_layer(sources, manifest.id, await counts_now(db, tenant))
    return Candidate(title=title, by_tenant=by_tenant)


async def counts_now(db: Database, tenant: str) -> StoredBundle | None:
    """Return the bundle that is in force for a tenant, or None where its files are not kept. Raises NotFound."""
    digest = await in_force(db, tenant, datetime.now(UTC))
    found = await stored_bundle(db, tenant, digest)
    return found if found is not None and found.files else None


def sources_of(stored: StoredBundle) -> Sources:
    """Return what a published bundle is parsed from."""
    return Sources(files=stored.files, base=stored.base_files)


def _under_layer(base: Sources, base_id: str, now: StoredBundle | None) -> Sources:
    """The base with the layer that the tenant has over it, if it has one."""
    if now is None or now.base_files is None or read_manifest(now.files[MANIFEST]).base != base_id:
        return base
    laid = Sources(files=now.files, base=base.files)
    try:
        laid.bundle()
    except BundleInvalid as error:
        raise NoBundle(
            f"the layer {now.bundle_id} of the tenant {now.tenant_id} does not fit over it: {error}"
        ) from error
    return laid


async def _named(db: Database, tenants: Sequence[str], name: str) -> _Named:
    if is_folder(name):
        return _Named(sources=await _in_folder(db, tenants, Path(name)), origin=f"folder {name}")
    for tenant in tenants:
        with suppress(NotFound):
            found = await find_bundle(db, tenant, name)
            return _Named(sources=sources_of(found), origin=f"published {found.published_at:%Y-%m-%d %H:%M} UTC")
    shipped = sorted(path.name for path in BUNDLES.iterdir() if path.is_dir())
    if name in shipped:
        return _Named(sources=Sources(files=read_folder(BUNDLES / name)), origin="comes with Interlock")
    raise NoBundle(
        f"there is no bundle {name!r}: name a folder, a published one by its id, ID@VERSION or the beginning of its"
        f" digest (interlock policy list), or one that comes with Interlock ({', '.join(shipped)})"
    )


def is_folder(name: str) -> bool:
    """Tell whether a bundle is named by its folder."""
    return Path(name).is_dir()


async def _in_folder(db: Database, tenants: Sequence[str], folder: Path) -> Sources:
    files = read_folder(folder)
    manifest = read_manifest(files.get(MANIFEST, ""))
    if manifest.base is None:
        return Sources(files=files)
    now = await counts_now(db, manifest.tenant) if manifest.tenant and manifest.tenant in tenants else None
    if now is not None and manifest.base == (read_manifest(now.files[MANIFEST]).base or now.bundle_id):
        return Sources(files=files, base=now.base_files or now.files)
    if (BUNDLES / manifest.base).is_dir():
        return Sources(files=files, base=read_folder(BUNDLES / manifest.base))
    raise NoBundle(f"its base {manifest.base} is neither in force for {manifest.tenant} nor comes with Interlock")
