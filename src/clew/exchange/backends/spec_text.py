"""Texts of others in Markdown specs: they are written as they are, as far as the reader of the specs reads them so.

Nothing here knows which lines mean something. A text is put where it would stand, the reader reads it, and a line that
it takes for something else gets a backslash in front of its words. A file that is written is read
again, and has to hold what it should.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from clew.errors import Rejected
from clew.exchange.backends.backend import writable
from clew.exchange.model import Criterion
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import END
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import FileRecords, Journey, Requirement
from clew.formats.elspais.write.fields import journey_fields, requirement_fields
from clew.formats.elspais.write.lines import BlockLines
from clew.text.lines import matched
from clew.text.markdown import HEADING

_ASSERTIONS = ("### Assertions", "")
_STEPS = ("### Steps", "")
_SECTION = ("### Text", "")
_END = "*End* *Title*"

_FAULTS = frozenset({"elspais.missing_end", "elspais.stray_end", "elspais.unclosed_fence"})
"""The findings which show that a text runs over its end."""


class SpecText:
    """The notation of texts in a requirement or a journey. Each may replace a `former` text: lines that are the same
    stay as they are written."""

    def __init__(self, grammar: IdGrammar, id: str, *, are_assertions_behind: bool = False) -> None:
        """`are_assertions_behind` says that a heading of assertions may follow, which makes a header of an id."""
        self._grammar = grammar
        self._header = (f"## {id}: Title", "")
        self._behind = ("", *(_ASSERTIONS if are_assertions_behind else ()), _END)
        self._known: dict[tuple[tuple[str, ...], str], bool] = {}

    def preamble(self, text: str, former: str | None = None) -> str:
        """A text between the header and the first heading."""
        return "\n".join(self._written(self._header, _new_lines(text, former)))

    def section(self, text: str, former: str | None = None) -> str:
        """A text below a heading that the reader has no meaning for."""
        return "\n".join(self._written((*self._header, *_SECTION), _new_lines(text, former)))

    def group(self, text: str, former: str | None = None) -> str:
        """A text between assertions, or before the first."""
        return "\n".join(self._written((*self._header, *_ASSERTIONS), _new_lines(text, former)))

    def assertion(self, label: str, text: str, former: str | None = None) -> str:
        """The text behind the label of an assertion."""
        return self._labelled(_ASSERTIONS, label, text, former)

    def step(self, label: str, text: str) -> str:
        """The text behind the number of a step."""
        return self._labelled(_STEPS, label, text, None)

    def is_heading(self, name: str) -> bool:
        """True if a section may have this heading."""
        found = read("\n".join((*self._header, f"### {name}", "", "Text", "", _END)).encode(), self._grammar).blocks
        sections = found[0].sections if len(found) == 1 and isinstance(found[0], Requirement | Journey) else ()
        return [each.heading for each in sections] == [name]

    def _labelled(self, heading: tuple[str, ...], label: str, text: str, former: str | None) -> str:
        # The first line is behind the label: it neither begins anything nor opens a code block.
        first, *rest = _new_lines(text, former)
        first = first.lstrip()
        return "\n".join((first, *self._written((*self._header, *heading, f"{label}. {first}"), rest)))

    def _written(self, before: tuple[str, ...], said: Sequence[str]) -> list[str]:
        """The lines after others; those that would begin something else get a backslash."""
        lines = list(said)
        escaped: set[int] = set()
        while found := [each for each in self._begin_something(before, lines) if each not in escaped]:
            # What follows the first may be something else only because of it.
            for each in [found[0], *(each for each in found[1:] if self._begins_something(before, lines[each]))]:
                bare = lines[each].lstrip()
                lines[each] = f"{lines[each][: -len(bare)]}\\{bare}"
                escaped.add(each)
        return lines

    def _begins_something(self, before: tuple[str, ...], line: str) -> bool:
        """True if a line is read as more than text, whatever the lines around it are."""
        if (before, line) not in self._known:
            self._known[before, line] = bool(self._begin_something(before, [line]))
        return self._known[before, line]

    def _begin_something(self, before: tuple[str, ...], lines: Sequence[str]) -> list[int]:
        """The lines that are read as more than text."""
        if not lines:
            return []
        data = "\n".join((*before, *lines, *self._behind)).encode()
        block = BlockLines(data, self._grammar)
        found = {index for index, kind in enumerate(block.read.kinds) if kind in (HEADING, END)}
        found |= {block.read.fence_line - 1}
        for record in read(data, self._grammar).blocks:
            if isinstance(record, Requirement):
                found |= {record.span.line - 1, *(each.span.line - 1 for each in record.assertions)}
                found |= {each.span.line - 1 for each in record.sections}
                found |= {index for index, _ in requirement_fields(block, self._grammar)}
            elif isinstance(record, Journey):
                found |= {record.span.line - 1, *(line - 1 for _, _, line in record.steps)}
                found |= {index for index, _ in journey_fields(block)}
        first = len(before)
        return [index - first for index in sorted(found) if first <= index < first + len(lines)]


def criterion_text(criterion: Criterion) -> str:
    """The text of a criterion; a scenario begins with its title."""
    return f"{criterion.title}: {criterion.text}" if criterion.title else criterion.text


def _new_lines(text: str, former: str | None) -> list[str]:
    if former is None:
        return _without_blank_edges(text).split("\n")
    return rewritten(former, text, lambda each: (_lines(each), _lines(each))).split("\n")


def _lines(text: str) -> list[str]:
    return writable(text).split("\n")


def _without_blank_edges(text: str) -> str:
    lines = _lines(text)
    said = [index for index, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[said[0] : said[-1] + 1]) if said else ""


LinesOf = Callable[[str], tuple[Sequence[str], Sequence[str]]]


def rewritten(former: str, text: str, lines_of: LinesOf) -> str:
    """The text that replaces another one in a file: lines that are the same stay as they are written. `lines_of` gives
    the lines of a text, each as it is read and as it is written."""
    stands = former.split("\n")
    if stands[0].strip() and stands[-1].strip():
        text = _without_blank_edges(text)
    before, after = (list(zip(*lines_of(each), strict=True)) for each in (former, text))
    found: list[str] = []
    for is_same, (start, end, begin, until) in matched(before, after):
        found += stands[start:end] if is_same else [written for _, written in after[begin:until]]
    return "\n".join(found)


def keeps_blocks(before: bytes, after: bytes, grammar: IdGrammar, added: Iterable[str] = ()) -> bool:
    """True if all former blocks and the added ones are read in this order, and none of them has lost its end."""
    former, found = read(before, grammar), read(after, grammar)
    return _ids(found) == [*_ids(former), *added] and _faults(found) <= _faults(former)


def open_fence(path: str, line: int) -> Rejected:
    """The error for a file with a code block that begins in a line and is never closed. Everything below it is read as
    code, so nobody can tell which of it is meant to stay."""
    return Rejected(
        f"{path} would not be read as the requirements that it holds: the code block that begins in line {line} is "
        "never closed. Nothing is imported.",
        hint=f"Close the code block of line {line}, and import again.",
    )


def _ids(records: FileRecords) -> list[str]:
    return [each.id for each in records.blocks if isinstance(each, Requirement | Journey)]


def _faults(records: FileRecords) -> Counter[str]:
    return Counter(each.code for each in records.diagnostics if each.code in _FAULTS)
