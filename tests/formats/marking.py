"""References in code and tests, read in one line."""

import textwrap

from clew.formats.code.markers import Citation, MarkerRecords, cited_by, read_markers
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.graph.build.link import Linker
from clew.graph.graph import Graph
from clew.graph.readers.markers import MarkerReader
from clew.workspace.find import Selection

GRAMMAR = IdGrammar(ElspaisSettings())


def code(source: str, path: str = "src/lamp.py") -> MarkerRecords:
    return read_markers(textwrap.dedent(source).encode(), path, GRAMMAR, is_test=False)


def suite(source: str, path: str = "tests/test_lamp.py") -> MarkerRecords:
    return read_markers(textwrap.dedent(source).encode(), path, GRAMMAR, is_test=True)


def cited(citations: tuple[Citation, ...]) -> list[tuple[str, str, str]]:
    return [(each.kind, each.target, "+".join(each.labels)) for each in citations]


def owners(records: MarkerRecords) -> list[tuple[int, str | None]]:
    return [(each.line, each.owner) for each in records.citations]


def by_test(records: MarkerRecords) -> dict[str, list[tuple[str, str, str]]]:
    return {test.qualname: cited(cited_by(test, records)) for test in records.tests}


def linked(source: str, path: str = "tests/test_lamp.py") -> tuple[Graph, Linker]:
    """The graph of one test file."""
    reader = MarkerReader("tests", Selection(("tests",), ("*",)), GRAMMAR, ElspaisSettings(), is_test=True)
    graph = Graph()
    linker = Linker(graph)
    linker.update({(path, "tests"): reader.contribute(reader.read(textwrap.dedent(source).encode(), path), path)})
    return graph, linker


def broken(graph: Graph) -> list[tuple[str, str]]:
    return sorted((each.source_id, each.target_id) for each in graph.memory.broken)
