"""A file of a spec while requirements come into it: whatever they do not change keeps its bytes."""

from collections.abc import Container, Mapping, Sequence

import msgspec

from clew.errors import Rejected
from clew.exchange.places.reading_back import open_fence
from clew.formats.openspec.apply.plan import Edit, edited
from clew.formats.openspec.lines import BOM, Lines
from clew.formats.openspec.records import Requirement, SectionKind, Spec
from clew.text.display import shortened
from clew.text.lines import newline_of, with_newlines


class SpecFile(msgspec.Struct, frozen=True):
    path: str
    data: bytes | None
    """None where there is no such file."""
    spec: Spec

    @property
    def fence_line(self) -> int:
        """Where a code block begins that is never closed; 0 where there is none."""
        return Lines(self.data or b"").fence_line

    def refuse_open(self, slugs: Container[str]) -> None:
        """Rejected where an open code block begins in one of these requirements: what stands behind may be others."""
        line = self.fence_line
        spans = (each.span for each in self.spec.requirements if each.slug in slugs)
        if any(each.line <= line <= each.end_line for each in spans):
            raise open_fence(self.path, line)

    def bytes_of(self, requirement: Requirement) -> bytes:
        """A requirement as it stands here, without the byte order mark of the file."""
        return (self.data or b"")[self._start(requirement) : requirement.span.end]

    def _start(self, requirement: Requirement) -> int:
        is_marked = requirement.span.start == 0 and (self.data or b"").startswith(BOM)
        return len(BOM) if is_marked else requirement.span.start

    def with_blocks(self, changed: Mapping[str, bytes], new: Sequence[bytes]) -> bytes:
        """The file with other texts of its requirements, by their slugs, and with new ones behind those of its section
        of requirements."""
        data = self.data or b""
        section = next(self.spec.document.of_kind(SectionKind.REQUIREMENTS), None)
        edits = [
            Edit(self._start(each), self.bytes_of(each), changed[each.slug])
            for each in self.spec.requirements
            if each.slug in changed
        ]
        if not new:
            return edited(data, edits)
        end = section.span.end if section is not None else len(data)
        newline = newline_of(data)
        heading = [] if section is not None else [b"## Requirements\n"]
        text = with_newlines(b"\n".join((*heading, *new)).decode(), newline)
        before = edited(data[:end], [each for each in edits if each.start < end])
        behind = edited(data, [Edit(0, data[:end], b""), *(each for each in edits if each.start >= end)])
        return before + _apart(before, newline) + text + (newline + behind if behind.strip() else behind)

    def not_read(self, id: str) -> Rejected:
        """Why the file cannot take what an import brings; `id` is a requirement that would be lost or altered."""
        if self.fence_line:
            return open_fence(self.path, self.fence_line)
        return Rejected(
            f"{self.path} would not be read as the requirements that it holds: '{shortened(id)}' would be lost, or "
            "would say something else. Nothing is imported.",
            hint="Run `clew specs validate` and correct the headings of that file, or the item in the source.",
        )


def _apart(before: bytes, newline: bytes) -> bytes:
    """What parts a new requirement from what stands before it."""
    lines = before.splitlines(keepends=True)
    if not lines or not lines[-1].strip():
        return b""
    return newline if lines[-1].endswith((b"\n", b"\r")) else newline * 2
