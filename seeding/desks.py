"""The demo's service desks: hours, holidays, skills and targets of each tenant, and what its staff can do.

A desk that somebody has set is left alone, and so is what its staff can do.
"""

from typing import Any

from domain.desk import DeskSettings
from domain.refusal import VersionConflict
from store.database import Database
from store.desk import read_desk, set_desk, set_skills
from store.provision import SEEDING

_OFFICE = [["09:00", "18:00"]]
_DAY = [["00:00", "24:00"]]
_WEEK = ("mon", "tue", "wed", "thu", "fri")
_SKILLS = {
    "refund_request": "payments",
    "duplicate_charge": "payments",
    "damaged_item": "orders",
    "missing_item": "orders",
    "cancel_order": "orders",
    "cancel_subscription": "plans",
    "change_plan": "plans",
    "account_access": "accounts",
}

# By the kind of tenant: a shop in Berlin that sleeps at night, a product in New York that is there on weekdays.
DESKS = {
    "marketplace": DeskSettings.model_validate(
        {
            "timezone": "Europe/Berlin",
            "hours": {**dict.fromkeys(_WEEK, _OFFICE), "sat": [["10:00", "16:00"]]},
            "holidays": {"country": "DE", "subdivision": "BE"},
            "skills": {"by_intent": _SKILLS},
        }
    ),
    "saas": DeskSettings.model_validate(
        {"timezone": "America/New_York", "hours": dict.fromkeys(_WEEK, _DAY), "skills": {"by_intent": _SKILLS}}
    ),
}
# Who is not named here takes whatever comes, in any language.
ABLE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "agent-1": (("orders", "plans"), ("en", "de")),
    "agent-2": (("payments", "orders"), ("en", "es", "fr", "pt")),
    "manager-1": (("payments", "orders", "plans", "accounts"), ("en", "it", "de")),
    "manager-2": (("payments", "orders", "plans", "accounts"), ()),
    "finance-1": (("payments",), ("en", "tr")),
    "trust-1": (("accounts", "payments"), ("en", "pt", "es")),
}


async def give_desks(db: Database, world: dict[str, Any]) -> None:
    """Set the desk of every tenant of `world` (the shop's `GET /_world`) that has none yet."""
    for tenant in world["tenants"]:
        if (await read_desk(db, tenant["id"])).version > 0:
            continue
        try:
            await set_desk(db, tenant["id"], DESKS[tenant["kind"]], 0, SEEDING)
        except VersionConflict:  # somebody has set it in this moment
            continue
        for staff_id, (skills, languages) in ABLE.items():
            await set_skills(db, tenant["id"], staff_id, skills, languages, SEEDING)
