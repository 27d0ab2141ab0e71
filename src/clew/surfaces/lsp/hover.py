"""The hover over a citation: the requirement, its evidence, and the decisions about it."""

from collections.abc import Iterator

from lsprotocol import types as lsp

from clew.errors import ClewError
from clew.graph.model import Node, NodeKind
from clew.surfaces.lsp.citations import IdInLine, citation_at
from clew.surfaces.lsp.editor_project import EditorProject
from clew.text.display import counted, one_line
from clew.trace.reports.matrix import AssertionRow, Citing, MatrixRow
from clew.why.answer import TITLES, EvidenceSection

MOST_TESTS = 3
_LONGEST = 400
_PROOF = {"passed": "proved", "failed": "**failed**", "awaiting_result": "tested, no result yet", "untested": "no test"}


def hover(editor: EditorProject, uri: str, position: lsp.Position) -> lsp.Hover | None:
    with editor.reading() as project:
        citation = citation_at(editor, project, uri, position)
        if citation is None:
            return None
        is_requirement = citation.owner.kind is NodeKind.REQUIREMENT
        row = project.trace.matrix([citation.owner]).rows[0] if is_requirement else None
    lines = [*_head(citation.owner), *(_proof(row, citation) if row is not None else ())]
    lines += [line for section in _decided_and_open(editor, citation) for line in _section(section)]
    text = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n".join(lines))
    document = editor.document(uri)
    shown = document.lines if document is not None else ()
    return lsp.Hover(text, editor.span(shown, position.line, citation.start, citation.end))


def _head(owner: Node) -> Iterator[str]:
    facts = (owner.get_field("level"), owner.get_field("status"))
    about = " · ".join(str(fact) for fact in facts if fact)
    yield f"**{owner.id}** {_plain(owner.title)}" + (f" ({about})" if about else "")
    yield ""


def _proof(row: MatrixRow, citation: IdInLine) -> Iterator[str]:
    """Each assertion with its proof; if some are named, only those."""
    named = [each for each in row.assertions if each.label in citation.labels]
    for each in named or row.assertions:
        yield f"- **{each.label}** {_plain(each.text)} *({_PROOF[each.proof]})*"
        yield from (f"  - {line}" for line in _citing(each))
    if row.assertions and named and len(named) < len(row.assertions):
        rest = counted(len(row.assertions) - len(named), "more assertion")
        yield f"- {rest}; {row.tested} of {len(row.assertions)} tested"
    for verb, those in (("implemented", row.implemented_by), ("verified", row.verified_by)):
        if those:
            yield f"- as a whole {verb} by {_names(those)}"
    yield ""


def _citing(row: AssertionRow) -> Iterator[str]:
    if row.verified_by:
        yield f"verified by {_names(row.verified_by)}"
    if row.implemented_by:
        yield f"implemented by {_names(row.implemented_by)}"


def _names(those: tuple[Citing, ...]) -> str:
    shown = [f"`{each.source or each.id}`" + (f" ({each.verdict})" if each.verdict else "") for each in those]
    more = f" and {len(shown) - MOST_TESTS} more" if len(shown) > MOST_TESTS else ""
    return ", ".join(shown[:MOST_TESTS]) + more


def _decided_and_open(editor: EditorProject, citation: IdInLine) -> list[EvidenceSection]:
    """Decisions about a requirement, and open changes of it; none if they cannot be read: the rest is still shown."""
    from clew.why.thread import decided_and_open

    try:
        found = decided_and_open(editor.call(), citation.owner.id)
    except ClewError:
        return []
    return [each for each in found if each.facts]


def _section(section: EvidenceSection) -> Iterator[str]:
    yield f"**{TITLES[section.name]}**"
    yield ""
    yield from (f"- {_plain(fact.text)}" for fact in section.facts)
    yield ""


def _plain(text: str) -> str:
    """Text of a file in one line, which an editor shows and does not obey: no pictures, no HTML, no links."""
    return one_line(text, _LONGEST).replace("<", "&lt;").replace("![", "!\\[").replace("](", "]\\(")
