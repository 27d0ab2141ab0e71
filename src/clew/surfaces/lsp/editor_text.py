"""A text as an editor counts its lines: only LF, CRLF and CR end one, as in everything that Clew reads."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from pygls.workspace import TextDocument, Workspace

from clew.text.lines import TextLines


def ended_lines(text: str) -> tuple[str, ...]:
    """The lines of a text, each with its end."""
    starts = TextLines(text).starts
    return tuple(text[first:last] for first, last in pairwise(starts))


class EditorText(TextDocument):
    """The library's own ends a line at form feeds and other signs too, and would apply edits in the wrong place."""

    @property
    def lines(self) -> Sequence[str]:
        return ended_lines(self.source)


def count_lines_as_editors(workspace: Workspace) -> None:
    """Have a workspace keep texts that are opened from here on as `EditorText`."""
    codec, kind = workspace.position_codec, workspace._sync_kind
    make = partial(EditorText, sync_kind=kind, position_codec=codec)
    workspace._create_text_document = make  # type: ignore[method-assign]
