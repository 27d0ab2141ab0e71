"""Editing the entries of an Assertions section.

A requirement comes with its record, read from the very bytes that are edited, so that the lines of the record are
those of the block.
"""

import re

from clew.formats.elspais.assertions import ENTRY
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import HEADING, plain_heading
from clew.formats.elspais.records import AssertionRecord, Requirement
from clew.formats.elspais.write.lines import BlockLines

_DEEPEST = 6
_HEADING = re.compile(rb"^(#{1,6})[ \t]+[*_]*assertions\b", re.IGNORECASE | re.MULTILINE)


def section_depth(file: bytes) -> int | None:
    """The depth of Assertions headings in a file; None where it has none."""
    found = _HEADING.search(file)
    return len(found[1]) if found is not None else None


def with_assertion(
    data: bytes, grammar: IdGrammar, record: Requirement, label: str, text: str, *, depth: int | None = None
) -> bytes:
    """The requirement with one more assertion, as its last. `depth` is that of the heading, should one be needed."""
    lines = BlockLines(data, grammar)
    entry = f"{label}. {text}".split("\n")
    last = record.assertions[-1] if record.assertions else None
    heading = _assertions_heading(lines)
    if last is not None:
        lines.insert(last.span.end_line, *([""] if _are_spaced(record) else []), *entry)
    elif heading is not None:
        limit = lines.read.next_heading(heading + 1, lines.content_stop)
        first, stop = lines.read.trimmed(heading + 1, limit)
        _insert_apart(lines, stop if first < stop else min(heading + 2, limit), entry)
    else:
        marks = "#" * min(depth or lines.heading_depth(0) + 1, _DEEPEST)
        _, stop = lines.read.trimmed(0, lines.first_heading)
        _insert_apart(lines, stop, [f"{marks} Assertions", "", *entry])
    return lines.data()


def with_assertion_text(data: bytes, grammar: IdGrammar, assertion: AssertionRecord, text: str) -> bytes:
    """The requirement with another text behind one of its labels."""
    lines = BlockLines(data, grammar)
    first, stop = assertion.span.line - 1, assertion.span.end_line
    entry = ENTRY.match(lines.text[first])
    label = lines.text[first][: entry.end()] if entry is not None else f"{assertion.label}. "
    texts = f"{label.rstrip()} {text}".split("\n")
    lines.text[first] = texts[0]
    _exchange_rest(lines, first + 1, stop, texts[1:])
    return lines.data()


def _exchange_rest(lines: BlockLines, first: int, stop: int, texts: list[str]) -> None:
    """Put other lines in the place of those that continue an entry."""
    common = min(stop - first, len(texts))
    lines.text[first : first + common] = texts[:common]
    if common < len(texts):
        lines.insert(first + common, *texts[common:])
    else:
        lines.remove(first + common, stop)


def without_assertion(data: bytes, grammar: IdGrammar, assertion: AssertionRecord) -> bytes:
    """The requirement without one of its assertions, and without the blank lines that parted it from the next."""
    lines = BlockLines(data, grammar)
    first, stop = assertion.span.line - 1, assertion.span.end_line
    if first and lines.is_blank(first - 1):
        while stop < len(lines.text) and lines.is_blank(stop):
            stop += 1
    lines.remove(first, stop)
    return lines.data()


def with_labels(data: bytes, grammar: IdGrammar, record: Requirement, labels: dict[str, str]) -> bytes:
    """The requirement with other labels before its assertions: old to new, all at once."""
    lines = BlockLines(data, grammar)
    for assertion in record.assertions:
        entry = ENTRY.match(lines.text[assertion.span.line - 1])
        if assertion.label in labels and entry is not None:
            lines.replace(assertion.span.line - 1, entry.start(2), entry.end(2), labels[assertion.label])
    return lines.data()


def _assertions_heading(lines: BlockLines) -> int | None:
    for index in range(1, lines.content_stop):
        is_heading = lines.read.kinds[index] == HEADING
        if is_heading and plain_heading(lines.read.heading(index)[1]) == "assertions":
            return index
    return None


def _are_spaced(record: Requirement) -> bool:
    """Whether blank lines part the assertions."""
    pairs = zip(record.assertions, record.assertions[1:], strict=False)
    return any(after.span.line > before.span.end_line + 1 for before, after in pairs)


def _insert_apart(lines: BlockLines, line: int, texts: list[str]) -> None:
    """Put lines in front of a line, with a blank one on either side."""
    before = [""] if not lines.is_blank(line - 1) else []
    after = [""] if line < len(lines.text) and not lines.is_blank(line) else []
    lines.insert(line, *before, *texts, *after)
