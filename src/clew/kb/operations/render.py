"""Documents and answers from them as people read them on a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from clew.kb.ingest.records import DocumentRecord, SectionRecord
from clew.kb.walk.results import NamedEdge
from clew.text.counting import counted
from clew.text.terminal import coloured, linked
from clew.workspace.paths import raw

if TYPE_CHECKING:
    from clew.kb.answer.answering import QuotedAnswer
    from clew.kb.answer.finding import FoundSections
    from clew.kb.ingest.corpus import IndexReport
    from clew.kb.ingest.reconcile import ReconcileReport
    from clew.kb.service import KbStatus

_SHOWN_PROBLEMS = 20
_COUNTS = ("added", "changed", "moved", "removed", "unchanged")


class ShownDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A section in full, or a document in outline."""

    section: SectionRecord | None
    text: str | None
    document: DocumentRecord | None
    outline: tuple[SectionRecord, ...]


class NodeLinks(msgspec.Struct, frozen=True):
    """The edges of one node."""

    links: tuple[NamedEdge, ...]
    labels: dict[str, tuple[str, ...]]
    """Of nodes at the other end: which parts the mention names, where it names some."""
    is_cut: bool


def status(found: "KbStatus") -> str:
    formats = ", ".join(f"{number} {name}" for name, number in sorted(found.formats.items())) or "none"
    entities = counted(found.entities, "entity", "entities")
    lines = [
        coloured(f"{counted(found.documents, 'document')} ({formats})", "bold"),
        f"{counted(found.sections, 'section')}, {entities}, {found.edges} mentions and links",
        f"tags: {', '.join(f'{tag} {number}' for tag, number in sorted(found.tags.items())) or 'none'}",
        f"index: {found.indexed}" + (f"; {counted(found.pending, 'document')} to go" if found.pending else ""),
    ]
    lines += [
        f"{_place(each.path, each.line)}: {each.severity} {each.code}: {each.message}"
        for each in found.problems[:_SHOWN_PROBLEMS]
    ]
    if len(found.problems) > _SHOWN_PROBLEMS:
        lines.append(f"and {len(found.problems) - _SHOWN_PROBLEMS} more; --json shows all")
    return "\n".join(lines)


def index_report(report: "IndexReport") -> str:
    return "documents: " + ", ".join(f"{getattr(report, name)} {name}" for name in _COUNTS)


def reconcile_report(report: "ReconcileReport") -> str:
    files, documents = counted(report.files, "file"), counted(report.documents, "document")
    lines = [f"{files}, {documents}, {counted(report.sections, 'section')}"]
    lines += [f"{each.kind.value.replace('_', ' ')}: {each.id}" for each in report.differences]
    total = sum(report.counts.values())
    if total > len(report.differences):
        lines.append(f"and {total - len(report.differences)} more")
    mended = "all mended" if report.repaired and not report.left else f"{report.left} left"
    return "\n".join((*lines, f"{counted(total, 'difference')}, {mended}" if total else "no differences"))


def found_sections(query: str, found: "FoundSections") -> str:
    from clew.search.quote.evidence import question_tokens

    if not found.sections:
        return found.reason or "Nothing found."
    asked, lines = question_tokens(query), []
    for each in found.sections:
        section = each.section
        line = section.lines_of(each.text, *each.anchor)[0] if each.anchor is not None else section.line
        lines.append(f"{_place(section.document, line)}  {section.trail}")
        lines.append(f"    {_bold(' '.join(each.preview.split()), asked)}")
    return "\n".join(lines)


def quoted_answer(question: str, found: "QuotedAnswer") -> str:
    from clew.search.quote.evidence import question_tokens

    if not found.quotes:
        return "No document says anything about that."
    asked, lines = question_tokens(question), []
    for each in found.quotes:
        lines.append(f"{_place(each.path, each.line)}  {coloured(each.title, 'dim')}")
        # The lines of tables and code stay as they are.
        lines += [f"    {_bold(line.rstrip(), asked)}" for line in each.quote.splitlines() if line.strip()]
    return "\n".join(lines)


def shown_document(found: ShownDocument) -> str:
    section, document = found.section, found.document
    if section is not None:
        place = f"{_place(section.document, section.line)}-{section.end_line}"
        return f"{place}  {section.trail}\n{found.text or ''}"
    lines = [coloured(f"{document.path}  {document.title}", "bold")] if document is not None else []
    for each in found.outline:
        place = _place(each.document, each.line)
        lines.append(f"{'  ' * each.level}{each.id}  {place} {coloured(f'{each.tokens} tokens', 'dim')}")
    return "\n".join(lines)


def node_links(found: dict[str, NodeLinks], limit: int) -> str:
    lines: list[str] = []
    for id, each in found.items():
        lines.append(coloured(id, "bold"))
        # What is mentioned and who mentions it is what people ask for.
        own = sorted(_edges(id, each), key=lambda line: " MENTIONS " not in line)
        lines += [f"  {line}" for line in own]
        if each.is_cut:
            lines.append(f"  and more; --limit above {limit} shows them")
    return "\n".join(lines)


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
