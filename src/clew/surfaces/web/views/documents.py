"""Documents: a question answered by quotes, the list of documents, and a pane to read one."""

from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from clew.errors import NotFound
from clew.kb.ingest.records import ChunkRecord, DocumentRecord
from clew.kb.operations.commands import Ask, ShowDocument, ShowKbStatus
from clew.surfaces.web import addresses
from clew.surfaces.web.page_request import PAGE, PageRequest, TemplateView
from clew.surfaces.web.views.requirements import pages
from clew.text.display import shortened

MOST_SECTIONS = 400
MOST_CHARACTERS = 120_000


class ShownSection(msgspec.Struct, frozen=True):
    section: ChunkRecord
    text: str
    cites: tuple[str, ...]


def show_documents(request: PageRequest) -> TemplateView:
    question, page = request.text("q"), request.number("page", 1)
    answer = request.ask(Ask, question=question) if question.strip() else None
    # Reads documents that changed, which the status alone does not.
    if answer is None:
        request.notes += request.project.kb.refresh()
    with request.project.kb.library.reading() as reading:
        everything = sorted(reading.documents(), key=lambda each: each.path) if answer is None else []
        shown = everything[(page - 1) * PAGE : page * PAGE]
        cites = {each.path: _count(reading.sections_of(each.path)) for each in shown}
    return TemplateView(
        template="documents.html",
        title="Documents",
        section="documents",
        data={
            "question": question,
            "answer": answer,
            "documents": shown,
            "sections": cites,
            # Counting everything takes as long as a part of the search, and says nothing about the answer.
            "status": request.ask(ShowKbStatus) if answer is None else None,
            "pages": pages({"q": question}, page, len(everything), "/documents"),
        },
    )


def _count(sections: Sequence[ChunkRecord]) -> int:
    return len({each.parent if each.ordinal > 1 else each.place for each in sections})


def show_document(request: PageRequest) -> TemplateView:
    document, outline = _document(request)
    pieces: list[ShownSection] = []
    left = MOST_CHARACTERS
    with request.project.kb.library.reading() as reading:
        for section in outline[:MOST_SECTIONS]:
            text = reading.text(section.id) or ""
            left -= len(text)
            if left < 0:
                break
            targets = dict.fromkeys(each.target for each in reading.cites_of(section.id))
            cites = tuple(target for target in targets if not target.startswith("file:"))
            pieces.append(ShownSection(section, text, cites))
    with request.reading() as project:
        known = {
            id: node.title
            for piece in pieces
            for id in piece.cites
            if (node := project.graph.memory.get_node(id)) is not None
        }
    folder = PurePosixPath(document.path).parent

    def address(to: str) -> str | None:
        """The address of a relative link's target; None if that is outside the project."""
        if to.startswith("#"):
            return to
        path, _, anchor = to.partition("#")
        parts: list[str] = []
        for part in (folder / path).parts:
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            elif part != ".":
                parts.append(part)
        if ":" in path or path.startswith("/"):
            return None
        joined = "/".join(parts)
        if joined.endswith(addresses.DOCUMENT_ENDINGS):
            return addresses.document(f"{joined}#{anchor}" if anchor else joined)
        return addresses.of_place(joined)

    return TemplateView(
        template="document.html",
        title=document.title or document.path,
        section="documents",
        data={
            "document": document,
            "pieces": pieces,
            "outline": outline,
            "left_out": len(outline) - len(pieces),
            "known": known,
            "address": address,
        },
        watches=(document.path,),
    )


def _document(request: PageRequest) -> tuple[DocumentRecord, Sequence[ChunkRecord]]:
    shown = request.ask(ShowDocument, name=request.name)
    if shown.document is not None:
        return shown.document, shown.outline
    path = shown.section.document if shown.section is not None else request.name
    with request.project.kb.library.reading() as reading:
        document = reading.document(path)
        outline = reading.sections_of(path)
    if document is None:
        raise NotFound(f"There is no document '{shortened(request.name)}'.", hint="Documents lists those there are.")
    return document, outline
