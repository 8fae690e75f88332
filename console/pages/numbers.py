"""The page of the measures, with their counts and intervals.

The page stands at once; what has to be counted comes as a piece of its own, which says what it waits for.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from console.contract import contract_of
from console.entrance import staff_route
from console.rendering import render
from console.wording import duration, money

BY = {"intent": "Intent", "language": "Language", "stage": "Stage", "channel": "Channel"}
SPANS = {7: "7 days", 14: "14 days", 30: "30 days", 90: "90 days"}
SPAN_DEFAULT = 14

# What a figure is called, and which way is good; docs/numbers.md says what each counts.
NAMES = {
    "conversations": "Conversations",
    "reply_time": "Time to the assistant's reply",
    "human_reply_time": "Time to a person's reply",
    "handle_time": "Handle time of people",
    "queue_age": "Waiting now, for",
    "tag_precision": "Tag precision",
    "draft_acceptance": "Drafts accepted",
    "draft_change": "Sent drafts that were edited",
    "refund_errors": "Refunds found wrong",
    "policy_violations": "Policy violations",
    "policy_denials": "Proposals that policy denied",
    "escalations": "Escalated to a person",
    "escalations_right": "Rightly escalated",
    "handoff_score": "Quality of handoffs (1–5)",
    "csat": "Satisfied customers (4 or 5 of 5)",
    "csat_score": "Mean rating (1–5)",
    "resolved": "Resolved without a person",
    "verified_resolution": "Verified resolution",
    "recontact": "Came back",
    "cost": "Model cost a conversation",
}
CHARTS = (
    "conversations",
    "reply_time",
    "verified_resolution",
    "escalations",
    "csat",
    "draft_acceptance",
    "recontact",
    "cost",
)
COLUMNS = (
    "conversations",
    "verified_resolution",
    "recontact",
    "escalations",
    "csat",
    "tag_precision",
    "draft_acceptance",
    "refund_errors",
    "reply_time",
    "handle_time",
    "cost",
)


def routes() -> list[BaseRoute]:
    """Return the routes of these pages."""
    return [staff_route("/numbers", page), staff_route("/numbers/figures", figures)]


async def page(request: Request) -> Response:
    """Show the frame: what is chosen, and a place for what is being counted."""
    return render(request, "numbers.html", **_chosen(request), by_names=BY, spans=SPANS)


async def figures(request: Request) -> Response:
    """Show what was counted, as a piece."""
    chosen = _chosen(request)
    last = datetime.now(UTC).date()
    first = last - timedelta(days=chosen["span"] - 1)
    told = await contract_of(request).get(
        "/numbers", by=chosen["by"], **{"from": first.isoformat(), "to": last.isoformat()}
    )
    currency = told["cost_currency"]
    return render(
        request,
        "pieces/figures.html",
        told=told,
        names=NAMES,
        columns=COLUMNS,
        charts=[_chart(name, told) for name in CHARTS],
        groups=[(g["group"], {m["figure"]: m for m in g["measures"]}) for g in told["groups"]],
        say=lambda measure, value: in_words(measure, value, currency),
        by_name=BY[chosen["by"]],
    )


def in_words(measure: dict[str, Any], value: float | None, currency: str | None) -> str:
    """Return one value of a measure in its unit: `12.5 %`, `3 min`, `4.2`, `€0.0031`; a dash where there is none."""
    if value is None:
        return "–"
    match measure["unit"]:
        case "share":
            return f"{value * 100:.1f} %"
        case "seconds":
            exact = f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"
            return exact if value < 10 else duration(value)
        case "score":
            return f"{value:.2f}"
        case "micros":
            return f"{value / 1_000_000:.4f} {currency or ''}".strip() if value else money(0, currency) or "0"
        case _:
            return f"{value:,.0f}"


def _chosen(request: Request) -> dict[str, Any]:
    query = request.query_params
    by = query.get("by", "intent")
    span = query.get("span", "")
    return {
        "by": by if by in BY else "intent",
        "span": int(span) if span.isdigit() and int(span) in SPANS else SPAN_DEFAULT,
    }


def _chart(name: str, told: dict[str, Any]) -> dict[str, Any]:
    """One figure by day, as the script that draws it takes it: values, both ends of their intervals, and counts."""
    days = [
        (day["day"], found)
        for day in told["days"]
        for found in day["measures"]
        if found["figure"] == name and found["n"]
    ]
    overall = next(m for m in told["overall"] if m["figure"] == name)
    scale = {"share": 100, "micros": 1e-6}.get(overall["unit"], 1)

    def scaled(value: float | None) -> float | None:
        return None if value is None else round(value * scale, 6)

    return {
        "name": name,
        "overall": overall,
        "data": {
            "unit": overall["unit"],
            "days": [day for day, _ in days],
            "value": [scaled(m["value"]["value"]) for _, m in days],
            "low": [scaled(m["value"]["low"]) for _, m in days],
            "high": [scaled(m["value"]["high"]) for _, m in days],
            "p95": [scaled(m["p95"]["value"]) if m["p95"] else None for _, m in days],
            "n": [m["n"] for _, m in days],
        },
    }
