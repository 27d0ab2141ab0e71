"""The language server: requests of an editor, answered from one project.

Answers are made in threads, so that a slow one holds up no other; everything that is sent goes out from the one loop.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from lsprotocol import types as lsp
from pygls import uris
from pygls.lsp.server import LanguageServer

from clew import __version__
from clew.errors import ClewError
from clew.project import Project
from clew.surfaces.lsp import actions, code, completing, navigation
from clew.surfaces.lsp.editor_project import EditorProject
from clew.surfaces.lsp.frames import Frames
from clew.surfaces.lsp.hover import hover
from clew.trace.operations.check import CheckProject
from clew.trace.reports.finding import Finding
from clew.workspace.root import admitted

log = logging.getLogger(__name__)

T = TypeVar("T")

_OWN_FOLDERS = ("/.git/", "/.clew/")
"""Changes in there are no changes of the project, and checking makes some."""
_PAUSE_SECONDS = 0.2
"""Files that are saved or checked out together are looked at together."""

MOST_TEXTS = 1_000
LARGEST_TEXTS = 32 * 1024 * 1024
"""Characters of all open texts together."""
SOURCE = "clew"
_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}


class ClewLanguageServer(LanguageServer):
    def __init__(self, folder: Path | None) -> None:
        super().__init__("clew", __version__)
        self._folder = folder
        self._editor: EditorProject | None = None
        self._published: frozenset[str] = frozenset()
        self._check: asyncio.Task[None] | None = None
        self._again = False

    def open_project(self, params: lsp.InitializeParams) -> None:
        """The project of the folder that the editor has open, unless one was named."""
        self.close_project()
        folder = self._folder or _workspace_folder(params) or Path.cwd()
        named = self._folder is not None or _workspace_folder(params) is not None
        self._editor = EditorProject(Project.open(admitted(folder, named=named), drafts=False), self.workspace)

    def close_project(self) -> None:
        if self._editor is not None:
            self._editor.project.close()
            self._editor = None

    def bound_texts(self) -> None:
        """Forget the texts that were opened first, where there are too many or too large ones: an editor that never
        closes one is answered from the files then."""
        texts = self.workspace.text_documents
        held = sum(len(each.source) for each in texts.values())
        for uri, text in list(texts.items()):
            if len(texts) <= MOST_TEXTS and held <= LARGEST_TEXTS:
                return
            held -= len(text.source)
            del texts[uri]

    async def answer(self, ask: Callable[[EditorProject], T], otherwise: T) -> T:
        """The answer of a function about the project; `otherwise`, and the reason in the editor's log, if it fails."""
        editor = self._editor
        if editor is None:
            return otherwise
        try:
            return await asyncio.to_thread(ask, editor)
        except ClewError as error:
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Warning, str(error)))
            return otherwise

    def check(self) -> None:
        """Have the findings rebuilt. One check at a time: changes during a check lead to another one."""
        self._again = True
        if self._check is None or self._check.done():
            self._check = asyncio.get_running_loop().create_task(self._checked())

    async def _checked(self) -> None:
        while self._again:
            await asyncio.sleep(_PAUSE_SECONDS)
            self._again = False
            found = await self.answer(diagnostics, None)
            if found is not None:
                self._publish(found)

    def _publish(self, found: dict[str, list[lsp.Diagnostic]]) -> None:
        for uri in sorted(self._published - found.keys()):
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))
        for uri, those in found.items():
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, those))
        self._published = frozenset(found)


def build_server(folder: Path | None = None) -> ClewLanguageServer:
    server = ClewLanguageServer(folder)
    _add_lifecycle(server)
    _add_questions(server)
    return server


def _add_lifecycle(server: ClewLanguageServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        try:
            server.open_project(params)
        except ClewError as error:
            # An editor opens any folder; one that is no project is answered with nothing.
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, f"Clew: {error}"))

    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        watched = server.client_capabilities.workspace and server.client_capabilities.workspace.did_change_watched_files
        if watched and watched.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher("**/*")])
            registration = lsp.Registration("clew-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(lsp.RegistrationParams([registration]))
        server.check()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.bound_texts()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed_text(params: lsp.DidChangeTextDocumentParams) -> None:
        server.bound_texts()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.check()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        if any(not any(own in each.uri for own in _OWN_FOLDERS) for each in params.changes):
            server.check()

    @server.feature(lsp.SHUTDOWN)
    def shutdown(params: Any) -> None:
        server.close_project()


def _add_questions(server: ClewLanguageServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def on_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        return await server.answer(lambda editor: hover(editor, params.text_document.uri, params.position), None)

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def on_definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        return await server.answer(
            lambda editor: navigation.definitions(editor, params.text_document.uri, params.position), []
        )

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def on_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        uri, position, declaration = params.text_document.uri, params.position, params.context.include_declaration
        return await server.answer(
            lambda editor: navigation.references(editor, uri, position, declaration=declaration), []
        )

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def on_prepare(params: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
        return await server.answer(lambda editor: code.prepared(editor, params.text_document.uri, params.position), [])

    @server.feature(lsp.CALL_HIERARCHY_INCOMING_CALLS)
    async def on_incoming(params: lsp.CallHierarchyIncomingCallsParams) -> list[lsp.CallHierarchyIncomingCall]:
        return await server.answer(lambda editor: code.incoming(editor, params.item), [])

    @server.feature(lsp.CALL_HIERARCHY_OUTGOING_CALLS)
    async def on_outgoing(params: lsp.CallHierarchyOutgoingCallsParams) -> list[lsp.CallHierarchyOutgoingCall]:
        return await server.answer(lambda editor: code.outgoing(editor, params.item), [])

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=completing.TRIGGERS))
    async def on_completion(params: lsp.CompletionParams) -> lsp.CompletionList | None:
        return await server.answer(
            lambda editor: completing.completions(editor, params.text_document.uri, params.position), None
        )

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    )
    async def on_code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        return await server.answer(lambda editor: actions.code_actions(editor, params), [])

    @server.command(actions.REJECT)
    async def on_reject(file: str, line: int, requirement: str) -> None:
        said = await server.answer(lambda editor: actions.reject_link(editor, file, line, requirement), "")
        if said:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, said))


def _workspace_folder(params: lsp.InitializeParams) -> Path | None:
    first = next((each.uri for each in params.workspace_folders or ()), params.root_uri)
    path = uris.to_fs_path(first) if first else params.root_path
    return Path(path) if path else None


def serve_stdio(folder: Path | None = None) -> None:
    """Serve an editor until it closes standard input. All other output goes to standard error."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    server = build_server(folder)
    try:
        server.start_io(cast("BinaryIO", Frames(source)), target)
    finally:
        server.close_project()


def diagnostics(editor: EditorProject) -> dict[str, list[lsp.Diagnostic]]:
    """Every finding that is in a file, by the address of the file."""
    found: dict[str, list[lsp.Diagnostic]] = {}
    for finding in editor.ask(CheckProject).findings:
        if finding.path:
            found.setdefault(editor.uri_of(finding.path), []).append(_diagnostic(editor, finding))
    return found


def _diagnostic(editor: EditorProject, finding: Finding) -> lsp.Diagnostic:
    return lsp.Diagnostic(
        range=editor.line_range(finding.path, finding.line),
        message=f"{finding.message}\n{finding.hint}".rstrip(),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source=SOURCE,
        data={"id": finding.node_id},
    )
