"""Publishing: a tenant's layer, a base for everybody, and going back; nothing is ever half-published.

Who may is asked before, by whoever serves; what was published, by whom and why, stands in the audit.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from domain.base import Noun
from domain.refusal import BundleUnfit, Refusal
from policy.bundle import A_LAYER, CASES, Bundle, BundleInvalid
from policy.invalid import line_of
from policy.manifest import MANIFEST, Facts, Manifest, read_manifest
from publishing.eras import Era, eras_of, kept, layer_over
from publishing.examining import Examined, load
from publishing.timeline import called_off, spans
from store.database import Database
from store.policies import (
    NewBundle,
    Plan,
    Publication,
    PublicationCause,
    StoredBundle,
    Term,
    bundles,
    publications,
    publish,
    rebase,
)

Files = Mapping[str, str]
Examine = Callable[[Files, Files | None], Awaitable[Examined]]  # here, or in a process of its own


class Published(Noun):
    """What was published, what its examination found, and which publications will never count because of it."""

    publication: Publication
    examined: Examined
    called_off: tuple[Publication, ...]


class RolledBack(Noun):
    """What counts again, and which publications will never count because of it."""

    publication: Publication
    called_off: tuple[Publication, ...]


async def bundle_of(db: Database, tenant_id: str, digest: str) -> Bundle:
    """Return a published bundle, loaded. Raises Refusal where it is nowhere."""
    stored = await kept(db, tenant_id, digest)
    return load(stored.files, stored.base_files)


async def publish_layer(
    db: Database, tenant_id: str, files: Files, by: str, note: str | None, examine: Examine, now: datetime
) -> Published:
    """Let a tenant's layer count, from its effective_from on, or now where that has passed.

    It counts over the base in force, and over each that is to come in its time. Raises BundleUnfit for what does not
    load over one of them, is not this tenant's, or has a case that comes out otherwise; Refusal where something else
    was published meanwhile.
    """
    manifest = _manifest(files)
    if manifest.base is None:
        right = f'a layer names its "tenant", "{tenant_id}", and its "base"; a base is published with --for-all'
        raise _unfit(files, "base", f"{manifest.id} is a base, and no tenant's layer", right)
    since = _since(files, manifest, now)
    known = await publications(db, tenant_id)
    eras = await eras_of(db, tenant_id, known, since, manifest.effective_until)
    over = ["", *(f"over {era.base.bundle_id} {era.base.version}, which counts from {era.since}: " for era in eras[1:])]
    examined = [await _examined(files, era.base.files, examine, told) for era, told in zip(eras, over, strict=True)]
    if manifest.tenant != tenant_id:
        raise _unfit(files, "tenant", f"tenant is {manifest.tenant!r}", f'"tenant": "{tenant_id}"')
    await _hold_version(db, tenant_id, manifest, files)
    terms = [
        _term(_new(one, files, tenant_id, era.base.digest), era, PublicationCause.PUBLISHED)
        for one, era in zip(examined, eras, strict=True)
    ]
    done = await publish(db, tenant_id, Plan(seen=known[0].n, terms=tuple(terms)), by, note)
    return Published(publication=done[0], examined=examined[0], called_off=_called_off(done, known))


async def publish_base(
    db: Database,
    owner: Database,
    tenants: list[str],
    files: Files,
    by: str,
    note: str | None,
    examine: Examine,
    now: datetime,
) -> Examined:
    """Let a base count for every tenant, in the place of the one that counts then; all of them, or none.

    Each tenant's layers are made anew over it, with their own dates; what is over a base still to come stays so.
    Raises BundleUnfit, also where a tenant's layer does not fit over it any more: it says whose.
    """
    examined = await _examined(files, None, examine)
    manifest = examined.manifest
    if manifest.facts is not Facts.ACCOUNT:
        right = "a base whose facts are account; others are judged with interlock policy judge"
        raise _unfit(files, "facts", f"facts is {manifest.facts.value}", right)
    since = _since(files, manifest, now)
    base = _new(examined, files, None, None)
    for tenant_id in tenants[:1]:  # everybody sees every base
        await _hold_version(db, tenant_id, manifest, files)
    until = manifest.effective_until
    plans = {tenant_id: await _replanned(db, tenant_id, base, since, until) for tenant_id in tenants}
    await rebase(owner, base, plans, by, note)
    return examined


async def roll_back(
    db: Database,
    tenant_id: str,
    to: str | None,
    by: str,
    note: str | None,
    now: datetime,
    through: Database | None = None,
) -> RolledBack:
    """Let what counted earlier count again, at once: the bundle `to`, a digest, or what was before what counts now.

    What counts now need not load. It is published `through` the owner's database, where that is given.

    A layer comes back over the base in force, never with the base of its time, which is not its tenant's to choose.
    Raises Refusal where there is nothing to go back to, and BundleUnfit where the layer does not fit any more.
    """
    known = await publications(db, tenant_id)
    eras = await eras_of(db, tenant_id, known, now, None)
    target = await _earlier(db, tenant_id, known, to, now)
    if target.base_digest is None and to not in (None, eras[0].base.digest):
        raise Refusal(f"{to[:12] if to else ''} is a base of its time; the one in force is {eras[0].base.digest[:12]}.")
    terms = [_term(await layer_over(target, era.base, tenant_id), era, PublicationCause.ROLLED_BACK) for era in eras]
    done = await publish(through or db, tenant_id, Plan(seen=known[0].n, terms=tuple(terms)), by, note)
    return RolledBack(publication=done[0], called_off=_called_off(done, known))


async def _replanned(db: Database, tenant_id: str, base: NewBundle, since: datetime, until: datetime | None) -> Plan:
    """All that is to count for a tenant from `since` on, over `base` where it was over the base that counts then."""
    known = await publications(db, tenant_id)
    replaced = (await eras_of(db, tenant_id, known, since, until))[0].base.digest
    terms = []
    for span in spans(known, since, until):
        stored = await kept(db, tenant_id, span.publication.digest)
        anew = (stored.base_digest or stored.digest) == replaced
        made = await layer_over(stored, base, tenant_id) if anew else stored
        cause = PublicationCause.PUBLISHED if made.digest == base.digest else PublicationCause.REBASED
        terms.append(Term(bundle=made, effective_from=span.since, effective_until=span.until, cause=cause))
    return Plan(seen=known[0].n, terms=tuple(terms))


async def _earlier(
    db: Database, tenant_id: str, known: tuple[Publication, ...], to: str | None, now: datetime
) -> StoredBundle:
    """The bundle to go back to: one that has counted, and says something else than what counts now. Raises Refusal."""
    current = await kept(db, tenant_id, spans(known, now)[0].publication.digest)
    wanted = await kept(db, tenant_id, to) if to is not None else None
    for digest in dict.fromkeys(one.digest for one in known if one.effective_from <= now):
        stored = await kept(db, tenant_id, digest)
        if _own(stored) != _own(current) and (wanted is None or _own(stored) == _own(wanted)):
            return wanted or stored
    if to is None:
        raise Refusal("There is nothing of this tenant's own to go back to; a base goes back by being published again.")
    if wanted is not None and _own(wanted) == _own(current):
        raise Refusal(f"The bundle {to[:12]} is what counts now; go back to another, or leave `to` out.")
    raise Refusal(f"The bundle {to[:12]} has never counted here, so there is no going back to it; publish it instead.")


def _own(stored: NewBundle) -> dict[str, str] | None:
    """What of a bundle its tenant decides: the files of a layer but the cases; nothing of a base."""
    return _deciding(stored.files) if stored.base_digest is not None else None


def _deciding(files: Files) -> dict[str, str]:
    return {name: text for name, text in files.items() if name != CASES}


def _called_off(done: tuple[Publication, ...], known: tuple[Publication, ...]) -> tuple[Publication, ...]:
    return called_off(known, (*reversed(done), *known), done[0].effective_from)


async def _examined(files: Files, base_files: Files | None, examine: Examine, over: str = "") -> Examined:
    try:
        examined = await examine(files, base_files)
    except BundleInvalid as fault:
        raise _told(fault, over) from None
    if examined.failed:
        told = "; ".join(examined.failed[:3])
        raise BundleUnfit(
            f"{over}{len(examined.failed)} of its cases come out otherwise: {told}", cases=examined.failed
        )
    return examined


def _manifest(files: Files) -> Manifest:
    """The manifest of a layer. Raises BundleUnfit."""
    try:
        if MANIFEST not in files:
            raise BundleInvalid(MANIFEST, 1, "the file is missing", A_LAYER)
        return read_manifest(files[MANIFEST])
    except BundleInvalid as fault:
        raise _told(fault) from None


def _since(files: Files, manifest: Manifest, now: datetime) -> datetime:
    """When it is to count from. Raises BundleUnfit where it would never count."""
    until = manifest.effective_until
    if until is not None and until <= now:
        raise _unfit(files, "effective_until", f"effective_until {until} has passed", "a time to come, or null")
    return max(manifest.effective_from, now)


async def _hold_version(db: Database, tenant_id: str, manifest: Manifest, files: Files) -> None:
    """A version of a base, or of a tenant's layer, names one content for good, over whichever base.

    `tenant_id` is somebody who sees those that there are. Raises BundleUnfit.
    """
    named = manifest.tenant, manifest.id, manifest.version
    alike = [b for b in await bundles(db, tenant_id) if (b.tenant_id, b.bundle_id, b.version) == named]
    if any(_deciding(b.files) != _deciding(files) for b in alike):
        wrong = f"version {manifest.version} of {manifest.id} is published already, with other content"
        raise _unfit(files, "version", wrong, "give it a version of its own")


def _term(bundle: NewBundle, era: Era, cause: PublicationCause) -> Term:
    return Term(bundle=bundle, effective_from=era.since, effective_until=era.until, cause=cause)


def _new(examined: Examined, files: Files, tenant_id: str | None, base_digest: str | None) -> NewBundle:
    return NewBundle(
        digest=examined.digest,
        bundle_id=examined.manifest.id,
        version=examined.manifest.version,
        manifest=examined.manifest.model_dump(mode="json"),
        files=dict(files),
        tenant_id=tenant_id,
        base_digest=base_digest,
    )


def _unfit(files: Files, field: str, wrong: str, right: str) -> BundleUnfit:
    """What is wrong with a field of the manifest."""
    return _told(BundleInvalid(MANIFEST, line_of(files.get(MANIFEST, ""), f'`"{field}":`'), wrong, right))


def _told(fault: BundleInvalid, over: str = "") -> BundleUnfit:
    return BundleUnfit(f"{over}{fault}", file=fault.file, line=fault.line, wrong=fault.wrong, right=fault.right)
