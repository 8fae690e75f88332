"""Small shops of our own, drawn at random, and requests that are right, or wrong in one way or another."""

from typing import Any

from hypothesis import strategies as st

from tests.policy.retail_shop import ADDRESS, TAKES

Json = dict[str, Any]
STATUSES = (
    "pending",
    "pending (item modified)",
    "processed",
    "delivered",
    "cancelled",
    "return requested",
    "exchange requested",
    " pending",
)
HOME = {name: f"{name} of someone" for name in ADDRESS}
PRICES = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.1, 2.2, 10.35, 33.33, 250, 249.99])
OTHER = {f"lamp-{n}": f"rug-{n}" for n in range(4)} | {f"rug-{n}": f"lamp-{n}" for n in range(4)}
METHODS = ("gift_{}", "card_{}", "pal_{}")


def _methods(draw: st.DrawFn, who: str) -> Json:
    balance = draw(
        st.one_of(
            st.sampled_from([0.0, 0.1, 0.2, 0.3, 1000.0]),
            st.integers(0, 30_000).map(lambda n: n / 100),
            st.tuples(PRICES, PRICES).map(lambda pair: abs(pair[0] - pair[1])),  # not at a whole cent
        )
    )
    gift = {"source": "gift_card", "id": f"gift_{who}", "balance": balance}
    cards = {f"card_{who}": {"source": "credit_card"}, f"pal_{who}": {"source": "paypal"}}
    return {f"gift_{who}": gift, **cards}


def _item(products: Json, product: str, item: str) -> Json:
    return {"item_id": item, "product_id": product, "price": products[product]["variants"][item]["price"]}


@st.composite
def worlds(draw: st.DrawFn) -> Json:
    """Two users, two products with variants, and an order or two of each user."""
    products = {
        product: {
            "variants": {
                f"{product}-{n}": {"available": n < 3 or draw(st.booleans()), "price": draw(PRICES)} for n in range(4)
            }
        }
        for product in ("lamp", "rug")
    }
    users = {who: {"payment_methods": _methods(draw, who), "address": HOME} for who in ("ann", "bob")}
    kinds = [(product, item) for product in products for item in products[product]["variants"]]
    orders = {}
    for ident, who in (("#1", "ann"), ("#2", "ann"), ("#3", "bob")):
        items = [_item(products, *chosen) for chosen in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))]
        paid = {
            "transaction_type": "payment",
            "amount": round(sum(item["price"] for item in items), 2),
            "payment_method_id": draw(st.sampled_from(METHODS)).format(draw(mostly(who, "nobody"))),
        }
        history = draw(mostly([paid], [], [paid, paid], [{**paid, "transaction_type": "refund"}]))
        status = draw(st.sampled_from((*STATUSES[:1] * 4, *STATUSES[3:4] * 4, *STATUSES)))
        orders[ident] = {"user_id": who, "status": status, "items": items, "payment_history": history, "address": HOME}
    return {"users": users, "orders": orders, "products": products}


def mostly(good: Any, *others: Any) -> st.SearchStrategy[Any]:
    """`good` seven times in eight, so that most requests are wrong in one way or in none."""
    return st.integers(1, 8).flatmap(lambda n: st.sampled_from(others) if n == 5 else st.just(good))


@st.composite
def requests(draw: st.DrawFn, world: Json) -> tuple[str, str, Any]:
    """A principal, a tool and its arguments in `world`."""
    tool = draw(st.sampled_from(list(TAKES)))
    if tool == "modify_user_address":
        who = draw(st.sampled_from(["ann", "bob"]))
        return draw(mostly(who, "bob", "eve")), tool, draw(_spoilt({"user_id": who, **HOME}))
    fitting = [ident for ident, order in world["orders"].items() if order["status"].split()[0] in tool]
    ident = draw(st.sampled_from(fitting or list(world["orders"])))
    ident = draw(mostly(ident, "#1", "#3", "#9"))
    order = world["orders"].get(ident, world["orders"]["#1"])
    arguments = {name: value for name, value in _parts(draw, order, world).items() if name in TAKES[tool]}
    principal = draw(mostly(order["user_id"], "ann", "bob", "eve"))
    return principal, draw(mostly(tool, "delete_order", "")), draw(_spoilt({**arguments, "order_id": ident}))


def _parts(draw: st.DrawFn, order: Json, world: Json) -> Json:
    """Values for every argument of every tool on an order."""
    held = [item["item_id"] for item in order["items"]]
    named = held[: draw(st.integers(1, len(held)))]
    named = draw(mostly(named, [], held + held[:1], ["lamp-0"], ["x"]))
    swapped = [f"{ident.split('-')[0]}-{draw(st.integers(0, 3))}" for ident in named]
    first = [entry["payment_method_id"] for entry in order["payment_history"][:1]]
    method = draw(st.sampled_from([*first, *(name.format(order["user_id"]) for name in METHODS)]))
    return {
        **HOME,
        "reason": draw(mostly("no longer needed", "ordered by mistake", "Ordered by mistake", "")),
        "item_ids": named,
        "new_item_ids": draw(
            mostly(swapped, swapped[1:], named, [*swapped, "rug-0"], [OTHER.get(n, n) for n in swapped])
        ),
        "payment_method_id": draw(mostly(method, "gift_ann", "card_bob", "card_x")),
    }


@st.composite
def _spoilt(draw: st.DrawFn, arguments: Json) -> Any:
    """The arguments as they are; or, now and then, one missing, one more, or one of another type."""
    name = draw(st.sampled_from(sorted(arguments)))
    odd = draw(st.sampled_from([None, 1, True, [], ["x", 1], {"x": "y"}]))
    missing = {k: v for k, v in arguments.items() if k != name}
    return draw(mostly(arguments, missing, {**arguments, "note": "x"}, {**arguments, name: odd}, list(arguments), None))
