"""Request context of the language server: the project, and the texts that the editor has open."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls import uris
from pygls.workspace import PositionCodec, TextDocument, Workspace

from clew.cache import Cache
from clew.errors import ClewError
from clew.operation.call import Call, decode_as, perform
from clew.operation.declare import Operation
from clew.operation.listing import all_tools
from clew.project import Project
from clew.surfaces.lsp.editor_text import EditorText, count_lines_as_editors, ended_lines
from clew.trace.links.results import Suggestion
from clew.workspace.files import path_inside, read_bytes
from clew.workspace.paths import raw

_LINE_END = "\r\n"
_FILES_KEPT = 32


class EditorProject:
    """A project as an editor shows it: answers are about the saved files, places are in the text of the editor."""

    def __init__(self, project: Project, workspace: Workspace) -> None:
        self.project = project
        self.root: Path = project.config.root.resolve()
        self.suggested: Cache[tuple[str, str, str], tuple[Suggestion, ...]] = Cache(_FILES_KEPT)
        """Suggested links of a file, of one state of the graph and of what was decided."""
        self._workspace = workspace
        count_lines_as_editors(workspace)

    def ask(self, operation: type[Operation], **arguments: Any) -> Any:
        """Carry out an operation, as every other surface does."""
        request = decode_as(operation, arguments, operation.about.tool or operation.about.verb or "the editor")
        return perform(request, self.call())

    def call(self) -> Call:
        """A call with the rights of a person on the command line."""
        return Call(self.project, all_tools(), surface="cli")

    @contextmanager
    def reading(self) -> Iterator[Project]:
        """The project in step with its files; ask for no operation inside."""
        self.project.ensure_graph()
        with self.project.context.lock.reading():
            yield self.project

    # Files

    def path_of(self, uri: str) -> str | None:
        """The file of the project at an address; None for any other address."""
        try:
            name = uris.to_fs_path(uri)
            return path_inside(self.root, name) if name else None
        except (ClewError, ValueError, OSError):
            return None

    def uri_of(self, path: str) -> str:
        """The address of a file, as the editor spells it where it has the file open."""
        place = str(self.root / raw(path))
        # A copy, because the editor opens and closes texts meanwhile.
        for open_uri in list(self._workspace.text_documents):
            if _place_of(open_uri) == place:
                return str(open_uri)
        return uris.from_fs_path(place) or Path(place).as_uri()

    def document(self, uri: str) -> TextDocument | None:
        """A text that the editor has open, or a saved file of the project. Nothing else is read, whatever the address
        is."""
        opened: TextDocument | None = self._workspace.text_documents.get(unquote(uri))
        if opened is not None:
            return opened
        path = self.path_of(uri)
        return EditorText(uri, self._saved(path), position_codec=self.codec) if path is not None else None

    @property
    def codec(self) -> PositionCodec:
        return self._workspace.position_codec

    def lines_of(self, path: str) -> Sequence[str]:
        """The lines of a file as the editor shows them, or as they are saved."""
        uri = self.uri_of(path)
        opened = self._workspace.text_documents.get(unquote(uri))
        return opened.lines if opened is not None else ended_lines(self._saved(path))

    def _saved(self, path: str) -> str:
        try:
            data = read_bytes(self.root, path, limit=self.project.config.max_file_bytes)
            # An editor shows no byte order mark.
            return data.decode("utf-8", "replace").removeprefix("\ufeff")
        except (ClewError, ValueError):
            return ""

    def is_saved(self, uri: str, saved: bytes) -> bool:
        """True if the editor shows the saved text, so that positions are the same in both."""
        opened = self._workspace.text_documents.get(unquote(uri))
        return opened is None or opened.source.encode() == saved

    # Places

    def line_range(self, path: str, line: int) -> lsp.Range:
        """A line of a file, counted from 1, without the space around its text."""
        lines = self.lines_of(path)
        number = min(max(line, 1), max(len(lines), 1)) - 1
        text = lines[number].rstrip(_LINE_END) if number < len(lines) else ""
        return self.span(lines, number, len(text) - len(text.lstrip()), len(text.rstrip()))

    def span(self, lines: Sequence[str], number: int, start: int, end: int) -> lsp.Range:
        """Characters of a line, counted from 0, in the units of the editor."""
        text = lines[number] if number < len(lines) else ""
        first, last = (self.codec.client_num_units(text[:column]) for column in (start, max(start, end)))
        return lsp.Range(lsp.Position(number, first), lsp.Position(number, last))

    def column(self, document: TextDocument, position: lsp.Position) -> int:
        """The column of a position in its line, in characters."""
        return int(document.position_from_client_units(position).character)


@lru_cache(maxsize=4096)
def _place_of(uri: str) -> str | None:
    """The path in the address of an open text; it is asked for with every file that an answer names."""
    return uris.to_fs_path(uri)
