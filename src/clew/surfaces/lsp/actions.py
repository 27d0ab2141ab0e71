"""Code actions: writing a suggested link, writing a hash. The editor applies the edits, so that its own undo takes them
back, and nothing is written to a file that somebody is editing."""

from collections.abc import Iterator

from lsprotocol import types as lsp

from clew.edit.edits import FileEdit
from clew.errors import ClewError
from clew.graph.model import NodeKind
from clew.surfaces.lsp.editor_project import EditorProject
from clew.surfaces.lsp.editor_text import ended_lines
from clew.text.display import one_line
from clew.trace.links.requests import LinkRequest
from clew.trace.links.results import Suggestion
from clew.trace.operations.fix import FixRequirements
from clew.trace.operations.links import ApplyLink, SuggestLinks

REJECT = "clew.rejectLink"
"""A command of the server: a suggested link is wrong."""
MOST_LINKS = 3
_HASHES = ("trace.stale_hash", "trace.missing_hash")
_STATES = ("stale", "missing")
_LIMIT = 200


def code_actions(editor: EditorProject, params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
    path = editor.path_of(params.text_document.uri)
    if path is None:
        return []
    only = params.context.only or [lsp.CodeActionKind.Empty]
    if not any(lsp.CodeActionKind.QuickFix.value.startswith(str(getattr(kind, "value", kind))) for kind in only):
        return []
    return [*_hashes(editor, path, params), *_links(editor, path, params)]


def _hashes(editor: EditorProject, path: str, params: lsp.CodeActionParams) -> Iterator[lsp.CodeAction]:
    """Fixes for the hash of a requirement. They are offered at its header, where the finding is, and at its End marker,
    where the hash is written."""
    found: dict[str, list[lsp.Diagnostic]] = {id: [] for id in _ending_here(editor, path, params.range)}
    for each in params.context.diagnostics:
        id = each.data.get("id") if isinstance(each.data, dict) else None
        if each.code in _HASHES and isinstance(id, str):
            found.setdefault(id, []).append(each)
    for id, findings in found.items():
        try:
            planned = editor.ask(FixRequirements, what=(id,), dry_run=True).planned
        except ClewError:
            continue
        edit = workspace_edit(editor, planned.edits)
        if edit is not None:
            yield lsp.CodeAction(
                f"Write the new hash of {id}", lsp.CodeActionKind.QuickFix, findings, is_preferred=True, edit=edit
            )


def _ending_here(editor: EditorProject, path: str, chosen: lsp.Range) -> list[str]:
    """The requirements with a stale or missing hash whose last line is selected."""
    lines = range(chosen.start.line + 1, chosen.end.line + 2)
    with editor.reading() as project:
        return [
            node.id
            for node in project.graph.nodes_in_file(path)
            if node.kind is NodeKind.REQUIREMENT
            and node.source is not None
            and node.source.end_line in lines
            and node.get_field("hash_state") in _STATES
        ]


def _links(editor: EditorProject, path: str, params: lsp.CodeActionParams) -> Iterator[lsp.CodeAction | lsp.Command]:
    first, last = params.range.start.line + 1, params.range.end.line + 1
    here = [each for each in _suggested(editor, path) if first <= each.line <= last]
    for each in here[:MOST_LINKS]:
        yield from _link(editor, each)


def _suggested(editor: EditorProject, path: str) -> tuple[Suggestion, ...]:
    """The suggested links. Editors ask at every move of the cursor, so the answer is cached until a file or a decision
    changes."""
    project = editor.project
    project.ensure_graph()
    key = (path, project.graph.state.fingerprint, project.links.decisions_state())
    kept = editor.suggested.get(key)
    if kept is not None:
        return kept
    try:
        page = editor.ask(SuggestLinks, file_path=path, limit=_LIMIT)
    except ClewError:
        # A file that holds neither tests nor code.
        return ()
    found: tuple[Suggestion, ...] = page.suggestions
    if page.with_meaning:
        editor.suggested.put(key, found)
    return found


def _link(editor: EditorProject, suggestion: Suggestion) -> Iterator[lsp.CodeAction | lsp.Command]:
    id = suggestion.assertion_id or suggestion.requirement_id
    link = LinkRequest(suggestion.file, suggestion.line, id, if_version=suggestion.file_version)
    try:
        edit = editor.project.links.planned(link)
    except ClewError:
        return
    changed = workspace_edit(editor, (edit,))
    if changed is None:
        return
    about = f"{id}: {one_line(suggestion.requirement_title, 60)} ({suggestion.confidence:.2f})"
    yield lsp.CodeAction(f"Link to {about}", lsp.CodeActionKind.QuickFix, edit=changed)
    arguments = [suggestion.file, suggestion.line, suggestion.requirement_id]
    yield lsp.Command(f"Do not suggest {suggestion.requirement_id} here again", REJECT, arguments=arguments)


def reject_link(editor: EditorProject, path: str, line: int, requirement: str) -> str:
    """Reject a suggested link; returns the message that the editor shows."""
    done = editor.ask(ApplyLink, file_path=path, line=line, requirement_id=requirement, decision="reject")
    return str(done.message)


def workspace_edit(editor: EditorProject, edits: tuple[FileEdit, ...] | list[FileEdit]) -> lsp.WorkspaceEdit | None:
    """Planned writes as edits of the editor's texts; None if a text changed since the plan."""
    changes: dict[str, list[lsp.TextEdit]] = {}
    for edit in edits:
        uri = editor.uri_of(edit.path)
        if edit.before is None or edit.after is None or not editor.is_saved(uri, edit.before):
            return None
        changes[uri] = [_text_edit(editor, edit.before.decode(), edit.after.decode())]
    return lsp.WorkspaceEdit(changes=changes) if changes else None


def _text_edit(editor: EditorProject, before: str, after: str) -> lsp.TextEdit:
    """The lines that differ, between the first and the last one."""
    old, new = ended_lines(before), ended_lines(after)
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    same = 0
    while same < min(len(old), len(new)) - first and old[-1 - same] == new[-1 - same]:
        same += 1
    last = len(old) - same
    text = "".join(new[first : len(new) - same])
    if last < len(old) or not old or old[-1].endswith("\n"):
        return lsp.TextEdit(lsp.Range(lsp.Position(first, 0), lsp.Position(last, 0)), text)
    # The file ends without a line end, so there is no line behind the last one.
    end = lsp.Position(len(old) - 1, editor.codec.client_num_units(old[-1]))
    return lsp.TextEdit(lsp.Range(lsp.Position(first, 0), end), text)
