"""One requirement: its text, the proof of each assertion, its decisions, its neighbours and its history."""

import re
from collections.abc import Iterable, Sequence
from typing import get_args

import msgspec

from clew.errors import NotFound
from clew.formats.register.records import requirement_object
from clew.graph.model import EdgeKind, NodeKind
from clew.project import Project
from clew.register.requests import StatusWord
from clew.surfaces.web import addresses
from clew.surfaces.web.page_request import PageRequest, Redirect, TemplateView, ViewResult
from clew.surfaces.web.pictures.neighbourhood import Drawing, neighbourhood
from clew.surfaces.web.texts import field_of, label_of, sections_of_requirement
from clew.trace.find.table import format_of
from clew.trace.operations.read import GetRequirement
from clew.trace.reports.matrix import Citing, MatrixRow
from clew.why.answer import TITLES, EvidenceSection
from clew.why.operations.thread import ShowWhy
from clew.why.target import read_text

MOST_EXCERPTS = 24
EXCERPT_LINES = 14
_OWN = ("asked_for_by", "decided", "open_changes", "made_by", "authors")
"""Sections of the answer to why that are shown as they are; the others are said by the page itself."""

_ASSERTIONS = re.compile(r"^## Assertions\s*$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
"""They are shown with their proof, so not in the text once more."""


class CodeExcerpt(msgspec.Struct, frozen=True):
    place: str
    first: int
    lines: tuple[str, ...]
    cut: bool


def show_requirement(request: PageRequest) -> ViewResult:
    with request.reading() as project:
        owner = _owner(project, request.name)
    if owner != request.name:
        return Redirect(f"{addresses.requirement(owner)}#{request.name.removeprefix(owner).lstrip('-#/')}")
    detail = request.ask(GetRequirement, req_id=request.name)
    thread = request.tried(ShowWhy, target=detail.id, max_tokens=20_000)
    with request.reading() as project:
        node = project.trace.resolve(detail.id)
        row = project.trace.matrix([node]).rows[0]
        excerpts = _excerpts(project, row)
        drawing = neighbourhood(project.graph, detail.id)
        style = format_of(node)
        texts = sections_of_requirement(project, detail.id) if request.may_write and style == "elspais" else ()
    sections = {each.name: each for each in (thread.sections if thread is not None else ())}
    return TemplateView(
        template="requirement.html",
        title=f"{detail.id} {detail.title}",
        section="requirements",
        data={
            "detail": detail,
            "row": row,
            "text": _ASSERTIONS.sub("", detail.body).strip(),
            "format": style,
            "sections": [(TITLES[name], sections[name]) for name in _OWN if name in sections],
            "versions": _timeline(sections.get("versions")),
            "versions_note": sections["versions"].note if "versions" in sections else "",
            "excerpts": excerpts,
            "drawing": drawing,
            "texts": [(field_of(each), label_of(each), each.text) for each in texts],
            "statuses": _statuses(request.project, style),
            "entry": requirement_object(request.project.register.show(detail.id)) if style == "register" else None,
            "drafted": any(id.partition(":section:")[0] == detail.id for id in request.project.unsaved().target_ids),
        },
        watches=_watched(detail.id, row, drawing),
    )


def _owner(project: Project, name: str) -> str:
    """The requirement of a name or of an assertion's name."""
    node = project.graph.memory.get_node(name)
    if node is not None and node.kind is NodeKind.ASSERTION:
        found = next(project.graph.iter_parents(name, (EdgeKind.STRUCTURES,)), None)
        return found.id if found is not None else name
    if node is not None and node.kind is NodeKind.REQUIREMENT:
        return name
    if node is not None and node.kind is NodeKind.USER_JOURNEY:
        raise NotFound(f"'{name}' is a journey.", hint=f"It is in {node.source.path if node.source else 'no file'}.")
    return project.trace.resolve(name).id


def _statuses(project: Project, style: str) -> tuple[str, ...]:
    """The values that the status can be changed to."""
    if style == "register":
        return get_args(StatusWord)
    if style == "openspec":
        return ()
    return tuple(status for _, statuses in project.config.elspais.status_roles for status in statuses)


def _citing(row: MatrixRow) -> Iterable[Citing]:
    yield from (*row.verified_by, *row.implemented_by)
    for each in row.assertions:
        yield from (*each.verified_by, *each.implemented_by)


def _excerpts(project: Project, row: MatrixRow) -> dict[str, CodeExcerpt]:
    """The first lines of tests and code that cite it, by their id."""
    found: dict[str, CodeExcerpt] = {}
    for each in _citing(row):
        if each.id in found or each.kind not in ("test", "code") or len(found) >= MOST_EXCERPTS:
            continue
        node = project.graph.memory.get_node(each.id)
        text = read_text(project, node.source.path) if node is not None and node.source is not None else None
        if text is None or node is None or node.source is None:
            continue
        first, last = node.source.line, min(node.source.end_line, node.source.line + EXCERPT_LINES - 1)
        lines = text.lines[first - 1 : last]
        found[each.id] = CodeExcerpt(f"{node.source.path}:{first}", first, lines, node.source.end_line > last)
    return found


class TextVersion(msgspec.Struct, frozen=True):
    text: str
    place: str
    followed: tuple[str, ...]


def _timeline(section: EvidenceSection | None) -> tuple[TextVersion, ...]:
    """Versions, newest first, each with its difference."""
    found: list[TextVersion] = []
    for fact in section.facts if section is not None else ():
        if fact.text.startswith("after ") and found:
            said = fact.text.partition("what cites it: ")[2] or fact.text
            found[-1] = TextVersion(found[-1].text, found[-1].place, tuple(said.split("; ")))
        else:
            found.append(TextVersion(fact.text, fact.place, ()))
    return tuple(found)


def _watched(id: str, row: MatrixRow, drawing: Drawing) -> tuple[str, ...]:
    around: Sequence[str] = [each.id for each in drawing.nodes]
    return tuple(dict.fromkeys((id, *(each.id for each in row.assertions), *around, "memory")))
