"""Records of cognition in the memory's store: goals, thresholds, weights and profiles.

Every write is a change, so restore_from_hash undoes it, and the store's events are the history of each record.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from clew.store.interface import Event

if TYPE_CHECKING:
    from clew.memory.service import MemoryView
    from clew.memory.storage.changes import ChangeWriter

COGNITION = "cognition"
"""The collection of the store."""
INSUFFICIENT = "insufficient data"
_MOST = 1_000

T = TypeVar("T")


class SampledAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer that is computed. Without enough to compute it from, its figures are null."""

    sufficient_data: bool
    samples: int
    """From how many things the figures were computed."""
    note: str
    """The measurement, or what is missing for one."""


class CognitionRecords:
    def __init__(self, view: "MemoryView") -> None:
        self._view = view
        self._store = view.service.home.store

    def get(self, id: str, type_: type[T]) -> T | None:
        record = self._store.get(COGNITION, id)
        return None if record is None else msgspec.convert(record.data, type_)

    def below(self, prefix: str, type_: type[T]) -> dict[str, T]:
        """The records whose ids have a beginning, by the rest of their ids."""
        found = self._store.scan(COGNITION, after=prefix, limit=_MOST)
        return {
            record.id.removeprefix(prefix): msgspec.convert(record.data, type_)
            for record in found
            if record.id.startswith(prefix)
        }

    def update(
        self,
        id: str,
        type_: type[T],
        changed: Callable[[T | None], T | None],
        operation: str,
        why: str,
        details: Mapping[str, Any] | None = None,
    ) -> str:
        """Change a record, or delete it where `changed` gives None. Returns the hash that undoes it."""
        with self._view.changes.make(operation, self._view.actor, why) as change:
            change.details = dict(details or {})
            self.update_in(change, id, type_, changed)
        return change.hash

    def update_in(
        self, change: "ChangeWriter", id: str, type_: type[T], changed: Callable[[T | None], T | None]
    ) -> None:
        """The same as part of a larger change."""
        present = change.present(COGNITION, id)
        new = changed(None if present is None else msgspec.convert(present, type_))
        if new is not None:
            change.write(COGNITION, id, new)
        elif present is not None:
            change.remove(COGNITION, id)

    def history(self, id: str) -> list[Event]:
        """List the changes of a record, in order."""
        return self._store.events(collection=COGNITION, id=id)
