"""The ids that fit where somebody writes a citation."""

import re
from collections.abc import Iterator

from lsprotocol import types as lsp

from clew.graph.model import EdgeKind, Node, NodeKind
from clew.project import Project
from clew.surfaces.lsp.citations import LONGEST
from clew.surfaces.lsp.editor_project import EditorProject
from clew.text.display import one_line

MOST = 200
TRIGGERS = ["-", ":", " ", "/", "#"]
_VERBS = (EdgeKind.IMPLEMENTS, EdgeKind.VERIFIES, EdgeKind.VALIDATES, EdgeKind.REFINES, EdgeKind.SATISFIES)
_CITING = re.compile(rf"(?i)\b(?:{'|'.join(_VERBS)}|requirement)s?\W*:")
_STARTED = re.compile(r"[\w./#+-]*\Z")
_KINDS = (NodeKind.REQUIREMENT, NodeKind.ASSERTION)


def completions(editor: EditorProject, uri: str, position: lsp.Position) -> lsp.CompletionList:
    """After a keyword such as `Verifies:` every id; elsewhere the ids that begin like the word, if it looks like an id
    of this project."""
    document = editor.document(uri)
    if document is None:
        return lsp.CompletionList(is_incomplete=False, items=[])
    line = document.lines[position.line] if 0 <= position.line < len(document.lines) else ""
    column = editor.column(document, position)
    # A line may be as long as a file; the word and its keyword are near the cursor.
    before = line[max(column - LONGEST, 0) : column]
    written = _STARTED.search(before)
    word = written[0] if written is not None else ""
    with editor.reading() as project:
        is_citing = _CITING.search(before) is not None
        if not is_citing and not (word and _looks_like_id(project, word)):
            return lsp.CompletionList(is_incomplete=False, items=[])
        found = list(_fitting(project, word, titles=is_citing))
    span = editor.span(document.lines, position.line, column - len(word), column)
    items = [_item(node, span, word) for node in found[:MOST]]
    # Behind a keyword the editor asks again with every letter, because it cannot know what fits by its title.
    return lsp.CompletionList(is_incomplete=is_citing or len(found) > MOST, items=items)


def _looks_like_id(project: Project, word: str) -> bool:
    prefix = project.config.elspais.namespace.casefold()
    return bool(prefix) and len(word) >= len(prefix) and word.casefold().startswith(prefix)


def _fitting(project: Project, word: str, *, titles: bool) -> Iterator[Node]:
    wanted = word.casefold()
    parts = [node for kind in _KINDS for node in project.graph.memory.nodes_by_kind(kind)]
    for node in sorted(parts, key=lambda node: node.id):
        if node.id.casefold().startswith(wanted) or (titles and len(wanted) > 2 and wanted in node.title.casefold()):
            yield node


def _item(node: Node, span: lsp.Range, word: str) -> lsp.CompletionItem:
    title = one_line(node.title, 200)
    by_id = node.id.casefold().startswith(word.casefold())
    return lsp.CompletionItem(
        label=node.id,
        kind=lsp.CompletionItemKind.Reference,
        detail=title,
        # Neovim takes the text to replace from the edit only where there is none.
        filter_text=None if by_id else f"{node.id} {title}",
        text_edit=lsp.TextEdit(span, node.id),
    )
