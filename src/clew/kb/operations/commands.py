"""The commands `clew kb`: what people do with documents, without the budgets of the tools."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, NotFound
from clew.kb.ingest.records import ChunkRecord, DocumentRecord
from clew.kb.walk.results import NamedEdge
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Option, Toolset
from clew.text.display import counted
from clew.text.terminal import coloured, linked, note
from clew.workspace.paths import raw

if TYPE_CHECKING:
    from clew.kb.answer.answering import QuotedAnswer
    from clew.kb.answer.section_search import FoundSections
    from clew.kb.ingest.corpus import IngestionReport
    from clew.kb.ingest.reconcile import ReconcileReport
    from clew.kb.queries import LibraryReader
    from clew.kb.service import KbStatus


_SHOWN_PROBLEMS = 20
_COUNTS = ("added", "changed", "moved", "removed", "unchanged")


class ShownDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A section in full, or a document in outline."""

    section: ChunkRecord | None
    text: str | None
    document: DocumentRecord | None
    outline: tuple[ChunkRecord, ...]


class NodeLinks(msgspec.Struct, frozen=True):
    """The edges of one node."""

    links: tuple[NamedEdge, ...]
    labels: dict[str, tuple[str, ...]]
    """Of nodes at the other end: which parts the mention names, where it names some."""
    is_cut: bool


def _edges(id: str, found: NodeLinks) -> Iterator[str]:
    for link in found.links:
        arrow, other = ("→", link.dst) if link.src == id else ("←", link.src)
        labels = found.labels.get(other)
        yield f"{arrow} {link.type} {other}" + (f" ({', '.join(labels)})" if labels else "")


def _place(path: str, line: int) -> str:
    """A line of a file, as terminals let people click on it."""
    return linked(coloured(f"{path}:{line}", "cyan"), raw(path), line)


def _bold(line: str, asked: frozenset[str]) -> str:
    """The line with the words that were asked for in bold."""
    from clew.search.quote.evidence import question_tokens

    words = line.split(" ")
    return " ".join(coloured(word, "bold") if question_tokens(word) & asked else word for word in words)


_NEEDED = ("{command} needs to know what.", "Write `{command} WHAT`.")

Words = Annotated[str, Meta(description="Words, or a question"), Option(positional=True, joined=True, needed=_NEEDED)]
Tags = Annotated[tuple[str, ...], Meta(description="Only documents with this tag"), Option("--tag", metavar="TAG")]


class ShowKbStatus(
    Operation,
    verb="kb status",
    aliases=("",),
    toolset=Toolset.KB,
    summary="what is kept of the documents, how much is indexed, what is odd",
    epilog="clew kb",
    needs=Freshness.NONE,
):
    """Counts of the documents and of their index, and problems. Documents that were never read are read first."""

    def run(self, call: Call) -> "KbStatus":
        if not call.project.kb.was_read:
            call.notes = call.project.kb.refresh(call.progress, wait=True)
        return call.project.kb.status()

    def render(self, result: "KbStatus") -> str:
        formats = ", ".join(f"{number} {name}" for name, number in sorted(result.formats.items())) or "none"
        entities = counted(result.entities, "entity", "entities")
        lines = [
            coloured(f"{counted(result.documents, 'document')} ({formats})", "bold"),
            f"{counted(result.sections, 'section')}, {entities}, {result.edges} mentions and links",
            f"tags: {', '.join(f'{tag} {number}' for tag, number in sorted(result.tags.items())) or 'none'}",
            f"index: {result.indexed}" + (f"; {counted(result.pending, 'document')} to go" if result.pending else ""),
        ]
        lines += [
            f"{_place(each.path, each.line)}: {each.severity} {each.code}: {each.message}"
            for each in result.problems[:_SHOWN_PROBLEMS]
        ]
        if len(result.problems) > _SHOWN_PROBLEMS:
            lines.append(f"and {len(result.problems) - _SHOWN_PROBLEMS} more; --json shows all")
        return "\n".join(lines)

    def messages(self, result: "KbStatus") -> tuple[str, ...]:
        return tuple(map(note, result.notes))


class IndexDocuments(
    Operation,
    verb="kb index",
    toolset=Toolset.KB,
    summary="read the documents that changed, and make the search index complete",
    epilog="clew kb index --full",
    needs=Freshness.NONE,
):
    """Read documents and index them."""

    full: Annotated[bool, Meta(description="Read every document again")] = False

    def run(self, call: Call) -> "IngestionReport":
        report = call.project.kb.index(call.progress, full=self.full)
        call.project.index.make_vectors(call.progress)
        return report

    def render(self, result: "IngestionReport") -> str:
        return "documents: " + ", ".join(f"{getattr(result, name)} {name}" for name in _COUNTS)

    def messages(self, result: "IngestionReport") -> tuple[str, ...]:
        return tuple(map(note, (*result.problems, *filter(None, (result.note,)))))


class Reconcile(
    Operation,
    verb="kb reconcile",
    toolset=Toolset.KB,
    summary="compare files, store and index, and repair what differs",
    epilog="clew kb reconcile --dry-run",
    needs=Freshness.NONE,
):
    """Compare the library with the files."""

    dry_run: Annotated[bool, Meta(description="Only say what differs")] = False

    def run(self, call: Call) -> "ReconcileReport":
        return call.project.kb.reconcile(call.progress, repair=not self.dry_run)

    def render(self, result: "ReconcileReport") -> str:
        files, documents = counted(result.files, "file"), counted(result.documents, "document")
        lines = [f"{files}, {documents}, {counted(result.sections, 'section')}"]
        lines += [f"{each.kind.value.replace('_', ' ')}: {each.id}" for each in result.differences]
        total = sum(result.counts.values())
        if total > len(result.differences):
            lines.append(f"and {total - len(result.differences)} more")
        mended = "all mended" if result.repaired and not result.left else f"{result.left} left"
        return "\n".join((*lines, f"{counted(total, 'difference')}, {mended}" if total else "no differences"))

    def messages(self, result: "ReconcileReport") -> tuple[str, ...]:
        return () if result.note is None else (note(result.note),)

    def exit_code(self, result: "ReconcileReport") -> int:
        return 1 if result.left else 0


class SearchKb(
    Operation,
    verb="kb search",
    command_of="kb.search",
    toolset=Toolset.KB,
    summary="the best sections, each with what it says about the words",
    epilog='clew kb search "how is the margin set"',
    needs=Freshness.DOCUMENT_GRAPH,
):
    """Search documents as they are now."""

    query: Words
    limit: Annotated[int, Meta(description="Results at most"), Option(metavar="N")] = 5
    tags: Tags = ()

    def answer_early(self, call: Call) -> None:
        _check_limit(self.limit)

    def run(self, call: Call) -> "FoundSections":
        from clew.kb.answer.requests import Narrowing, SearchRequest

        request = SearchRequest(query=self.query, top_k=self.limit, narrowing=Narrowing(tags=self.tags))
        return call.project.kb.finder.find(request)

    def render(self, result: "FoundSections") -> str:
        from clew.search.quote.evidence import question_tokens

        if not result.sections:
            return f"{result.reason or 'Nothing found in the documents.'} `clew search` looks everywhere."
        asked, lines = question_tokens(self.query), []
        for each in result.sections:
            section = each.section
            line = section.lines_of(each.text, *each.anchor)[0] if each.anchor is not None else section.line
            lines.append(f"{_place(section.document, line)}  {section.trail}")
            lines.append(f"    {_bold(' '.join(each.preview.split()), asked)}")
        return "\n".join(lines)

    def messages(self, result: "FoundSections") -> tuple[str, ...]:
        return tuple(map(note, result.notes))

    def exit_code(self, result: "FoundSections") -> int:
        return 0 if result.sections else 1


class Ask(
    Operation,
    verb="kb ask",
    command_of="kb.retrieve_evidence",
    toolset=Toolset.KB,
    summary="quotes that answer a question",
    epilog='clew kb ask "what is the default margin?"',
    needs=Freshness.DOCUMENT_GRAPH,
):
    """Answer a question by quotes from documents as they are now."""

    question: Words
    tags: Tags = ()

    def run(self, call: Call) -> "QuotedAnswer":
        from clew.kb.answer.answering import answer
        from clew.kb.answer.requests import EvidenceRequest, Narrowing

        return answer(
            call.project.kb.finder, EvidenceRequest(question=self.question, narrowing=Narrowing(tags=self.tags))
        )

    def render(self, result: "QuotedAnswer") -> str:
        from clew.kb.answer.results import NOT_SURE
        from clew.search.quote.evidence import question_tokens

        if not result.quotes:
            nearest = [f"{_place(each.path, each.line)}  {each.title}" for each in result.nearest]
            head = "No document answers that. Nearest:" if nearest else "No document says anything about that."
            return "\n".join([head, *nearest])
        asked, lines = question_tokens(self.question), [NOT_SURE] if result.is_refused else []
        for each in result.quotes:
            copies = f"  also {', '.join(each.also)}" if each.also else ""
            about = coloured(f"{each.title}  {each.certainty.value}{copies}", "dim")
            lines.append(f"{_place(each.path, each.line)}  {about}")
            # The lines of tables and code stay as they are.
            lines += [f"    {_bold(line.rstrip(), asked)}" for line in each.quote.splitlines() if line.strip()]
        return "\n".join(lines)

    def messages(self, result: "QuotedAnswer") -> tuple[str, ...]:
        from clew.kb.answer.results import NOT_SURE

        return tuple(note(each) for each in result.notes if each != NOT_SURE)

    def exit_code(self, result: "QuotedAnswer") -> int:
        return 1 if result.is_refused or not result.quotes else 0


class ShowDocument(
    Operation,
    verb="kb show",
    toolset=Toolset.KB,
    summary="the outline of a document, or one section in full",
    epilog="clew kb show docs/guide.md\nclew kb show docs/guide.md#setting-it",
    needs=Freshness.DOCUMENT_GRAPH,
):
    """A document's outline, or one section in full."""

    name: Annotated[
        str,
        Meta(description="A document or section, by id or path"),
        Option(positional=True, joined=True, needed=_NEEDED),
    ]

    def run(self, call: Call) -> ShownDocument:
        with call.project.kb.library.reading(call.boundary) as reading:
            current = _named_id(call.project.config.root, reading, self.name)
            section = reading.section(current) if current is not None else None
            document = reading.document_by_id(current) if current is not None else None
            if section is None and document is None:
                raise NotFound(
                    f"There is no document or section '{self.name}'.", hint="`clew kb search WORDS` finds sections."
                )
            return ShownDocument(
                section=section,
                text=reading.text(section.id) if section is not None else None,
                document=document,
                outline=tuple(reading.sections_of(document.path)) if document is not None else (),
            )

    def render(self, result: ShownDocument) -> str:
        section, document = result.section, result.document
        if section is not None:
            place = f"{_place(section.document, section.line)}-{section.end_line}"
            return f"{place}  {section.trail}\n{result.text or ''}"
        lines = [coloured(f"{document.path}  {document.title}", "bold")] if document is not None else []
        for each in result.outline:
            place = _place(each.document, each.line)
            lines.append(f"{'  ' * each.level}{each.id}  {place} {coloured(f'{each.tokens} tokens', 'dim')}")
        return "\n".join(lines)


class ShowLinks(
    Operation,
    verb="kb graph",
    command_of="graph.expand",
    toolset=Toolset.KB,
    summary="what stands around a document, a section, a requirement or a term",
    epilog="clew kb graph REQ-d00001",
    needs=Freshness.DOCUMENT_GRAPH,
):
    """Nodes around a node of the documents, or around one that documents mention."""

    name: Annotated[
        str,
        Meta(description="An id, a document or a term"),
        Option(positional=True, joined=True, needed=_NEEDED),
    ]
    limit: Annotated[int, Meta(description="Edges of each kind at most"), Option(metavar="N")] = 25

    def answer_early(self, call: Call) -> None:
        _check_limit(self.limit)

    def run(self, call: Call) -> dict[str, NodeLinks]:
        from clew.kb.walk.neighbours import edges_of

        with call.project.kb.snapshot(call.boundary) as snapshot:
            found = edges_of(snapshot, _ids_meant(call.project.config.root, snapshot.reading, self.name), self.limit)
        if not any(each.links for each in found.values()):
            raise NotFound(
                f"Nothing that documents are about is called '{self.name}'.",
                hint="`clew kb search WORDS` finds sections.",
            )
        return {id: NodeLinks(each.links, each.labels, each.is_cut) for id, each in found.items()}

    def render(self, result: dict[str, NodeLinks]) -> str:
        lines: list[str] = []
        for id, each in result.items():
            lines.append(coloured(id, "bold"))
            # What is mentioned and who mentions it is what people ask for.
            own = sorted(_edges(id, each), key=lambda line: " MENTIONS " not in line)
            lines += [f"  {line}" for line in own]
            if each.is_cut:
                lines.append(f"  and more; --limit above {self.limit} shows them")
        return "\n".join(lines)


def _named_id(root: Path, reading: "LibraryReader", name: str) -> str | None:
    """The id of a document or section that is named by an id, also an old one, or by a path, from the project's folder
    or from the current one, with or without the name of a section."""
    from clew.kb import ids

    path, _, key = name.partition("#")
    here = Path(os.path.relpath(Path(path).resolve(), root))
    documents = [ids.document_id(each.as_posix()) for each in (Path(path), here)]
    for id in (name, ids.document_id(name), *(f"{document}#{key}" if key else document for document in documents)):
        if (current := reading.current_id(id)) is not None:
            return current
    return None


def _ids_meant(root: Path, reading: "LibraryReader", name: str) -> list[str]:
    """The ids that a name may mean: itself, a document, or entities of that name."""
    entities = [*reading.entities_named(name), *reading.entities_named(name.casefold())]
    return list(dict.fromkeys([_named_id(root, reading, name) or name, *entities]))


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise InvalidArgument(f"--limit is {limit}; it counts what is shown.", hint="Pass 1 or more.")
