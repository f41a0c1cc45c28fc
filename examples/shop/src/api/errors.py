"""The one shape of an error."""


def error(code: str, message: str) -> dict:
    return {"error": {"code": code, "message": message}}
