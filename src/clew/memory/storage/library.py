"""Reading memories. Every reader asks here, and gets what the viewer may see."""

import re
import uuid
from collections.abc import Iterable, Sequence

import msgspec

from clew.errors import Conflict, Forgotten, InvalidArgument, NotFound
from clew.memory.model import CHANGES, MEMORIES, Memory
from clew.memory.scope import BY_ID, EVERYTHING, FORGOTTEN_BY_ID, MemoryFilters, Viewer
from clew.memory.storage.changes import ERASE
from clew.memory.storage.home import Home
from clew.memory.storage.index import IndexedMemory
from clew.store.interface import Damaged
from clew.text.display import shortened
from clew.text.words import storable

_TAG = re.compile(r"\[?node_([a-f0-9]+)\]?")
_HOW = "search_graph and get_recent_context give ids, as does `clew memory list`."
GRAPH_PREFIX = "memory:"


class MemoryReader:
    def __init__(self, home: Home, viewer: Viewer) -> None:
        self.home = home
        self.index = home.index
        self.viewer = viewer

    def get(self, id: str) -> Memory:
        """A memory. NotFound where there is none that the viewer may see, Forgotten where it was forgotten."""
        id = normal_id(id)
        if id in self.index.visible((id,), self.viewer, BY_ID):
            return self._read(id)
        if id in self.index.visible((id,), self.viewer, FORGOTTEN_BY_ID):
            if self._is_erased(id):
                raise Forgotten(
                    f"The memory {id} was deleted for good.",
                    hint="Nothing brings it back; get_node_lineage says when and why.",
                    data={"node_id": id},
                )
            raise Forgotten(
                f"The memory {id} was forgotten.",
                hint="restore_from_hash brings it back; search_tombstones gives its reversal_hash.",
                data={"node_id": id},
            )
        raise NotFound(f"There is no memory '{shortened(id)}'.", hint=_HOW, data={"node_id": id[:80]})

    def _is_erased(self, id: str) -> bool:
        """True if the last change of a memory deleted it for good."""
        (*_, (_, hash)) = self.index.touched(id)
        change = self.home.store.get(CHANGES, hash)
        return change is not None and change.data["operation"] == ERASE

    def get_many(self, ids: Iterable[str], filters: MemoryFilters = EVERYTHING) -> dict[str, Memory]:
        """The memories among these ids that may be seen, in their order. A damaged one is left out and reported."""
        return self._read_many(self.index.visible(ids, self.viewer, filters))

    def get_all(self, ids: Iterable[str]) -> dict[str, Memory]:
        """The same for whom a missing memory means something: a damaged one is an error."""
        damaged: Damaged = {}
        found = self._read_many(self.index.visible(ids, self.viewer, EVERYTHING), damaged)
        for error in damaged.values():
            raise error
        return found

    def named(self, given: str) -> Memory:
        """The memory that an id, the beginning of one, or a citation tag means."""
        return self.get(self.any_named(given))

    def any_named(self, given: str) -> str:
        """The id that is meant, of a memory that is there or was forgotten."""
        tag = _TAG.fullmatch(given.strip())
        digits = tag[1] if tag else given.strip().lower().replace("-", "")
        if not re.fullmatch(r"[0-9a-f]{4,32}", digits):
            raise NotFound(f"'{shortened(storable(given))}' names no memory.", hint=_HOW)
        return self.with_prefix(digits, given)

    def with_prefix(self, digits: str, given: str) -> str:
        """The only id that begins with these digits; those still there come before those forgotten."""
        found = self.index.with_prefix(digits, self.viewer)
        there = [id for id, forgotten in found if not forgotten] or [id for id, _ in found]
        if not there:
            raise NotFound(f"No memory has an id that begins like '{shortened(given)}'.", hint=_HOW)
        if len(there) > 1:
            raise Conflict(
                f"'{shortened(given)}' is the beginning of several ids: {', '.join(there)}.",
                hint="Pass more digits of the one that is meant.",
                data={"candidates": there},
            )
        return there[0]

    def latest(
        self, limit: int, filters: MemoryFilters = EVERYTHING, offset: int = 0
    ) -> list[tuple[Memory, IndexedMemory]]:
        """The memories that were made or shown last, the latest first."""
        rows = self.index.latest(self.viewer, filters, limit, offset)
        memories = self._read_many(row.id for row in rows)
        return [(memories[row.id], row) for row in rows if row.id in memories]

    def forgotten(self, id: str) -> Memory:
        """A forgotten memory as it was, for one who may see it."""
        if id not in self.index.visible((id,), self.viewer, FORGOTTEN_BY_ID):
            raise NotFound(f"There is no memory '{shortened(id)}', and none was forgotten.", hint=_HOW)
        events = self.home.store.events(collection=MEMORIES, id=id)
        return msgspec.convert(next(event.before for event in reversed(events) if event.after is None), Memory)

    # Implements: REQ-d00305-D
    def at(self, ids: Sequence[str], time: str) -> dict[str, tuple[Memory, Memory]]:
        """Some memories as they were at a time, and as they were written last."""
        states: dict[str, tuple[object, object]] = {}
        for event in self.home.store.events(collection=MEMORIES, id=tuple(ids)) if ids else ():
            if event.after is not None:
                # What a memory was recorded at is a moment before its first event.
                is_then = event.at <= time or event.id not in states
                states[event.id] = (event.after if is_then else states[event.id][0], event.after)
        return {id: msgspec.convert(both, tuple[Memory, Memory]) for id, both in states.items()}

    def _read_many(self, ids: Iterable[str], damaged: Damaged | None = None) -> dict[str, Memory]:
        """The records of ids that the index admitted; memories that were just forgotten, and damaged ones, are left
        out."""
        found = self.home.store.get_many(MEMORIES, ids, damaged=self.home.damage if damaged is None else damaged)
        return {id: msgspec.convert(record.data, Memory) for id, record in found.items()}

    def _read(self, id: str) -> Memory:
        """The record of an id that the index admitted."""
        record = self.home.store.get(MEMORIES, id)
        if record is None:
            raise NotFound(f"The memory {id} has just been forgotten.", hint="Ask again.")
        return msgspec.convert(record.data, Memory)


def normal_id(id: str) -> str:
    """An id in its one spelling."""
    given = id.strip().removeprefix(GRAPH_PREFIX)
    try:
        return str(uuid.UUID(given))
    except ValueError as error:
        raise InvalidArgument(f"'{shortened(id)}' is not an id of a memory, which is a UUID.", hint=_HOW) from error
