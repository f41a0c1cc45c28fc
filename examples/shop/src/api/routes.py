"""Every route of the service."""
from src.api import orders

ROUTES = {("POST", "/orders/<id>"): orders.create}
