"""Prices in cents."""


def round_half_up(numerator: int, denominator: int) -> int:
    """Divides and rounds half up, in integers."""
    return (2 * numerator + denominator) // (2 * denominator)


def total(items: list[tuple[int, int]], discount_percent: int = 0, tax_percent: int = 19) -> int:
    """Returns the price of (unit price, quantity) pairs: discount first, then tax."""
    net = sum(price * quantity for price, quantity in items)
    net -= round_half_up(net * discount_percent, 100)
    return net + round_half_up(net * tax_percent, 100)
