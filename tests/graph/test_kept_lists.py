"""Lists over many nodes that follow what changes touch."""

from collections.abc import Mapping

import pytest

from clew.graph.graph import Graph
from clew.graph.model import Node, NodeKind


def node(id: str, title: str, **fields: str) -> Node:
    return Node(id, NodeKind.REQUIREMENT, title, fields)


class Titles:
    """Lists the titles that are not empty, and notes what it was asked for."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.made: list[str] = []

    def now(self) -> list[str]:
        return self._graph.kept.list("titles", self._rows, self._row, self._whole)

    def _rows(self, graph: Graph) -> dict[str, str]:
        self.made.append("rows")
        return {each.id: each.title for each in graph.nodes_by_kind(NodeKind.REQUIREMENT) if each.title}

    def _row(self, graph: Graph, id: str) -> str | None:
        self.made.append(id)
        found = graph.get_node(id)
        return found.title or None if found is not None else None

    def _whole(self, rows: Mapping[str, str]) -> list[str]:
        self.made.append("whole")
        return [rows[id] for id in sorted(rows)]


@pytest.fixture
def graph() -> Graph:
    graph = Graph()
    graph.memory.put_nodes([node("b", "Two"), node("a", "One"), node("c", "")])
    return graph


# Verifies: REQ-d00049-B+C
def test_only_what_was_touched_is_listed_anew(graph: Graph) -> None:
    titles = Titles(graph)
    assert titles.now() == titles.now() == ["One", "Two"]
    assert titles.made == ["rows", "whole"]
    graph.memory.put_nodes([node("b", "Zwei"), node("c", "Three"), node("d", "Four")])
    graph.memory.remove_node("a")
    graph.touched(["a", "b", "c", "d", "unknown"])
    titles.made.clear()
    assert titles.now() == ["Zwei", "Three", "Four"]
    assert (sorted(titles.made[:-1]), titles.made[-1]) == (["a", "b", "c", "d", "unknown"], "whole")


# Verifies: REQ-d00049-C
def test_a_change_that_does_not_concern_a_list_leaves_it_as_it_is(graph: Graph) -> None:
    titles = Titles(graph)
    before = titles.now()
    graph.memory.put_nodes([node("a", "One", status="Draft"), node("c", "", status="Draft")])
    graph.touched(["a", "c"])
    assert titles.now() is before
    assert titles.made.count("whole") == 1


# Verifies: REQ-d00049-B
def test_a_graph_that_forgets_everything_is_listed_from_the_beginning(graph: Graph) -> None:
    titles = Titles(graph)
    assert titles.now() == ["One", "Two"]
    graph.clear()
    assert titles.now() == []
    assert titles.made == ["rows", "whole", "rows", "whole"]
