"""Sums over many nodes that follow what changes touch."""

from clew.graph.graph import Graph
from clew.graph.kept import SumRow
from clew.graph.model import Node, NodeKind


def node(id: str, level: str, size: int) -> Node:
    return Node(id, NodeKind.REQUIREMENT, "", {"level": level, "size": size})


def row(graph: Graph, id: str) -> SumRow | None:
    found = graph.get_node(id)
    return (found.get_field("level"), (1, found.get_field("size"))) if found is not None else None


# Verifies: REQ-d00049-C
def test_only_what_was_touched_is_counted_again() -> None:
    graph = Graph()
    graph.memory.put_nodes([node("a", "prd", 1), node("b", "dev", 2), node("c", "dev", 3)])
    counted: list[str] = []

    def rows(graph: Graph) -> dict[str, SumRow]:
        counted.append("all")
        return {each.id: found for each in graph.nodes_by_kind(NodeKind.REQUIREMENT) if (found := row(graph, each.id))}

    def one(graph: Graph, id: str) -> SumRow | None:
        counted.append(id)
        return row(graph, id)

    assert graph.kept.sum("sizes", rows, one) == {"dev": (2, 5), "prd": (1, 1)}
    graph.memory.put_nodes([node("b", "prd", 10)])
    graph.memory.remove_node("c")
    graph.touched(["b", "c", "unknown"])
    assert graph.kept.sum("sizes", rows, one) == {"prd": (2, 11)}
    assert graph.kept.sum("sizes", rows, one) == {"prd": (2, 11)}
    assert (counted[0], sorted(counted[1:])) == ("all", ["b", "c", "unknown"])


# Verifies: REQ-d00049-B
def test_a_graph_that_forgets_everything_is_counted_from_the_beginning() -> None:
    graph = Graph()
    graph.memory.put_nodes([node("a", "dev", 1)])

    def rows(graph: Graph) -> dict[str, SumRow]:
        return {each.id: found for each in graph.nodes_by_kind(NodeKind.REQUIREMENT) if (found := row(graph, each.id))}

    assert graph.kept.sum("sizes", rows, row) == {"dev": (1, 1)}
    graph.clear()
    graph.memory.put_nodes([node("b", "prd", 2)])
    assert graph.kept.sum("sizes", rows, row) == {"prd": (1, 2)}
