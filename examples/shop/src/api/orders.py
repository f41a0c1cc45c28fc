"""POST /orders/<id>: the client makes the id, so that a retry is harmless."""
from src.api.errors import error
from src.pricing.totals import total

ORDERS: dict[str, int] = {}


def create(order_id: str, items: list[tuple[int, int]]) -> tuple[int, dict]:
    if not items:
        return 400, error("empty-order", "an order needs at least one item")
    if order_id not in ORDERS:
        ORDERS[order_id] = total(items)
    return 200, {"id": order_id, "total": ORDERS[order_id]}
