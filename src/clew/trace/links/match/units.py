"""Tests and pieces of code that can be linked: their texts, imports and calls.

Tests are nodes of the graph whether or not they cite anything. Code is a node only where it cites something, so the
outermost functions and classes of code files are looked up here; a file without any is one piece.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

import msgspec

from clew.formats.code.comments import comments, tokens
from clew.formats.code.definitions.scan import definitions
from clew.formats.code.languages import family_for
from clew.graph.model import Node, NodeKind
from clew.trace.links.match.imports import imported_names
from clew.trace.links.match.texts import LinkableText, readable

TEST, CODE = "test", "code"

_CITES = re.compile(r"\b(?:implements|refines|verifies|validates|tests)\b\W*(?:requirements\W*)?:", re.I)
_CITATION = re.compile(rf"^.*{_CITES.pattern}.*$", re.I | re.M)
"""A line that cites says whom the author already thought of, not what the code does."""
_ID_LIKE = re.compile(r"(?<![\w.-])[A-Za-z]+[-_][\w.+-]*\d[\w+-]*")
_MOST_MENTIONED = 20
_CALL = re.compile(r"([A-Za-z_]\w{2,})\s*\(")
_COMMENT_LINE = re.compile(r"\s*(?:#|//|/\*|\*|--|;|%|<!--|'|\")")
_LICENCE_LINES = 40
"""Comments that reach further up than this above a definition are about something else."""


class LinkUnit(msgspec.Struct, frozen=True):
    """A test or a piece of code that could cite a requirement."""

    id: str
    kind: str
    """test or code."""
    label: str
    path: str
    line: int
    end_line: int
    text: str
    calls: frozenset[str]
    """Names that it calls."""
    mentioned: tuple[str, ...] = ()
    """The texts that look like ids in its comments and docstrings."""

    def artefact(self) -> LinkableText:
        """Its text, with the names of the file and of itself: together they tell the subject."""
        return LinkableText(self.id, f"{PurePosixPath(self.path).stem} {self.label}", self.text, self.path)


class UnitFile(msgspec.Struct, frozen=True):
    path: str
    version: str
    """Names its content."""
    imports: tuple[str, ...]
    """As written, with `/` between the parts."""
    units: tuple[LinkUnit, ...]


def read_units(data: bytes, path: str, nodes: Iterable[Node], version: str = "", *, is_test: bool) -> UnitFile:
    """The units of a file; `nodes` are the graph's nodes in it."""
    if b"\0" in data:
        return UnitFile(path, version, (), ())
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    spans = _tests(nodes) if is_test else _definitions(text, path)
    units = tuple(_unit(span, path, lines) for span in spans)
    return UnitFile(path, version, tuple(imported_names(text)), units)


def linked_to(unit: LinkUnit, nodes: Iterable[Node]) -> list[Node]:
    """The nodes of a unit in the graph: the unit itself, or the places in code that belong to it."""
    if unit.kind == TEST:
        return [node for node in nodes if node.id == unit.id]
    return [
        node
        for node in nodes
        if node.kind is NodeKind.CODE and node.source is not None and unit.line <= node.source.line <= unit.end_line
    ]


class _Span(msgspec.Struct, frozen=True):
    id: str
    kind: str
    label: str
    line: int
    end_line: int


def _tests(nodes: Iterable[Node]) -> Iterator[_Span]:
    for node in nodes:
        # A test without a function is a citation on its own, which is linked by nature.
        if node.kind is NodeKind.TEST and node.source is not None and node.get_field("function"):
            names = filter(None, (node.get_field("class"), node.title))
            yield _Span(node.id, TEST, ".".join(names), node.source.line, node.source.end_line)


def _definitions(text: str, path: str) -> Iterator[_Span]:
    family = family_for(path)
    found = [] if family is None else definitions(text, tokens(text, family), family)
    outermost = [each for each in found if each.parent < 0]
    for each in outermost:
        yield _Span(f"code:{path}:{each.line}", CODE, each.qualname, each.line, each.end_line)
    if not outermost and text.strip():
        yield _Span(f"code:{path}:1", CODE, PurePosixPath(path).name, 1, text.count("\n") + 1)


def _unit(span: _Span, path: str, lines: list[str]) -> LinkUnit:
    first = span.line - 1
    while first > max(0, span.line - _LICENCE_LINES) and _COMMENT_LINE.match(lines[first - 1]):
        first -= 1
    body = "\n".join(lines[first : span.end_line])
    text = readable(_CITATION.sub("", body) if _CITES.search(body) else body, path)
    calls = frozenset(_CALL.findall(body))
    mentioned = _mentioned(body, path)
    return LinkUnit(span.id, span.kind, span.label, path, span.line, span.end_line, text, calls, mentioned)


def _mentioned(body: str, path: str) -> tuple[str, ...]:
    """The ids in comments. Data may look like an id as well, so only comments count."""
    family = family_for(path)
    if family is None or not _ID_LIKE.search(body):
        return ()
    mentions = (match[0] for comment in comments(body, family) for match in _ID_LIKE.finditer(comment.text))
    return tuple(dict.fromkeys(mentions))[:_MOST_MENTIONED]
