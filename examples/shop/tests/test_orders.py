import unittest

from src.api import orders


class Orders(unittest.TestCase):
    def test_a_retry_changes_nothing(self):
        first = orders.create("a", [(1000, 2)])
        again = orders.create("a", [(1000, 2)])
        self.assertEqual(first, (200, {"id": "a", "total": 2380}))
        self.assertEqual(first, again)

    def test_an_empty_order_is_refused(self):
        status, body = orders.create("b", [])
        self.assertEqual((status, body["error"]["code"]), (400, "empty-order"))


if __name__ == "__main__":
    unittest.main()
