"""Answers of an import and an export."""

import msgspec


class ImportedItem(msgspec.Struct, frozen=True, kw_only=True):
    """One item of an import."""

    id: str
    """In the source."""
    as_: str = msgspec.field(name="as")
    """Here."""
    title: str


class Problem(msgspec.Struct, frozen=True):
    """An item that was not imported, and why."""

    id: str
    reason: str


class Unplaced(msgspec.Struct, frozen=True):
    """Parts without a place in the project's format, which the record of the import keeps."""

    what: str
    count: int
    examples: tuple[str, ...]


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    format: str
    source: str
    """The name of the import; the same name finds the same items again."""
    into: str
    """The requirement format of the project; empty where only memories came."""
    dry_run: bool
    added: tuple[ImportedItem, ...] = ()
    changed: tuple[ImportedItem, ...] = ()
    unchanged: int = 0
    mapped: tuple[ImportedItem, ...] = ()
    """The items among them that have another id here than in the source."""
    conflicts: tuple[Problem, ...] = ()
    """Changed both in the source and here; what is here stays."""
    rejected: tuple[Problem, ...] = ()
    """Break a rule of the project's format; kept in the record of the import."""
    unplaced: tuple[Unplaced, ...] = ()
    memories_added: int = 0
    memories_unchanged: int = 0
    memories_kept: tuple[str, ...] = ()
    """Memories that say something else here than in the file; they stay as they are."""
    reversal_hash: str | None = None
    """Undoes the import of the memories."""
    files: tuple[str, ...] = ()
    record: str | None = None
    """The file that says which item became which requirement."""
    notes: tuple[str, ...] = ()
    truncated: bool = False


class ExportReport(msgspec.Struct, frozen=True, kw_only=True):
    format: str
    items: int
    relations: int
    memories: int = 0
    nodes: int = 0
    """The other nodes in the graph: code, tests, results, documents."""
    notes: tuple[str, ...] = ()


class Exported(msgspec.Struct, frozen=True):
    report: ExportReport
    content: bytes
