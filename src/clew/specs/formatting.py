"""Formatting specs on disk: all of them or none, and only if their meaning stays the same.

Headings, blank lines and steps are written alike, and no word is changed:

| before | after |
|---|---|
| `###Requirement: Burn`, `### requirement:  Burn ##` | `### Requirement: Burn` |
| `* WHEN it rains`, `- **When** it rains` | `- **WHEN** it rains` |
| no or several blank lines around headings | one |
| spaces at the ends of lines, unless they break a line; line ends of Windows | none, LF |

What is in code blocks keeps every byte.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from clew.edit.edits import FileEdit, check_writable, diff_of
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.formats.openspec.reader import read_spec
from clew.formats.openspec.records import Requirement, Spec
from clew.specs.results import Formatted
from clew.store.interface import Store
from clew.workspace.files import read_bytes

_FENCE = re.compile(r"\s*(```+|~~~+)")
_HEADING = re.compile(r"(#{1,6})\s*(.*?)\s*#*\s*")
_LABELLED = re.compile(r"(requirement|scenario)\s*:\s*(.*)", re.IGNORECASE)
_STEP = re.compile(r"[-*+]\s+(?:\*\*|__)?(GIVEN|WHEN|THEN|AND|BUT)(?::)?(?:\*\*|__)?(?::)?\s+(.*)", re.IGNORECASE)
_BOLD = re.compile(r"[-*+]\s+(?:\*\*|__)")
_SHOUTED = re.compile(r"[-*+]\s+(GIVEN|WHEN|THEN|AND|BUT)\b")


def format_specs(
    project: Path, places: Mapping[str, str], store: Store | None, *, write: bool, limit: int
) -> Formatted:
    """`places` are the files by the ids of their specs."""
    edits: list[FileEdit] = []
    skipped: list[str] = []
    for spec_id, path in places.items():
        before = read_bytes(project, path, limit=limit)
        try:
            after = formatted(before)
        except UnicodeDecodeError:
            skipped.append(path)
            continue
        if after == before:
            continue
        if says_the_same(before, after, spec_id):
            edits.append(FileEdit(path, before, after))
        else:
            skipped.append(path)
    check_writable(project, edits)
    if edits and write:
        FileTransaction(project, edits, EditPurpose("specs format", "clew", {"files": len(edits)})).commit(store)
    return Formatted(
        files=tuple(edit.path for edit in edits),
        looked_at=len(places),
        diff=diff_of(edits),
        written=bool(edits) and write,
        skipped=tuple(skipped),
    )


def formatted(data: bytes) -> bytes:
    """The file in its one form."""
    text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    lines: list[str] = []
    fence = ""
    every = text.split("\n")
    for line, following in zip(every, (*every[1:], ""), strict=True):
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            if mark is not None and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not line.strip(" `~"):
                fence = ""
            continue
        if mark is not None:
            fence = mark[1]
        # Two spaces at the end of a line break it, where text follows.
        is_break = line.endswith("  ") and bool(line.strip()) and bool(following.strip())
        _add(lines, line.rstrip(), "  " if is_break else "")
    while lines and not lines[-1]:
        lines.pop()
    return ("\n".join(lines) + "\n").encode() if lines else b""


def _add(lines: list[str], line: str, ending: str) -> None:
    """Put a line behind the others, with one blank line on either side of a heading."""
    heading = _as_heading(line)
    follows_heading = bool(lines) and _as_heading(lines[-1]) is not None
    if (heading is not None or (follows_heading and line)) and lines and lines[-1]:
        lines.append("")
    if not line and (not lines or not lines[-1]):
        return
    lines.append(heading if heading is not None else _as_step(line) + ending)


def _as_heading(line: str) -> str | None:
    found = _HEADING.fullmatch(line) if line.startswith("#") else None
    if found is None or not found[2]:
        return None
    labelled = _LABELLED.fullmatch(found[2])
    if labelled is None:
        # Without a space behind the number signs it is text, unless it says what it is.
        return f"{found[1]} {found[2]}" if line[len(found[1])].isspace() else None
    return f"{found[1]} {labelled[1].capitalize()}: {labelled[2]}"


def _as_step(line: str) -> str:
    """A step by its keyword in bold capitals. One that is neither bold nor in capitals may be a sentence."""
    found = _STEP.fullmatch(line)
    if found is None or not (_BOLD.match(line) or _SHOUTED.match(line)):
        return line
    return f"- **{found[1].upper()}** {found[2]}"


def says_the_same(before: bytes, after: bytes, spec_id: str) -> bool:
    """True if two files have the same requirements, scenarios and steps, word by word."""
    return _contents(read_spec(before, spec_id)) == _contents(read_spec(after, spec_id))


def _contents(spec: Spec) -> tuple[object, ...]:
    purpose = spec.purpose.text if spec.purpose is not None else ""
    sections = [(each.heading, each.kind) for each in spec.document.sections]
    return spec.title, purpose.split(), sections, [_requirement_contents(each) for each in spec.requirements]


def _requirement_contents(requirement: Requirement) -> tuple[object, ...]:
    scenarios = [
        (part.name, part.text.split(), [(each.keyword, each.text, each.children, each.code) for each in part.steps])
        for part in requirement.scenarios
    ]
    asides = [(each.heading, each.raw.split()) for each in requirement.asides]
    return requirement.name, requirement.text.split(), scenarios, asides
