"""What an import is, and on which line it stands."""

import msgspec


class Import(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A module is a path from the project's root with a slash in front, a name with dots, the end of a path with a star
    in front, or a name in a script with a question mark in front, which a configuration may explain."""

    line: int
    module: str
    name: str = ""
    """One thing out of the module; empty where the module itself is imported."""


class LineNumbers:
    """The lines of offsets that are asked for in ascending order."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset, self._line = 0, 1

    def at(self, offset: int) -> int:
        self._line += self._text.count("\n", self._offset, offset)
        self._offset = offset
        return self._line
