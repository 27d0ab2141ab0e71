"""Keys that an object of JSON gives twice: a decoder takes the last, and the other value is gone in silence."""

from typing import Any


class _RepeatedKey(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def repeated_key(data: bytes) -> str | None:
    """The first key that an object gives twice. The data has to be valid JSON."""
    import json  # few files are searched

    try:
        json.loads(data, object_pairs_hook=_checked)
    except _RepeatedKey as found:
        return found.key
    return None


def _checked(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _RepeatedKey(key)
        seen.add(key)
