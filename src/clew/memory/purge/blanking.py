"""What a purge leaves of each value in the store: ids and times, and nothing that anybody wrote."""

from typing import Any

from clew.memory.model import CHANGES, EXCHANGES, LINKS, MEMORIES, MIRRORS, PURGES
from clew.memory.purge.choose import Chosen
from clew.memory.scope import BY_A_PERSON

PURGED = "purged"
_COMMON = frozenset({BY_A_PERSON, "annotated", PURGED})
"""Reasons that say nothing of a memory."""


_OWN = (PURGES, MIRRORS)
"""What says nothing of memories."""


class Blanking:
    """Edits the values of a store; see `Store.rewrite`."""

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self._reasons = {change.rationale for change in chosen.changes.values()} - _COMMON

    def __call__(self, collection: str, id: str, value: Any) -> Any:
        if isinstance(value, str):
            return "" if value in self._reasons or self._chosen.traces.in_text(value) else value
        edit = {MEMORIES: self._memory, LINKS: self._link, CHANGES: self._change, EXCHANGES: self._exchange}
        if collection in _OWN:
            return value
        return edit.get(collection, self._other)(id, value)

    def _memory(self, id: str, value: Any) -> Any:
        return None if id in self._chosen.ids else value

    def _link(self, id: str, value: Any) -> Any:
        return None if not self._chosen.ids.isdisjoint(id.split(".")[::2]) else value

    def _change(self, id: str, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if id not in self._chosen.changes and not self._holds(value, "rationale", "details"):
            return value
        return {**value, "rationale": PURGED, "details": {}}

    def _exchange(self, id: str, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        is_shown = not self._chosen.ids.isdisjoint(value.get("shown", ()))
        if not is_shown and not self._holds(value, "query", "reason"):
            return value
        return {**value, "query": "", "reason": ""}

    def _holds(self, value: dict[str, Any], *names: str) -> bool:
        return self._chosen.traces.in_value([value.get(name) for name in names])

    def _other(self, id: str, value: Any) -> Any:
        """What captures and other parts keep beside memories."""
        return None if self._chosen.everything or self._chosen.traces.in_value(value) else value
