"""A file's bytes to everything that the knowledge base keeps of it. Depends on the file and the settings alone."""

import posixpath
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

from clew.config import EnvironmentName
from clew.formats.diagnostics import Diagnostic
from clew.formats.documents.chunks import Chunk, chunks_of
from clew.formats.documents.markdown import without_name
from clew.formats.documents.model import Document, Format
from clew.formats.documents.reader import VERSION as READER_VERSION
from clew.formats.documents.reader import format_of, read_document
from clew.kb import ids
from clew.kb.entities.extract import VERSION as ENTITIES_VERSION
from clew.kb.entities.extract import entities_of
from clew.kb.entities.model import DocumentEntities, EntityKind
from clew.kb.ingest.citations import Citations
from clew.kb.ingest.records import (
    ANYWHERE,
    ChunkRecord,
    CiteRow,
    CorpusDefaults,
    DocumentRecord,
    LinkRow,
    MentionRow,
    PreparedDocument,
    StepRow,
)
from clew.text.display import shortened
from clew.text.hashing import content_hash
from clew.workspace.files import FileEntry

VERSION = f"5.{READER_VERSION}.{ENTITIES_VERSION}"
"""Changes when the same file would be kept in another way."""

TRAIL = " > "
ENVIRONMENTS: tuple[str, ...] = get_args(EnvironmentName)

_TAG_LINE = re.compile(r"^[^\S\n]*DocTag:\s*(\S+)", re.MULTILINE)
_SCOPED = re.compile(r"[^_].*?__(.+)")
_NANOSECONDS = 1_000_000_000
_LONGEST_LABEL = 200


def prepare(data: bytes, entry: FileEntry, citations: Citations, origin: CorpusDefaults = ANYWHERE) -> PreparedDocument:
    document = read_document(data, entry.path)
    chunks = chunks_of(document)
    entities = entities_of(document, chunks)
    sections = _sections(document, chunks, entry.path)
    texts = tuple(_text(document, chunk) for chunk in chunks)
    return PreparedDocument(
        document=_record(document, data, entry, origin),
        sections=sections,
        texts=texts,
        labels=_labels(document, chunks),
        mentions=tuple(_mentions(document, chunks, entities, entry.path)),
        steps=tuple(_steps(document, entities, entry.path)),
        cites=tuple(_cites(texts, entities, entry.path, citations)),
        links=tuple(_links(document, chunks, entry.path)),
    )


def _text(document: Document, chunk: Chunk) -> str:
    text = document.text[chunk.start : chunk.end]
    if document.format is not Format.MARKDOWN or chunk.ordinal > 1 or document.sections[chunk.section].level == 0:
        return text
    heading, newline, rest = text.partition("\n")
    return f"{without_name(heading)}{newline}{rest}"


def unreadable(
    entry: FileEntry, problem: str, origin: CorpusDefaults = ANYWHERE, data: bytes = b""
) -> PreparedDocument:
    """A document that cannot be read: it has a reason and no contents. `data` is given if only its content could not be
    decoded."""
    found = Diagnostic("documents.unreadable", "error", problem, 1)
    empty = Document(format_of(entry.path), posixpath.basename(entry.path), "", {}, (), (), (found,))
    return PreparedDocument(_record(empty, data, entry, origin), (), (), {}, (), (), (), ())


def _record(document: Document, data: bytes, entry: FileEntry, origin: CorpusDefaults) -> DocumentRecord:
    environment, problems = _environment(document, origin)
    return DocumentRecord(
        path=entry.path,
        title=document.title,
        format=document.format.value,
        tag=_tag(document, entry.path, origin.tag_folder),
        environment=environment,
        repository=origin.repository,
        front_matter=document.front_matter,
        content_hash=content_hash(data),
        size=entry.size,
        mtime_ns=entry.mtime_ns,
        updated_at=datetime.fromtimestamp(entry.mtime_ns / _NANOSECONDS, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z"),
        problems=(*document.diagnostics, *problems),
    )


def _environment(document: Document, origin: CorpusDefaults) -> tuple[str, tuple[Diagnostic, ...]]:
    """The environment that the document names in its front matter; otherwise that of all documents."""
    given: Any = document.front_matter.get("environment")
    if given is None or given in ENVIRONMENTS:
        return given or origin.environment, ()
    problem = f"The front matter names the environment {shortened(str(given))!r}; there are {', '.join(ENVIRONMENTS)}."
    return origin.environment, (Diagnostic("documents.unknown_environment", "warning", problem, 1),)


NEARLY_ALL = 0.9


def dividing_folder(paths: Iterable[str]) -> int:
    """The first folder of a path, counted from 1, by which documents differ. A document in a folder and one beside it
    differ too, but not at the top, where a README lies; and a folder that holds nearly all documents tells none of them
    apart. 2 if no folder divides them."""
    folders = [path.split("/")[:-1] for path in paths]
    for place in range(max(map(len, folders), default=0)):
        names = Counter(each[place] if place < len(each) else "" for each in folders)
        if place == 0:
            names.pop("", None)
        is_shared = max(names.values()) > NEARLY_ALL * names.total() if names else False
        if len(names) > 1 and not (is_shared and any(len(each) > place + 1 for each in folders)):
            return place + 1
    return 2


def _tag(document: Document, path: str, folder: int) -> str:
    """The tag that the author gives; else the part of the file's name after two underscores, else the name of the
    folder that divides the documents, else the name of the file."""
    given: Any = document.front_matter.get("doc_tag")
    if isinstance(given, str) and given.strip():
        return given.strip()
    if document.format is not Format.PYTHON and (line := _TAG_LINE.search(document.text)) is not None:
        return line[1]
    stem = posixpath.splitext(posixpath.basename(path))[0]
    if scoped := _SCOPED.fullmatch(stem):
        return scoped[1]
    folders = path.split("/")[:-1]
    return folders[folder - 1] if len(folders) >= folder else stem


def _sections(document: Document, chunks: Sequence[Chunk], path: str) -> tuple[ChunkRecord, ...]:
    first = _first_places(chunks)
    found = []
    for place, chunk in enumerate(chunks):
        section = document.sections[chunk.section]
        found.append(
            ChunkRecord(
                id=ids.section_id(path, section.key, chunk.ordinal),
                document=path,
                place=place,
                parent=first.get(section.parent, -1),
                ordinal=chunk.ordinal,
                title=section.title,
                trail=TRAIL.join(_trail(document, chunk.section)),
                level=section.level,
                anchor=section.anchor,
                start=chunk.start,
                end=chunk.end,
                line=chunk.line,
                end_line=chunk.end_line,
                tokens=chunk.tokens,
                version=chunk.version,
                kinds=" ".join(kind.value for kind in chunk.kinds),
            )
        )
    return tuple(found)


def _first_places(chunks: Sequence[Chunk]) -> dict[int, int]:
    """The place of the first piece of each section."""
    return {chunk.section: place for place, chunk in enumerate(chunks) if chunk.ordinal == 1}


def _trail(document: Document, section: int) -> list[str]:
    titles: list[str] = []
    while section >= 0:
        titles.append(document.sections[section].title)
        section = document.sections[section].parent
    titles.append(document.title)
    titles.reverse()
    return [title for number, title in enumerate(titles) if number == 0 or title != titles[number - 1]]


def _labels(document: Document, chunks: Sequence[Chunk]) -> dict[str, int]:
    first = _first_places(chunks)
    labels: dict[str, int] = {}
    # What an author named comes before what only a heading's text would give.
    named = [
        (depth, label, first[number])
        for number, section in enumerate(document.sections)
        if number in first
        for depth, label in enumerate(section.labels)
    ]
    for _, label, place in sorted(named, key=lambda each: each[0]):
        labels.setdefault(label[:_LONGEST_LABEL], place)
    return labels


def _mentions(
    document: Document, chunks: Sequence[Chunk], entities: DocumentEntities, path: str
) -> Iterator[MentionRow]:
    for place, mentions in enumerate(entities.mentions):
        for each in mentions:
            id = ids.entity_id(each.kind.value, each.normal)
            yield MentionRow(place, id, each.kind.value, each.normal, each.name, each.count)
    starts = [chunk.start for chunk in chunks]
    for procedure, key in _procedure_keys(document, entities, path):
        found = entities.procedures[procedure]
        counted: dict[int, int] = {}
        for number, (name, start) in enumerate(zip(found.steps, found.places, strict=True), start=1):
            place = bisect_right(starts, start) - 1
            counted[place] = counted.get(place, 0) + 1
            normal = f"{key}/{number}"
            yield MentionRow(place, ids.entity_id("step", normal), EntityKind.STEP.value, normal, name, 1)
        for place, count in counted.items():
            id = ids.entity_id("procedure", key)
            yield MentionRow(place, id, EntityKind.PROCEDURE.value, key, found.name, count)


def _steps(document: Document, entities: DocumentEntities, path: str) -> Iterator[StepRow]:
    for procedure, key in _procedure_keys(document, entities, path):
        for number in range(1, len(entities.procedures[procedure].steps) + 1):
            yield StepRow(ids.entity_id("procedure", key), ids.entity_id("step", f"{key}/{number}"), number)


def _procedure_keys(document: Document, entities: DocumentEntities, path: str) -> Iterator[tuple[int, str]]:
    """The keys of procedures. A procedure has the name of its section; of several in one section, later ones get a
    number after a sign that no section's name holds."""
    seen: dict[int, int] = {}
    for number, procedure in enumerate(entities.procedures):
        again = seen[procedure.section] = seen.get(procedure.section, 0) + 1
        key = f"{path}#{document.sections[procedure.section].key}"
        yield number, key if again == 1 else f"{key}~{again}"


def _cites(texts: Sequence[str], entities: DocumentEntities, path: str, citations: Citations) -> Iterator[CiteRow]:
    for place, text in enumerate(texts):
        found = [*citations.in_text(text), *citations.of_files(entities.mentions[place], path)]
        for cited in dict.fromkeys((each.target, each.labels, each.rank, each.written) for each in found):
            yield CiteRow(place, *cited)


def _links(document: Document, chunks: Sequence[Chunk], path: str) -> Iterator[LinkRow]:
    starts = [chunk.start for chunk in chunks]
    for link in document.links:
        place = bisect_right(starts, link.start) - 1
        if place < 0:
            continue
        target = "" if link.anywhere else path
        if link.path:
            # A path from the root is meant from the project's folder, as documentation tools do.
            folder = "" if link.path.startswith("/") else posixpath.dirname(path)
            target = posixpath.normpath(posixpath.join(folder, link.path.lstrip("/")))
        if not target.startswith("../"):
            yield LinkRow(place, target, link.label[:_LONGEST_LABEL], link.anywhere, link.text)
