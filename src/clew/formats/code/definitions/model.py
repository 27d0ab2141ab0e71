"""Definitions of a source file."""

import msgspec

FUNCTION, CLASS = "function", "class"

DEEPEST = 64
"""Definitions nested deeper than this get no names of their own: the names would outgrow the file."""

INSIDE = "\x01"
"""In masked code: the text of a string or comment after its first line, where indentation means nothing."""


class Definition(msgspec.Struct, frozen=True, gc=False):
    """A function or class of a source file."""

    names: tuple[str, ...]
    """From the outermost class or function inwards. A name may hold any character: tests have sentences for names."""
    kind: str
    """function or class."""
    line: int
    """The first line, decorators included."""
    end_line: int
    is_test: bool
    parent: int = -1
    """Number of the definition of the file that contains it, counted from 0; -1 for none."""

    @property
    def qualname(self) -> str:
        """The names joined by dots, to show to people."""
        return ".".join(self.names)
