"""What a definition is."""

import msgspec

FUNCTION, CLASS = "function", "class"

DEEPEST = 64
"""Definitions nested deeper than this are not told apart: their names would outgrow the file."""

INSIDE = "\x01"
"""In masked code: the text of a string or comment after its first line, where indentation means nothing."""


class Definition(msgspec.Struct, frozen=True, gc=False):
    """A function or class of a source file."""

    qualname: str
    """The names from the outermost class or function inwards, joined by dots."""
    kind: str
    """function or class."""
    line: int
    """The first line, decorators included."""
    end_line: int
    is_test: bool
