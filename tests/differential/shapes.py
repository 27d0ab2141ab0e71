"""The keys of an answer: each as a path, with the items of a list under `[]`."""

from collections.abc import Iterator, Mapping
from typing import Any

_BY_DATA = ("params", "versions", "by_kind", "node_counts", "all", "active", "settings")
"""Fields whose keys are data, such as levels and ids."""


def keys(said: Any, above: str = "", *, skip: tuple[str, ...] = _BY_DATA) -> set[str]:
    return set(_keys(said, above, skip))


def _keys(said: Any, above: str, skip: tuple[str, ...]) -> Iterator[str]:
    if isinstance(said, Mapping):
        for name, value in said.items():
            path = f"{above}.{name}" if above else name
            yield path
            if name not in skip:
                yield from _keys(value, path, skip)
    elif isinstance(said, list):
        for item in said:
            yield from _keys(item, f"{above}[]", skip)
