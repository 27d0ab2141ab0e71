"""Functions and classes of a source file: their names and the lines they cover."""

from collections.abc import Iterable

from clew.formats.code.comments import BLOCK, LINE, Family, Token
from clew.formats.code.definitions.model import CLASS, FUNCTION, INSIDE, Definition

__all__ = ["CLASS", "FUNCTION", "Definition", "definitions", "definitions_in", "masked"]


def definitions(text: str, found: Iterable[Token], family: Family) -> list[Definition]:
    """The definitions of a file with LF line ends, in the order they begin, the outer before the inner."""
    return definitions_in(text, masked(text, found), family) if family.blocks else []


def definitions_in(text: str, code: str, family: Family) -> list[Definition]:
    """Likewise, where the text is masked already."""
    # A start that finds every file in its cache scans none.
    if family.blocks == "indent":
        from clew.formats.code.definitions.indented import IndentScan

        return IndentScan(text, code, closed_by_end=family.name != "python").scan()
    if family.blocks == "braces":
        from clew.formats.code.definitions.braced import BraceScan

        return BraceScan(text, code, family.name).scan()
    return []


def masked(text: str, found: Iterable[Token]) -> str:
    """The text with strings as `"` and comments as `#`, of the same length; a comment beside code is blank."""
    pieces: list[str] = []
    position = 0
    for token in found:
        start, end = token.start, token.end
        gap = text[position:start]
        mark = '"'
        if token.kind in (LINE, BLOCK):
            begins_line = "\n" in gap or position == 0
            mark = "#" if begins_line and not gap[gap.rfind("\n") + 1 :].strip() else " "
        pieces.append(gap)
        if text.find("\n", start, end) < 0:
            pieces.append(mark * (end - start))
        else:
            first, *others = text[start:end].split("\n")
            pieces.append("\n".join([mark * len(first), *(INSIDE * len(other) for other in others)]))
        position = end
    pieces.append(text[position:])
    return "".join(pieces)
