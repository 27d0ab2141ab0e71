"""Records of documents in the library."""

from collections.abc import Mapping
from typing import Any, Self

import msgspec

from clew.formats.diagnostics import Diagnostic


class ChunkRecord(msgspec.Struct, frozen=True):
    """One chunk of a document: the unit of search, reading and citing."""

    id: str
    document: str
    """The path of its document."""
    place: int
    """Its place among the sections of its document, from 0."""
    parent: int
    """The place of the first piece of the section it is below; -1 for none."""
    ordinal: int
    """The number of the piece in its heading's section, from 1."""
    title: str
    trail: str
    """The titles of the document and of all headings above, and its own."""
    level: int
    anchor: str
    start: int
    end: int
    """Characters of the document's text."""
    line: int
    end_line: int
    """Lines of the file."""
    tokens: int
    version: str
    kinds: str
    """The kinds of its blocks, separated by spaces."""

    def lines_of(self, text: str, start: int, end: int) -> tuple[int, int]:
        """The first and the last line of text[start:end] in the file, if `text` is that of the section; the lines of
        the whole section if its text has other lines than the file, as for HTML and notebooks."""
        if text.count("\n") != self.end_line - self.line:
            return self.line, self.end_line
        first = self.line + text.count("\n", 0, start)
        return first, first + text.count("\n", start, end)


class DocumentRecord(msgspec.Struct, frozen=True):
    path: str
    title: str
    format: str
    tag: str
    """A short name by which searches are narrowed."""
    environment: str
    repository: str
    front_matter: Mapping[str, Any]
    content_hash: str
    size: int
    mtime_ns: int
    updated_at: str
    """When the content was last seen to change: the file's time. UTC, ISO 8601."""
    problems: tuple[Diagnostic, ...]


class DocumentRest(msgspec.Struct, frozen=True, omit_defaults=True):
    """The fields of a document that have no column of their own."""

    title: str
    format: str
    updated_at: str
    front_matter: Mapping[str, Any] = {}
    problems: tuple[Diagnostic, ...] = ()

    @classmethod
    def of(cls, document: DocumentRecord) -> Self:
        return cls(**{name: getattr(document, name) for name in cls.__struct_fields__})

    def with_columns(
        self, path: str, tag: str, environment: str, repository: str, content_hash: str, size: int, mtime_ns: int
    ) -> DocumentRecord:
        return DocumentRecord(
            path=path,
            tag=tag,
            environment=environment,
            repository=repository,
            content_hash=content_hash,
            size=size,
            mtime_ns=mtime_ns,
            **{name: getattr(self, name) for name in self.__struct_fields__},
        )


class CorpusDefaults(msgspec.Struct, frozen=True):
    """Properties of every document of a corpus, unless the document gives others."""

    environment: str
    repository: str
    tag_folder: int = 2
    """The folder of a path that gives the document's tag, counted from 1."""


ANYWHERE = CorpusDefaults("dev", "")


class EntityRecord(msgspec.Struct, frozen=True):
    id: str
    kind: str
    name: str
    normal: str
    count: int


class MentionRow(msgspec.Struct, frozen=True, gc=False):
    place: int
    entity: str
    kind: str
    normal: str
    name: str
    count: int


class StepRow(msgspec.Struct, frozen=True, gc=False):
    procedure: str
    step: str
    place: int
    """The number of the step, from 1."""


class CiteRow(msgspec.Struct, frozen=True, gc=False):
    """A mention, in a section, of a node outside of the knowledge base: a requirement, part of a spec, a file."""

    place: int
    target: str
    labels: tuple[str, ...]
    rank: int
    """Of several nodes that one mention may mean, the first that exists is meant."""
    written: str


class LinkRow(msgspec.Struct, frozen=True, gc=False):
    place: int
    path: str
    """The document that is meant; empty where only the label is known."""
    label: str
    anywhere: bool
    text: str


class PreparedDocument(msgspec.Struct, frozen=True):
    """Everything that one document contributes."""

    document: DocumentRecord
    sections: tuple[ChunkRecord, ...]
    texts: tuple[str, ...]
    labels: Mapping[str, int]
    """From a label to the place of the section it means."""
    mentions: tuple[MentionRow, ...]
    steps: tuple[StepRow, ...]
    cites: tuple[CiteRow, ...]
    links: tuple[LinkRow, ...]
