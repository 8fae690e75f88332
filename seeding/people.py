"""Who may sign in to the demo without a password: its staff, and its customers with what makes them worth trying.

A file beside the demo's data, readable by its owner alone; no other installation has one.
"""

import json
import os
from pathlib import Path
from typing import Any

from seeding.tenants import STAFF

CUSTOMERS_MAX = 40


def people_of(world: dict[str, Any]) -> dict[str, Any]:
    """Return the people of the shop's world, as `GET /sessions/people` gives them."""
    staff = [{"id": ident, "name": name, "role": role.value} for ident, name, role in STAFF]
    return {
        "tenants": [
            {
                "id": tenant["id"],
                "name": tenant.get("name") or tenant["id"],
                "kind": tenant["kind"],
                "staff": staff,
                "customers": [
                    {"id": c["id"], "name": c.get("name") or c["id"], "about": _about(c)}
                    for c in tenant["customers"][:CUSTOMERS_MAX]
                ],
            }
            for tenant in world["tenants"]
        ]
    }


def write_people(file: Path, people: dict[str, Any]) -> None:
    """Put them at `file` in one rename."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(people, ensure_ascii=False, indent=1), "utf-8")
    draft.rename(file)


def _about(customer: dict[str, Any]) -> str:
    """What the customer has, in a few words: "order A-10482 shipped, order A-10483 delivered"."""
    orders = [f"order {o['id']} {o['status'].replace('_', ' ')}" for o in customer.get("orders", [])]
    plans = [f"{s['plan']} subscription {s['status']}" for s in customer.get("subscriptions", [])]
    told = orders + plans
    more = f", {len(told) - 3} more" if len(told) > 3 else ""
    return ", ".join(told[:3]) + more or "nothing bought yet"
