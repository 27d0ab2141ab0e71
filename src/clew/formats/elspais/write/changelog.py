"""Adding an entry to the changelog of a requirement."""

from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import HEADING, plain_heading
from clew.formats.elspais.write.lines import BlockLines

_DEEPEST = 6


def with_changelog_entry(data: bytes, grammar: IdGrammar, line: str) -> bytes:
    """The requirement with one more entry, as the first of its changelog; where it has none, with a changelog as its
    last section."""
    lines = BlockLines(data, grammar)
    heading = _changelog_heading(lines)
    if heading is not None:
        stop = lines.read.next_heading(heading + 1, lines.content_stop)
        first = heading + 1
        while first < stop and lines.is_blank(first):
            first += 1
        if first == stop:
            # A heading without entries: one blank line below it, one above what follows.
            lines.remove(heading + 1, stop)
            lines.insert(heading + 1, "", line, "")
        else:
            lines.insert(first, line)
        return lines.data()
    stop = lines.content_stop
    before = [] if lines.is_blank(stop - 1) else [""]
    marks = "#" * min(lines.heading_depth(0) + 1, _DEEPEST)
    closing = [""] if lines.end_marker is not None else []
    lines.insert(stop, *before, f"{marks} Changelog", "", line, *closing)
    return lines.data()


def _changelog_heading(lines: BlockLines) -> int | None:
    for index in range(1, lines.content_stop):
        if lines.read.kinds[index] == HEADING and plain_heading(lines.read.heading(index)[1]) == "changelog":
            return index
    return None
