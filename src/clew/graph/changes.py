"""Changes: recorded, undoable edits of the graph and of the text behind it.

The graph is what files define and cite. So a change lists definitions, and stretches of text, that take the place of
others: pairs of the value before and after, where None stands for absence. Applying writes the after images, undoing
the before images; linking decides nodes and edges in either case. Since every kind of mutation is made of the same
pairs, undo needs no code of its own for any of them.

A patch is what is to be written in the place of a stretch of a file, before it is written.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from clew.errors import Conflict, NotFound
from clew.graph.build.link import Definition, Linker, Place
from clew.graph.graph import Graph
from clew.graph.model import Node


class Slot(msgspec.Struct, frozen=True, gc=False, order=True):
    """A stretch of a file as it was read, in bytes, or a place between two bytes where something is put in."""

    path: str
    start: int
    order: int
    """0 for a stretch of the file. What is put in before it has a number below 0, in the order of these numbers."""
    end: int


class Patches:
    """The patches of all files. Those of one file never overlap."""

    def __init__(self) -> None:
        self._by_path: dict[str, dict[Slot, bytes]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_path)

    def get(self, slot: Slot) -> bytes | None:
        """New content of a slot; None if the file stays as it is."""
        return self._by_path.get(slot.path, {}).get(slot)

    def put(self, slot: Slot, text: bytes | None) -> None:
        patches = self._by_path.setdefault(slot.path, {})
        patches.pop(slot, None)
        if text is not None:
            patches[slot] = text
        if not patches:
            del self._by_path[slot.path]

    def paths(self) -> list[str]:
        return sorted(self._by_path)

    def slots(self, path: str) -> Iterator[Slot]:
        return iter(sorted(self._by_path.get(path, ())))

    def written(self, path: str, data: bytes) -> bytes:
        """The content of a file with its patches."""
        pieces: list[bytes] = []
        end = 0
        for slot in self.slots(path):
            pieces += (data[end : slot.start], self._by_path[path][slot])
            end = slot.end
        return b"".join((*pieces, data[end:]))


class Redefinition(msgspec.Struct, frozen=True):
    place: Place
    before: Definition | None
    after: Definition | None

    def inverse(self) -> "Redefinition":
        return Redefinition(self.place, self.after, self.before)


class Rewriting(msgspec.Struct, frozen=True):
    slot: Slot
    before: bytes | None
    """None: as the file has it."""
    after: bytes | None

    def inverse(self) -> "Rewriting":
        return Rewriting(self.slot, self.after, self.before)


T = TypeVar("T", Redefinition, Rewriting)


class Change(msgspec.Struct, frozen=True):
    id: str
    operation: str
    target_id: str
    definitions: tuple[Redefinition, ...]
    texts: tuple[Rewriting, ...] = ()
    notes: tuple[str, ...] = ()
    """Notes for its author."""

    def inverse(self) -> "Change":
        return msgspec.structs.replace(self, definitions=_inverted(self.definitions), texts=_inverted(self.texts))


def _inverted(pairs: Sequence[T]) -> tuple[T, ...]:
    return tuple(pair.inverse() for pair in reversed(pairs))


class Linking(Protocol):
    """The builder of a graph."""

    @property
    def linker(self) -> Linker:
        """The linker of the graph as it is now: one that is built from nothing gets another."""
        ...


class History:
    """Applies changes to a graph and takes them back, newest first."""

    def __init__(self, graph: Graph, builder: Linking) -> None:
        self._graph = graph
        self._builder = builder
        self.patches = Patches()
        self._done: list[Change] = []

    def __iter__(self) -> Iterator[Change]:
        """The changes in force, oldest first."""
        return iter(self._done)

    def as_filed(self) -> dict[str, Node | None]:
        """The nodes that the changes in force made other than the files have them, as the files have them; None for
        those that no file defines."""
        first: dict[Place, Definition | None] = {}
        for change in self._done:
            for each in change.definitions:
                first.setdefault(each.place, each.before)
        return self._builder.linker.nodes_with(first) if first else {}

    def apply(self, change: Change) -> Change:
        self._write(change)
        self._done.append(change)
        self._note(change)
        return change

    def undo_last(self) -> Change:
        if not self._done:
            raise NotFound("There is no mutation to undo.", hint="get_mutation_log shows what is pending.")
        change = self._done[-1]
        self._write(change.inverse())
        self._done.pop()
        self._note(change)
        return change

    def undo_all(self) -> None:
        while self._done:
            self.undo_last()

    def forget(self) -> None:
        """Let go of every change without taking it back: the graph they were made to is gone."""
        self._done.clear()
        self.patches = Patches()

    def _write(self, change: Change) -> None:
        """Bring the graph from the before images to the after images, or leave it alone."""
        self._expect(change)
        for each in change.texts:
            self.patches.put(each.slot, each.after)
        if change.definitions:
            self._builder.linker.redefine({each.place: each.after for each in change.definitions})

    def _note(self, change: Change) -> None:
        self._graph.changed(change.id, edited=bool(self._done))

    def _expect(self, change: Change) -> None:
        """Refuse a change that was made against another state, before any of it is written."""
        linker = self._builder.linker
        same = all(linker.definition_at(each.place) == each.before for each in change.definitions)
        if not same or any(self.patches.get(each.slot) != each.before for each in change.texts):
            raise Conflict(
                f"'{change.target_id}' is not what this change was made against.",
                hint="Read it again and repeat the change.",
                data={"node_id": change.target_id},
            )
