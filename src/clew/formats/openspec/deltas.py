"""What stands in the sections REMOVED and RENAMED of a delta, in both dialects.

RENAMED: pairs of lines `- FROM: ...` and `- TO: ...` (OpenSpec; bullet, bold, backticks and `### Requirement:` may be
missing), or `### Requirement: Old → New` (Spec Oxide; `->` and `=>` too). REMOVED: headings `### Requirement: name`, or
bullets that hold such a heading.
"""

import re
from collections.abc import Iterator

from clew.formats.diagnostics import Findings
from clew.formats.openspec.lines import TEXT, Lines
from clew.formats.openspec.records import Removal, Rename, Requirement, Section
from clew.text.spans import Span

_END = re.compile(r"\s*(?:[-*+]\s+)?(?:\*\*|__)?(FROM|TO)(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.*)", re.IGNORECASE)
_NAMED = re.compile(r"(?:#{1,6}\s*)?requirement\s*:\s*(.*)", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-*+]\s+`?\s*#{1,6}\s*requirement\s*:\s*(.*)", re.IGNORECASE)
_ARROW = re.compile(r"\s*(?:→|->|=>)\s*")


def renames(lines: Lines, section: Section, findings: Findings) -> Iterator[Rename]:
    """The renames of a section. A line of a pair whose partner is missing is an error and renames nothing."""
    by_arrow = {each.span.line: each for each in section.requirements}
    source: tuple[str, int] | None = None
    """A FROM that waits for its TO, and its line."""
    paired = 0
    for index in range(section.span.line - 1, section.span.end_line):
        if lines.kinds[index] != TEXT:
            continue
        line = lines.text[index]
        end = _END.match(line)
        if end is not None:
            name, word = _name(end[2]), end[1].upper()
            if word == "FROM":
                _report_unpaired(source, findings)
                source = (name, index)
            elif source is None:
                message = f"TO {name!r} has no FROM before it, so nothing is renamed. Write FROM and TO in pairs."
                findings.error("unpaired_rename", index + 1, message)
            else:
                yield Rename(source[0], name, lines.span(source[1], index + 1))
                source, paired = None, index
        elif index + 1 in by_arrow:
            _report_unpaired(source, findings)
            source = None
            yield from _by_arrow(by_arrow[index + 1], lines, findings)
    _report_unpaired(source, findings)
    if section.requirements or paired or source or not section.text:
        return
    message = "This section names no pair of FROM and TO. Write `- FROM: ...` and `- TO: ...` below each other."
    findings.error("unreadable_rename", section.span.line, message)


def _report_unpaired(source: tuple[str, int] | None, findings: Findings) -> None:
    if source is not None:
        message = f"FROM {source[0]!r} has no TO after it, so nothing is renamed. Write FROM and TO in pairs."
        findings.error("unpaired_rename", source[1] + 1, message)


def _by_arrow(requirement: Requirement, lines: Lines, findings: Findings) -> Iterator[Rename]:
    old, *others = _ARROW.split(requirement.name)
    if len(others) == 1 and old.strip() and others[0].strip():
        yield Rename(old.strip(), others[0].strip(), requirement.span)
    elif not any(_END.match(lines.text[index]) for index in _inside(requirement.span)):
        message = f"{requirement.name!r} does not say what it becomes. Write `### Requirement: Old → New`."
        findings.error("unreadable_rename", requirement.span.line, message)


def _inside(span: Span) -> range:
    return range(span.line, span.end_line)


def _name(written: str) -> str:
    bare = written.strip().strip("`").strip()
    named = _NAMED.match(bare)
    return (named[1] if named is not None else bare).strip("`").strip()


def removals(lines: Lines, section: Section) -> Iterator[Removal]:
    """The removals of a section: its requirements, and the bullets that hold a requirement's heading."""
    first = section.requirements[0].span.line - 1 if section.requirements else section.span.end_line
    for index in range(section.span.line, first):
        bullet = _BULLET.match(lines.text[index]) if lines.kinds[index] == TEXT else None
        if bullet is not None:
            yield Removal(bullet[1].rstrip("` \t"), "", "", lines.span(index, index + 1))
    for each in section.requirements:
        reason = each.stated("Reason") or each.stated("Reason for removal")
        yield Removal(each.name, reason, each.stated("Migration"), each.span)
