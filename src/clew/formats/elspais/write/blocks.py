"""Editing requirements: each function takes the bytes of a block and returns them with one thing changed.

| module | what it changes |
|---|---|
| `blocks` | the header, the status, the hash, the assertions; the text of a new requirement; the place of a block |
| `references` | the items of Implements, Refines and their like |
| `fields` | fields of the metadata, in the style of the block |
| `lines` | lines that keep their ends and their bytes |

Nothing here decides whether a change is right: the caller parses the result again and compares.
"""

import re
from collections.abc import Sequence

import msgspec

from clew.formats.elspais.assertions import ENTRY
from clew.formats.elspais.hashes import NOT_APPLICABLE
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.lines import plain_heading
from clew.formats.elspais.records import AssertionRecord, Requirement
from clew.formats.elspais.write.fields import add_field, requirement_fields
from clew.formats.elspais.write.lines import BlockLines, as_read, encoded
from clew.text.lines import Span
from clew.text.markdown import BOM, HEADING

_HEADER = re.compile(r"(#*\s*)([^:]*?)(\s*:\s*)(.*?)(\s*)")
_END_TITLE = re.compile(r"(\*End\*\s*\*)(.*)(\*\s*(?:\|[^|]*)?)")
_END_HASH = re.compile(r"(.*\|\s*\*\*Hash\*\*:\s*)(\S+)(\s*)", re.IGNORECASE)


def with_id(data: bytes, grammar: IdGrammar, id: str) -> bytes:
    """The block under another id."""
    lines = BlockLines(data, grammar)
    header, end = _HEADER.fullmatch(lines.text[0]), _end_title(lines)
    if header is not None:
        if end is not None and end[2].strip() == header[2]:
            _retitle_end(lines, end, id)
        lines.replace(0, header.start(2), header.end(2), id)
    return lines.data()


def with_title(data: bytes, grammar: IdGrammar, title: str) -> bytes:
    """The block under another title, in its header and in its End marker."""
    lines = BlockLines(data, grammar)
    header, end = _HEADER.fullmatch(lines.text[0]), _end_title(lines)
    # A journey may be closed by its id instead.
    if end is not None and (header is None or end[2].strip() != header[2]):
        _retitle_end(lines, end, title)
    if header is not None:
        space = "" if header[3][-1:].isspace() else " "
        lines.replace(0, header.start(4), header.end(4), space + title)
    return lines.data()


def _end_title(lines: BlockLines) -> re.Match[str] | None:
    marker = lines.end_marker
    return _END_TITLE.fullmatch(lines.text[marker]) if marker is not None else None


def _retitle_end(lines: BlockLines, end: re.Match[str], title: str) -> None:
    if lines.end_marker is not None:
        lines.replace(lines.end_marker, end.start(2), end.end(2), title)


def with_status(data: bytes, grammar: IdGrammar, status: str) -> bytes:
    """The requirement with another status; where it states none, beside the fields it has."""
    return _with_word(data, grammar, "status", status)


def with_level(data: bytes, grammar: IdGrammar, level: str) -> bytes:
    """The requirement with another level, likewise, in capitals where its own is."""
    return _with_word(data, grammar, "level", level.upper() if style_of(data, grammar).upper_case_levels else level)


def _with_word(data: bytes, grammar: IdGrammar, name: str, word: str) -> bytes:
    lines = BlockLines(data, grammar)
    fields = list(requirement_fields(lines, grammar))
    for index, field in fields:
        if field.name == name:
            lines.replace(index, field.start, field.start + len(field.value), word)
            return lines.data()
    add_field(lines, fields, name, word)
    return lines.data()


def with_hash(data: bytes, grammar: IdGrammar, value: str) -> bytes:
    """The requirement with this hash in its End marker. One without marker stays as it is, and so does one that never
    had a hash and has nothing to hash."""
    lines = BlockLines(data, grammar)
    marker = lines.end_marker
    if marker is None:
        return data
    stored = _END_HASH.fullmatch(lines.text[marker])
    if stored is not None:
        lines.replace(marker, stored.start(2), stored.end(2), value)
    elif value != NOT_APPLICABLE and _END_TITLE.fullmatch(lines.text[marker]):
        lines.text[marker] = f"{lines.text[marker].rstrip()} | **Hash**: {value}"
    return lines.data()


class Style(msgspec.Struct, frozen=True):
    """Style of the requirements in a file."""

    depth: int = 2
    """Of their headers; 0 for headers without `#`."""
    upper_case_levels: bool = True
    line_end: str = "\n"


def style_of(block: bytes, grammar: IdGrammar) -> Style:
    """The style of a requirement, for another one like it."""
    lines = BlockLines(block, grammar)
    written = [field.value for _, field in requirement_fields(lines, grammar) if field.name == "level"]
    return Style(
        depth=lines.heading_depth(0),
        upper_case_levels=not written or written[0].isupper(),
        line_end=lines.line_end,
    )


class NewRequirement(msgspec.Struct, frozen=True):
    id: str
    title: str
    level: str
    status: str
    reference: tuple[str, str] | None = None
    """The kind and the text of what it cites."""


def requirement_text(new: NewRequirement, style: Style) -> bytes:
    """A requirement without assertions."""
    level = new.level.upper() if style.upper_case_levels else new.level
    fields = [("Level", level), ("Status", new.status)]
    if new.reference is not None:
        fields.append((new.reference[0].capitalize(), new.reference[1]))
    marks = "#" * style.depth + " " if style.depth else ""
    texts = (
        f"{marks}{new.id}: {new.title}",
        "",
        " | ".join(f"**{name}**: {value}" for name, value in fields),
        "",
        f"*End* *{new.title}* | **Hash**: {NOT_APPLICABLE}",
    )
    return encoded("".join(text + style.line_end for text in texts))


_RULE = re.compile(rb"[ \t]*---[ \t]*")


def without_block(data: bytes, span: Span) -> bytes:
    """The file without the lines of a block and without what set it apart."""
    lines = data.splitlines(keepends=True)
    first, stop = span.line - 1, span.end_line
    behind = _skip_blank(lines, stop)
    has_rule = behind < len(lines) and _is_rule(lines[behind])
    if has_rule:
        behind = _skip_blank(lines, behind + 1)
    if behind == len(lines):
        # It was the last one: what was in front of it sets nothing apart any more.
        first = _skip_blank_back(lines, first)
        if first and not has_rule and _is_rule(lines[first - 1]):
            first = _skip_blank_back(lines, first - 1)
    kept = b"".join((*lines[:first], *lines[behind:]))
    return BOM + kept if data.startswith(BOM) and not kept.startswith(BOM) else kept


def with_block(data: bytes, block: bytes) -> bytes:
    """The file with a block at its end, set apart as the others are."""
    lines = data.splitlines(keepends=True)
    end = _skip_blank_back(lines, len(lines))
    line_end = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    closed = block if block.endswith((b"\n", b"\r")) else block + line_end
    if not end or data.strip() == BOM:
        return data + closed
    if not data.endswith((b"\n", b"\r")):
        data += line_end
    gap = b"" if end < len(lines) else line_end
    if _is_rule(lines[end - 1]):
        return data + gap + closed + line_end + b"---" + line_end
    uses_rules = any(_is_rule(line) and index and not lines[index - 1].strip() for index, line in enumerate(lines))
    return data + gap + (b"---" + line_end + line_end if uses_rules else b"") + closed


def with_blocks(data: bytes, blocks: Sequence[bytes]) -> bytes:
    """The file with several blocks at its end, likewise."""
    mark = b"\0\n"
    first = with_block(data, blocks[0])
    before, behind = with_block(first, mark)[len(first) :].split(mark)
    return b"".join((first, *(before + block + behind for block in blocks[1:])))


def _is_rule(line: bytes) -> bool:
    return _RULE.fullmatch(line.rstrip(b"\r\n")) is not None


def _skip_blank(lines: list[bytes], index: int) -> int:
    while index < len(lines) and not lines[index].strip():
        index += 1
    return index


def _skip_blank_back(lines: list[bytes], index: int) -> int:
    while index and not lines[index - 1].strip():
        index -= 1
    return index


_DEEPEST = 6
_HEADING = re.compile(rb"^(#{1,6})[ \t]+[*_]*assertions\b", re.IGNORECASE | re.MULTILINE)


def section_depth(file: bytes) -> int | None:
    """The depth of Assertions headings in a file; None where it has none."""
    found = _HEADING.search(file)
    return len(found[1]) if found is not None else None


def with_assertion(
    data: bytes,
    grammar: IdGrammar,
    record: Requirement,
    label: str,
    text: str,
    *,
    depth: int | None = None,
    at: int | None = None,
) -> bytes:
    """The requirement with one more assertion: the one of this number, counted from 0, or its last. `depth` is that of
    the heading, should one be needed."""
    lines = BlockLines(data, grammar)
    entry = f"{label}. {text}".split("\n")
    before = record.assertions[:at]
    space = [""] if _are_spaced(record) else []
    heading = _assertions_heading(lines)
    if before:
        lines.insert(before[-1].span.end_line, *space, *entry)
    elif record.assertions:
        lines.insert(record.assertions[0].span.line - 1, *entry, *space)
    elif heading is not None:
        limit = lines.read.next_heading(heading + 1, lines.content_stop)
        first, stop = lines.read.trimmed(heading + 1, limit)
        _insert_apart(lines, stop if first < stop else min(heading + 2, limit), entry)
    else:
        marks = "#" * min(depth or lines.heading_depth(0) + 1, _DEEPEST)
        _, stop = lines.read.trimmed(0, lines.first_heading)
        _insert_apart(lines, stop, [f"{marks} Assertions", "", *entry])
    return lines.data()


def with_assertion_text(
    data: bytes, grammar: IdGrammar, assertion: AssertionRecord, text: str, *, label: str | None = None
) -> bytes:
    """The requirement with another text behind one of its labels; with another label where one is given."""
    lines = BlockLines(data, grammar)
    first, stop = assertion.span.line - 1, assertion.span.end_line
    entry = ENTRY.match(lines.text[first])
    said, *rest = text.split("\n")
    if entry is None:
        lines.text[first] = f"{label or assertion.label}. {said}"
    else:
        if as_read(lines.text[first][entry.end() :]) != said:
            before = lines.text[first][: entry.end()]
            apart = before if before[-1].isspace() else f"{before} "
            lines.text[first] = f"{apart}{said}" if said.strip() else before.rstrip()
        lines.replace(first, entry.start(2), entry.end(2), label if label is not None else entry[2])
    lines.exchange(first + 1, stop, rest)
    return lines.data()


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
    """True if blank lines separate the assertions."""
    pairs = zip(record.assertions, record.assertions[1:], strict=False)
    return any(after.span.line > before.span.end_line + 1 for before, after in pairs)


def _insert_apart(lines: BlockLines, line: int, texts: list[str]) -> None:
    """Put lines in front of a line, with a blank one on either side."""
    before = [""] if not lines.is_blank(line - 1) else []
    after = [""] if line < len(lines.text) and not lines.is_blank(line) else []
    lines.insert(line, *before, *texts, *after)


def with_assertions(data: bytes, grammar: IdGrammar, record: Requirement, wanted: Sequence[tuple[str, str]]) -> bytes:
    """The requirement, whose record is given, with these labels and texts. One that is the same by its label, in the
    order of labels, gets another text where it stands."""
    there = record.assertions
    # From the last on, so that the lines of those before stay right.
    for start, end, begin, until in reversed(_changes(record, [label for label, _ in wanted])):
        common = min(end - start, until - begin)
        for label, text in reversed(wanted[begin + common : until]):
            data = with_assertion(data, grammar, record, label, text, at=start + common)
        for each in reversed(there[start + common : end]):
            data = without_assertion(data, grammar, each)
        for each, (label, text) in reversed(list(zip(there[start:end], wanted[begin:until], strict=False))):
            if (each.label, each.text) != (label, text):
                new = label if label != each.label else None
                data = with_assertion_text(data, grammar, each, text, label=new)
    return data


def places_taken(record: Requirement, labels: Sequence[str]) -> list[AssertionRecord | None]:
    """The assertions in whose places those with these labels will stand; None for one that is inserted."""
    found: list[AssertionRecord | None] = []
    for start, end, begin, until in _changes(record, labels):
        found += record.assertions[start : min(end, start + until - begin)]
        found += [None] * (until - len(found))
    return found


def _changes(record: Requirement, labels: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Ranges of the assertions to replace, each with the range of the labels that replace it."""
    from difflib import SequenceMatcher  # only for what is edited

    there = [each.label for each in record.assertions]
    return [change[1:] for change in SequenceMatcher(None, there, labels, autojunk=False).get_opcodes()]
