"""Records of a document.

A document has one *text*, and everything in it is a range of that text, counted in characters (code points). Of
markdown and plain text that is the file's own text, so a range of the text is a range of the file; of
reStructuredText, HTML, notebooks and Python modules it is what a person would read. Lines always are lines of the
file, from 1.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from clew.formats.diagnostics import Diagnostic


class Format(StrEnum):
    MARKDOWN = "markdown"
    RST = "rst"
    HTML = "html"
    PLAIN = "plain"
    NOTEBOOK = "notebook"
    PYTHON = "python"
    MANUAL = "manual"
    OPENAPI = "openapi"
    GRAPHQL = "graphql"


class BlockKind(StrEnum):
    HEADING = "heading"
    PROSE = "prose"
    CODE = "code"
    """Its fences, or the directive that opens it, included."""
    OUTPUT = "output"
    """Output of a cell of a notebook."""
    TABLE = "table"
    ITEM = "item"
    """One item of a list, with everything that is below it."""
    COMMENT = "comment"
    """Text that readers of the rendered document do not see."""


class Block(msgspec.Struct, frozen=True, gc=False):
    """A piece of the text that belongs together: text[start:end], without the line end after it."""

    kind: BlockKind
    start: int
    end: int
    line: int
    end_line: int
    level: int = 0
    """Of a heading, from 1."""
    title: str = ""
    """Of a heading: its text without marks."""
    labels: tuple[str, ...] = ()
    """Of a heading: names that the author gave it for links."""


class DocumentLink(msgspec.Struct, frozen=True, gc=False):
    """A reference to another place, as the author wrote it."""

    start: int
    end: int
    text: str
    path: str
    """The document that is meant; empty for the one that the link is in, or where only the label is known."""
    label: str
    """The place in it; empty for the whole document."""
    anywhere: bool = False
    """True if the label may be in any document, as in reStructuredText."""


class Section(msgspec.Struct, frozen=True):
    """A heading and what follows it up to the next heading of any level."""

    title: str
    level: int
    """0 for what is before the first heading."""
    anchor: str
    """The name of the section among those that are below the same heading."""
    path: tuple[str, ...]
    """The anchors from the outermost section to this one, unique in the document. The first heading, which is the
    document's title, is none of them unless it is the last: renaming the document keeps the names of its sections."""
    labels: tuple[str, ...]
    """Every name by which a link inside or into the document may mean the section."""
    start: int
    end: int
    line: int
    end_line: int
    blocks: tuple[Block, ...]
    """The heading comes first, where there is one."""
    parent: int
    """Index of the section above it; -1 for none."""

    @property
    def key(self) -> str:
        return "/".join(self.path)


class Document(msgspec.Struct, frozen=True):
    format: Format
    title: str
    text: str
    front_matter: Mapping[str, Any]
    """Properties that the author wrote: texts, numbers, truth values, and lists of them."""
    sections: tuple[Section, ...]
    links: tuple[DocumentLink, ...]
    diagnostics: tuple[Diagnostic, ...]
