"""References to requirements in code and tests."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from clew.files import Selection
from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.ids import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.formats.markers import MARKERS_VERSION, MarkerRecords, carried_by_none, citations_of, read_markers
from clew.formats.markers import Citation as Marker
from clew.graph.link import Citation, Contribution, Definition
from clew.graph.model import EdgeKind, Node, NodeKind, Source
from clew.graph.readers.elspais import fingerprint


class MarkerReader:
    """Reads code, or tests. Every test is a node, whether or not it cites anything; a place in code only if it does."""

    records_type: Any = MarkerRecords

    def __init__(
        self, name: str, selection: Selection, grammar: IdGrammar, settings: ElspaisSettings, *, is_test: bool
    ) -> None:
        self.name = name
        self.selection = selection
        self.version = f"{MARKERS_VERSION}-{fingerprint(settings)}"
        self._grammar = grammar
        self._is_test = is_test

    def read(self, data: bytes, path: str) -> MarkerRecords:
        return read_markers(data, path, self._grammar, is_test=self._is_test)

    def diagnose(self, records: MarkerRecords) -> tuple[Diagnostic, ...]:
        return records.diagnostics

    def contribute(self, records: MarkerRecords, path: str) -> Contribution:
        found = _tests(records, path) if self._is_test else _places(records.citations, path)
        return Contribution(tuple(found))


def _tests(records: MarkerRecords, path: str) -> Iterator[Definition]:
    taken: set[str] = set()
    for test, markers in citations_of(records).items():
        id = f"test:{path}::{'::'.join(test.names)}"
        while id in taken:  # the same name again, in another branch or overload
            id = f"{id}:{test.line}"
        taken.add(id)
        fields = {"function": test.names[-1], "class": ".".join(test.names[:-1]) or None, "file": path}
        node = Node(id, NodeKind.TEST, test.names[-1], fields, _lines(path, test.line, test.end_line))
        yield Definition(node, citations=tuple(_citation(marker, id, path) for marker in markers))
    yield from _strays(carried_by_none(records), path)


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
        EdgeKind(marker.kind), source, marker.target, marker.labels, marker.written, path, marker.line, marker.malformed
    )


def _lines(path: str, line: int, end_line: int) -> Source:
    return Source(path, line, end_line)
