"""Who may do what on the command line: a member of staff answers for it, in a role that the policy in force lets do it.

Rooms are imported inside, so that a small command starts at once.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.permission import Tool
    from settings import Settings
    from store.database import Database


async def staff_who_may(db: "Database", tenant_id: str, staff_id: str, tool: "Tool", kind: str = "") -> str:
    """Return who answers for it, as the audit writes it (`staff:ID`).

    Raises NotFound where there is no such tenant or person, Forbidden where the policy in force does not let their
    role use the tool, and OperationalFault where that policy cannot be read.
    """
    from activities.policybook import PolicyBook
    from domain.permission import ToolQuestion, ToolRole
    from domain.refusal import Forbidden, NotFound
    from store.admission import staff_standing, tenant_standing

    if await tenant_standing(db, tenant_id) is None:
        raise NotFound(f"There is no such tenant as {tenant_id!r}.")
    staff = await staff_standing(db, tenant_id, staff_id)
    if staff is None or staff.revoked:
        raise NotFound(
            f"There is nobody {staff_id!r} on the staff of {tenant_id!r}; "
            "give the id, as in their token, of somebody who is and whose role the policy lets do this."
        )
    tenant, book = staff.tenant, PolicyBook(db)
    digest = tenant.policy_digest or ""
    await book.open(tenant_id, digest)
    asked = ToolQuestion(
        tenant_id=tenant_id,
        tenant_kind=tenant.kind,
        stage=tenant.stage,
        role=ToolRole(staff.role.value),
        tool=tool,
        kind=kind,
    )
    if not book.allows(digest, asked):
        use = tool.value.replace("_", " ")
        raise Forbidden(f"{staff_id} is {staff.role.value}; the policy in force does not let that role {use}.")
    return f"staff:{staff_id}"


def policies_not_loading(told: "Settings") -> "Sequence[str] | None":
    """Return a sentence for each tenant whose bundle in force does not load; None where the database cannot say."""
    import asyncio
    from datetime import UTC, datetime

    from sqlalchemy.exc import SQLAlchemyError

    from publishing.standing import not_loading
    from store.comparison import all_tenants
    from store.database import Database

    async def look() -> "Sequence[str]":
        db, relay = Database(told.database_url, 1), Database(told.relay_url, 1)
        try:
            return await not_loading(db, await all_tenants(relay), datetime.now(UTC))
        finally:
            await db.close()
            await relay.close()

    try:
        return asyncio.run(look())
    except SQLAlchemyError:
        return None
