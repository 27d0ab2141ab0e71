"""An editor: the client of pygls on a `clew lsp` of its own process, for plain test functions."""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

CLEW = (sys.executable, "-m", "clew", "lsp")
SECONDS = 120
"""Nothing takes so long; a test that would wait for ever fails."""


class Editor:
    def __init__(self, root: Path, *arguments: str) -> None:
        self.root = root
        self.said: list[str] = []
        self._arguments = arguments
        self._client = LanguageClient("editor", "1")
        self._published: dict[str, list[lsp.Diagnostic]] = {}
        self._news = asyncio.Condition()

    async def __aenter__(self) -> Self:
        client = self._client

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def published(params: lsp.PublishDiagnosticsParams) -> None:
            async with self._news:
                self._published[params.uri] = list(params.diagnostics)
                self._news.notify_all()

        @client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def shown(params: lsp.ShowMessageParams) -> None:
            self.said.append(params.message)

        await client.start_io(*CLEW, *self._arguments)
        self.told = await self._within(
            client.initialize_async(
                lsp.InitializeParams(
                    capabilities=lsp.ClientCapabilities(),
                    root_uri=self.root.as_uri(),
                    workspace_folders=[lsp.WorkspaceFolder(self.root.as_uri(), self.root.name)],
                )
            )
        )
        client.initialized(lsp.InitializedParams())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._within(self._client.shutdown_async(None))
        self._client.exit(None)
        await self._within(self._client.stop())

    async def _within(self, waiting: Any) -> Any:
        return await asyncio.wait_for(waiting, SECONDS)

    # Texts

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def open(self, path: str, text: str | None = None) -> None:
        shown = (self.root / path).read_text(encoding="utf-8-sig") if text is None else text
        item = lsp.TextDocumentItem(self.uri(path), "text", 1, shown)
        self._client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def save(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")
        document = lsp.VersionedTextDocumentIdentifier(2, self.uri(path))
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self._client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))
        self._client.text_document_did_save(lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(self.uri(path))))

    def change(self, path: str, place: lsp.Range, text: str) -> None:
        document = lsp.VersionedTextDocumentIdentifier(2, self.uri(path))
        part = lsp.TextDocumentContentChangePartial(range=place, text=text)
        self._client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [part]))

    def place(self, path: str, words: str, of: str | None = None) -> lsp.Position:
        """The middle of some words in a file, or of `of` inside them, in the units of the protocol."""
        for number, line in enumerate((self.root / path).read_text(encoding="utf-8-sig").split("\n")):
            if words in line:
                at = line.index(words) + (words.index(of) + len(of) // 2 if of else len(words) // 2)
                return lsp.Position(number, len(line[:at].encode("utf-16-le")) // 2)
        raise AssertionError(f"{path} has no line with {words!r}")

    # Questions

    def _at(self, path: str, words: str, of: str | None) -> dict[str, Any]:
        document = lsp.TextDocumentIdentifier(self.uri(path))
        return {"text_document": document, "position": self.place(path, words, of)}

    async def hover(self, path: str, words: str, of: str | None = None) -> str:
        found = await self._within(self._client.text_document_hover_async(lsp.HoverParams(**self._at(path, words, of))))
        return found.contents.value if found is not None else ""

    async def definition(self, path: str, words: str, of: str | None = None) -> list[str]:
        params = lsp.DefinitionParams(**self._at(path, words, of))
        return self._lines(await self._within(self._client.text_document_definition_async(params)))

    async def references(self, path: str, words: str, of: str | None = None, *, declaration: bool = False) -> list[str]:
        context = lsp.ReferenceContext(include_declaration=declaration)
        params = lsp.ReferenceParams(context=context, **self._at(path, words, of))
        return self._lines(await self._within(self._client.text_document_references_async(params)))

    async def references_at(self, path: str, position: lsp.Position) -> list[str]:
        document, context = lsp.TextDocumentIdentifier(self.uri(path)), lsp.ReferenceContext(include_declaration=False)
        params = lsp.ReferenceParams(context=context, text_document=document, position=position)
        return self._lines(await self._within(self._client.text_document_references_async(params)))

    async def calls(self, path: str, words: str, of: str | None = None) -> tuple[list[str], list[str]]:
        """The names of those that call what is under the cursor, and of those that it calls, each with its lines."""
        params = lsp.CallHierarchyPrepareParams(**self._at(path, words, of))
        items = await self._within(self._client.text_document_prepare_call_hierarchy_async(params))
        if not items:
            return [], []
        (item,) = items
        client = self._client
        into = await self._within(
            client.call_hierarchy_incoming_calls_async(lsp.CallHierarchyIncomingCallsParams(item))
        )
        out = await self._within(client.call_hierarchy_outgoing_calls_async(lsp.CallHierarchyOutgoingCallsParams(item)))
        return [_named(each.from_, each.from_ranges) for each in into], [
            _named(each.to, each.from_ranges) for each in out
        ]

    async def completion(self, path: str, line: int, character: int) -> list[lsp.CompletionItem]:
        document, position = lsp.TextDocumentIdentifier(self.uri(path)), lsp.Position(line, character)
        params = lsp.CompletionParams(document, position)
        return list((await self._within(self._client.text_document_completion_async(params))).items)

    async def actions(
        self, path: str, place: lsp.Position, diagnostics: Iterable[lsp.Diagnostic] = ()
    ) -> dict[str, Any]:
        params = lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(self.uri(path)),
            lsp.Range(place, place),
            lsp.CodeActionContext(list(diagnostics)),
        )
        found = await self._within(self._client.text_document_code_action_async(params))
        return {each.title: each for each in found}

    async def execute(self, command: lsp.Command) -> None:
        params = lsp.ExecuteCommandParams(command.command, command.arguments)
        await self._within(self._client.workspace_execute_command_async(params))

    async def findings(self, path: str, codes: set[str]) -> list[lsp.Diagnostic]:
        """What is published about a file, once it has exactly these codes."""
        uri = self.uri(path)
        async with self._news:
            await self._within(
                self._news.wait_for(
                    lambda: uri in self._published and {str(each.code) for each in self._published[uri]} == codes
                )
            )
        return self._published[uri]

    def apply(self, edit: lsp.WorkspaceEdit) -> str:
        """What an editor does with the edits of one file: returns the path, and writes the text."""
        ((uri, edits),) = (edit.changes or {}).items()
        path = uri.removeprefix(f"{self.root.as_uri()}/")
        lines = (self.root / path).read_text(encoding="utf-8").splitlines(keepends=True)
        (one,) = edits
        first, last = one.range.start, one.range.end
        assert (first.character, last.character) == (0, 0), "whole lines"
        lines[first.line : last.line] = [one.new_text]
        self.save(path, "".join(lines))
        return path

    def _lines(self, places: Any) -> list[str]:
        found = places if isinstance(places, (list, tuple)) else [places]
        return [f"{each.uri.removeprefix(self.root.as_uri() + '/')}:{each.range.start.line + 1}" for each in found]


def _named(item: lsp.CallHierarchyItem, ranges: Iterable[lsp.Range]) -> str:
    return f"{item.detail or item.name}::{item.name}:{','.join(str(each.start.line + 1) for each in ranges)}"
