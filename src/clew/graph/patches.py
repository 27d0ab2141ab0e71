"""Patches: what is to be written in the place of stretches of files, before it is written."""

from collections.abc import Iterator

import msgspec


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
        """What is to stand there; None where the file stays as it is."""
        return self._by_path.get(slot.path, {}).get(slot)

    def put(self, slot: Slot, text: bytes | None) -> None:
        patches = self._by_path.setdefault(slot.path, {})
        patches.pop(slot, None)
        if text is not None:
            patches[slot] = text
        if not patches:
            del self._by_path[slot.path]

    def clear(self) -> None:
        self._by_path.clear()

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
