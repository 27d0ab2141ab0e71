"""Records of one elspais markdown file.

A file becomes a sequence of blocks that covers it without gap or overlap: concatenating the `raw` of every block gives
back the text of the file. Spans are in bytes of the file; the other texts are decoded, and valid Unicode whatever the
file holds: a byte that is not UTF-8 reads as U+FFFD.

The records are frozen values that also serve as the cached form of a parsed file, which is why they are
msgspec structs: decoding tens of thousands of them is what a warm start spends its time on.
"""

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.text.lines import Span


class Reference(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One item of a reference list, as written and as understood."""

    kind: str
    """implements, refines, satisfies, integrates, addresses or validates."""
    written: str
    """The item as it is in the file."""
    target: str
    """The canonical id, or the written text where it does not follow the grammar."""
    labels: tuple[str, ...]
    """Assertion labels the reference names; empty means the whole requirement."""
    line: int
    malformed: bool = False
    """The item does not follow the grammar of ids; `target` is the written text."""


class AssertionRecord(msgspec.Struct, frozen=True, gc=False, array_like=True):
    label: str
    text: str
    """Without the label, continuation lines included, line ends as LF."""
    span: Span


class SectionRecord(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A titled part of a requirement or journey other than its assertions."""

    heading: str
    text: str
    depth: int
    """Number of `#`; 0 for an emphasised line that groups assertions."""
    span: Span


class ChangelogEntry(msgspec.Struct, frozen=True, gc=False, array_like=True):
    date: str
    hash: str
    change_order: str
    author: str
    author_id: str
    reason: str
    line: int


class Requirement(msgspec.Struct, frozen=True, array_like=True, tag="requirement"):
    id: str
    """Canonical id."""
    written_id: str
    title: str
    level: str
    """Canonical level name (`prd`), the text as written if unknown, `Unknown` if absent."""
    status: str
    template: bool
    references: tuple[Reference, ...]
    preamble: str
    """Body text before the first heading."""
    assertions: tuple[AssertionRecord, ...]
    sections: tuple[SectionRecord, ...]
    changelog: tuple[ChangelogEntry, ...]
    stored_hash: str | None
    """As written in the End marker; None where there is no marker or no hash."""
    hash_line: int
    """The line of the End marker; 0 where there is none."""
    heading_depth: int
    body: str
    """Everything between the metadata and the End marker, as written, line ends as LF."""
    raw: str
    span: Span


class Journey(msgspec.Struct, frozen=True, array_like=True, tag="journey"):
    id: str
    title: str
    actor: str
    goal: str
    context: str
    references: tuple[Reference, ...]
    """References to the requirements that the journey validates."""
    steps: tuple[tuple[int, str, int], ...]
    """Number, text and line of each item of the Steps section."""
    preamble: str
    """Text before the first heading that belongs to no field."""
    sections: tuple[SectionRecord, ...]
    body: str
    raw: str
    span: Span


class Remainder(msgspec.Struct, frozen=True, array_like=True, tag="remainder"):
    """Free text between requirements and journeys, kept verbatim."""

    raw: str
    span: Span


Block = Requirement | Journey | Remainder


class FileRecords(msgspec.Struct, frozen=True, array_like=True):
    blocks: tuple[Block, ...]
    diagnostics: tuple[Diagnostic, ...]
