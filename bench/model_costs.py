"""What conversations took of models, out of the rows that every call is booked in.

Money is in millionths of the price book's currency, for each conversation of a kind.
"""

from collections.abc import Mapping, Sequence

import psycopg

from bench.figures import Figures

CALLS_SQL = (
    "SELECT role || '.' || route, count(*), sum(input_tokens + output_tokens)::bigint, sum(cost_micros)::bigint"
    " FROM model_calls WHERE conversation_id = ANY(%s) GROUP BY 1 ORDER BY 1"
)


def cost_figures(name: str, owner_url: str, conversations: Mapping[str, Sequence[str]]) -> Figures:
    """Return, by matter and by role and route: calls, tokens and cost of one conversation, on average."""
    figures: Figures = {}
    with psycopg.connect(owner_url) as connection:
        for matter, ids in conversations.items():
            for route, calls, tokens, cost_micros in connection.execute(CALLS_SQL, (list(ids),)):
                each = f"{name}_{matter}_{route}"
                figures[f"{each}_calls_each"] = round(calls / len(ids), 2)
                figures[f"{each}_tokens_each"] = round(tokens / len(ids))
                figures[f"{each}_cost_micros_each"] = round(cost_micros / len(ids))
    return figures
