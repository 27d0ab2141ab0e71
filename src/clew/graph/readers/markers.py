"""References to requirements in code and tests."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import msgspec

from clew.formats.code.markers import (
    MARKERS_VERSION,
    MarkerRecords,
    carried_by_none,
    cited_by,
    read_markers,
    register_citations,
)
from clew.formats.code.markers import Citation as Marker
from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference
from clew.formats.elspais.settings import ElspaisSettings
from clew.graph.build.link import Citation, Contribution, Definition
from clew.graph.model import Node, NodeKind, Source
from clew.graph.readers.elspais import EDGE_KINDS, fingerprint
from clew.workspace.find import Selection


class MarkerFile(msgspec.Struct, frozen=True, array_like=True):
    """Contribution and diagnostics of a file, ready for the graph: a warm start reads thousands of these."""

    contribution: Contribution
    diagnostics: tuple[Diagnostic, ...]


class MarkerReader:
    """Reads code, or tests. Every test is a node, whether or not it cites anything; a place in code only if it does."""

    records_type: Any = MarkerFile

    def __init__(
        self,
        name: str,
        selection: Selection,
        grammar: IdGrammar,
        settings: ElspaisSettings,
        *,
        is_test: bool,
        register: bool = False,
        specs: bool = False,
        associate: str = "",
    ) -> None:
        self.name = name
        self.associate = associate
        """The other repository that is read; empty for the project itself."""
        self.selection = selection
        kinds = f"{'-register' if register else ''}{'-specs' if specs else ''}"
        self.version = f"{MARKERS_VERSION}{kinds}-{fingerprint(settings)}"
        self._grammar = grammar
        self._is_test = is_test
        self._register = register
        """True if the project has a register, whose ids are then read as well."""
        self._specs = specs
        """Likewise for specs, whose scenarios are cited as `spec/requirement#scenario`."""

    def markers(self, data: bytes, path: str) -> MarkerRecords:
        """Citations and tests in the file, as written."""
        return read_markers(
            data, path, self._grammar, is_test=self._is_test, register=self._register, specs=self._specs
        )

    def register_citations(self, data: bytes, path: str) -> tuple[tuple[ParsedReference, int], ...]:
        """Citations of a register in the file, each with its line."""
        return register_citations(data, path, self._grammar, is_test=self._is_test, specs=self._specs)

    def read(self, data: bytes, path: str) -> MarkerFile:
        records = self.markers(data, path)
        strays = _strays if self._is_test else _places
        definitions = (*_tests(records, path), *strays(carried_by_none(records), path))
        return MarkerFile(Contribution(definitions), records.diagnostics)

    def diagnose(self, records: MarkerFile) -> tuple[Diagnostic, ...]:
        return records.diagnostics

    def contribute(self, records: MarkerFile, path: str) -> Contribution:
        return records.contribution


def _tests(records: MarkerRecords, path: str) -> Iterator[Definition]:
    taken: set[str] = set()
    for test in records.tests:
        id = f"test:{path}::{'::'.join(test.names)}"
        while id in taken:  # the same name again, in another branch or overload
            id = f"{id}:{test.line}"
        taken.add(id)
        fields = {"function": test.names[-1], "class": ".".join(test.names[:-1]) or None, "file": path}
        node = Node(id, NodeKind.TEST, test.names[-1], fields, _lines(path, test.line, test.end_line))
        yield Definition(node, citations=tuple(_citation(marker, id, path) for marker in cited_by(test, records)))


def _strays(markers: tuple[Marker, ...], path: str) -> Iterator[Definition]:
    """Citations of a test file that no test carries are a test of their own, by their line."""
    for line, group in _by_line(markers).items():
        id = f"test:{path}:{line}"
        node = Node(id, NodeKind.TEST, PurePosixPath(path).name, {"file": path}, _lines(path, line, line))
        yield Definition(node, citations=tuple(_citation(marker, id, path) for marker in group))


def _places(markers: tuple[Marker, ...], path: str) -> Iterator[Definition]:
    for line, group in _by_line(markers).items():
        id = f"code:{path}:{line}"
        first = group[0]
        title = first.owner or PurePosixPath(path).name
        source = _lines(path, first.owner_line or line, first.owner_end_line or line)
        node = Node(id, NodeKind.CODE, title, {"owner": first.owner, "file": path, "line": line}, source)
        yield Definition(node, citations=tuple(_citation(marker, id, path) for marker in group))


def _by_line(markers: tuple[Marker, ...]) -> dict[int, list[Marker]]:
    lines: dict[int, list[Marker]] = {}
    for marker in markers:
        lines.setdefault(marker.line, []).append(marker)
    return lines


def _citation(marker: Marker, source: str, path: str) -> Citation:
    return Citation(
        EDGE_KINDS[marker.kind],
        source,
        marker.target,
        marker.labels,
        marker.written,
        path,
        marker.line,
        marker.malformed,
        marker.in_prose,
    )


def _lines(path: str, line: int, end_line: int) -> Source:
    return Source(path, line, end_line)
