"""Policy over HTTP: what counts, what may be gone back to, and letting another bundle count.

A bundle is examined in a process of its own, so that nobody's message waits for it.
"""

from fastapi import APIRouter, Request

from domain.permission import Tool
from domain.refusal import BundleUnfit, Forbidden, NotFound, Refusal
from gateway.admission import GuardedRoute
from gateway.answers import BundleShown, PolicyPublished, PolicyStands
from gateway.bodies import GoBack, PublishPolicy
from gateway.desk import caller_of, desk_of
from gateway.documents import guarded, posted
from gateway.duties import require_staff, require_tool
from gateway.shapes import Id
from publishing.publish import publish_layer, roll_back
from store import policies

router = APIRouter(route_class=GuardedRoute, tags=["policy"])


@router.get("/policy", summary="Which policy counts", responses=guarded(Forbidden))
async def look(request: Request) -> PolicyStands:
    """Return the digest of the bundle in force, every publication, the newest first, and the bundles there are."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_POLICY)
    known = await policies.bundles(desk.db, staff.tenant_id)
    return PolicyStands(
        in_force=await policies.in_force(desk.db, staff.tenant_id, desk.clock()),
        publications=list(await policies.publications(desk.db, staff.tenant_id)),
        bundles=[BundleShown.model_validate(b.model_dump(exclude={"files", "base_files"})) for b in known],
    )


@router.get("/policy/bundles/{digest}", summary="A bundle's files", responses=guarded(NotFound, Forbidden))
async def show(request: Request, digest: Id) -> policies.StoredBundle:
    """Return a published bundle as it was published, with the files of its base."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.READ_POLICY)
    found = await policies.stored_bundle(desk.db, staff.tenant_id, digest)
    if found is None:
        raise NotFound("There is no such bundle.")
    return found


@router.post(
    "/policy/publications",
    status_code=201,
    summary="Let a bundle count",
    responses=posted(Forbidden, Refusal, BundleUnfit),
)
async def publish(request: Request, body: PublishPolicy) -> PolicyPublished:
    """Publish a layer over the base in force, from its effective_from on; its cases must come out as they say."""
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.PUBLISH_POLICY)
    done = await publish_layer(
        desk.db, staff.tenant_id, body.files, staff.key, body.note, desk.examiner.examine, desk.clock()
    )
    return PolicyPublished(
        publication=done.publication,
        cases=done.examined.cases_n,
        conflicts=[str(conflict) for conflict in done.examined.conflicts],
        unreached=[str(permit) for permit in done.examined.unreached],
        unasked=[str(permit) for permit in done.examined.unasked],
    )


@router.post("/policy/rollbacks", status_code=201, summary="Go back", responses=posted(Forbidden, Refusal, BundleUnfit))
async def go_back(request: Request, body: GoBack) -> policies.Publication:
    """Let an earlier bundle count again, at once: `to`, or what counted before what counts now.

    A layer comes back over the base in force.
    """
    desk, staff = desk_of(request), require_staff(caller_of(request))
    await require_tool(desk, staff, Tool.PUBLISH_POLICY)
    done = await roll_back(desk.db, staff.tenant_id, body.to, staff.key, body.note, desk.clock())
    return done.publication
