"""The most specific requirements of a set, and searches within a part of the hierarchy."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.graph.graph import Graph
from clew.graph.model import Edge, EdgeKind, Node, NodeKind
from clew.project import Project
from clew.trace.find import scope
from clew.trace.find.minimize import minimize, superseded_by

Plant = Callable[..., Project]
Ask = Callable[..., dict[str, Any]]

KINDS = (EdgeKind.IMPLEMENTS, EdgeKind.REFINES)


@pytest.fixture
def project(plant: Plant) -> Project:
    return plant(
        {
            "p00001": [],
            "p00002": [],
            "o00001": ["p00001"],
            "o00002": ["refines p00001"],
            "d00001": ["o00001", "p00002"],
            "d00002": ["o00002-A"],
        },
        assertions={
            "o00002": ["Salt SHALL be weighed.", "Pepper SHALL be counted."],
            "d00002": ["Scales SHALL be true."],
        },
        titles={
            "p00001": "Salt of the sea",
            "d00002": "Weighing salt",
            "o00001": "Salt cellars",
            "d00001": "Pepper mills",
        },
    )


def ids(items: list[dict[str, Any]]) -> list[str]:
    return [item["id"] for item in items]


# Verifies: REQ-d00064-A
def test_the_most_specific_survive(ask: Ask, project: Project) -> None:
    found = ask(project, "minimize_requirement_set", req_ids=["REQ-p00001", "REQ-o00001", "REQ-d00001", "REQ-p00002"])
    assert ids(found["minimal_set"]) == ["REQ-d00001"]
    assert {each["id"]: each["superseded_by"] for each in found["pruned"]} == {
        "REQ-p00001": ["REQ-o00001", "REQ-d00001"],
        "REQ-o00001": ["REQ-d00001"],
        "REQ-p00002": ["REQ-d00001"],
    }
    assert found["stats"] == {"input_count": 4, "minimal_count": 1, "pruned_count": 3}


# Verifies: REQ-d00064-A
def test_only_edges_of_the_named_kinds_count(ask: Ask, project: Project) -> None:
    members = ["REQ-p00001", "REQ-o00002"]
    assert ids(ask(project, "minimize_requirement_set", req_ids=members)["minimal_set"]) == ["REQ-o00002"]
    implements = ask(project, "minimize_requirement_set", req_ids=members, edge_kinds="IMPLEMENTS")
    assert ids(implements["minimal_set"]) == ["REQ-p00001", "REQ-o00002"]
    assert implements["pruned"] == []


# Verifies: REQ-d00064-B
def test_unknown_ids_are_listed_and_other_spellings_understood(ask: Ask, project: Project) -> None:
    found = ask(
        project, "minimize_requirement_set", req_ids=["p1", "REQ-o00002-A", "o2", "REQ-d09999", "nonsense", "p1"]
    )
    assert ids(found["minimal_set"]) == ["REQ-o00002"]
    assert ids(found["pruned"]) == ["REQ-p00001"]
    assert found["not_found"] == ["REQ-d09999", "nonsense"]
    assert found["stats"]["input_count"] == 6


# Verifies: REQ-o00024-C, REQ-d00064-A
def test_on_a_circle_nobody_is_more_specific(ask: Ask, plant: Plant) -> None:
    project = plant(
        {"o00001": ["o00003", "o00001"], "o00002": ["o00001"], "o00003": ["o00002"], "d00001": ["o00003"], "p00001": []}
    )
    circle = ["REQ-o00001", "REQ-o00002", "REQ-o00003"]
    assert ids(ask(project, "minimize_requirement_set", req_ids=circle)["minimal_set"]) == circle
    below = ask(project, "minimize_requirement_set", req_ids=[*circle, "REQ-d00001"])
    assert ids(below["minimal_set"]) == ["REQ-d00001"]
    assert all(each["superseded_by"] == ["REQ-d00001"] for each in below["pruned"])


def _graph(edges: list[tuple[int, int]], count: int) -> Graph:
    graph = Graph()
    graph.memory.put_nodes([Node(f"R{number}", NodeKind.REQUIREMENT, "", {}) for number in range(count)])
    graph.memory.put_edges([Edge(EdgeKind.IMPLEMENTS, f"R{child}", f"R{parent}") for child, parent in edges])
    graph.refreshed("now", repr(edges))
    return graph


# Verifies: REQ-d00064-A, REQ-o00024-C
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25), st.sets(st.integers(0, 9), min_size=1))
@settings(max_examples=examples(200))
def test_a_member_goes_exactly_when_another_stands_below_it_and_not_above(
    edges: list[tuple[int, int]], chosen: set[int]
) -> None:
    graph = _graph(edges, 10)
    above = {f"R{number}": set(scope.above(graph, [f"R{number}"], KINDS)) for number in range(10)}
    members = [f"R{number}" for number in sorted(chosen)]
    nodes = [node for id in members if (node := graph.get_node(id)) is not None]
    divided = minimize(graph, nodes, KINDS)
    below = {
        id: {other for other in members if other != id and id in above[other] and other not in above[id]}
        for id in members
    }
    assert [node.id for node in divided.minimal] == [id for id in members if not below[id]]
    for node in divided.pruned:
        assert set(superseded_by(graph, node, members, KINDS)) == below[node.id]
    on_circles = {id for id in above if id in above[id]}
    assert on_circles <= scope.hierarchy(graph).circular


# Verifies: REQ-d00064-C
def test_a_search_stays_within_its_scope(ask: Ask, project: Project) -> None:
    below = ask(project, "scoped_search", query="salt", scope_id="REQ-p00001")
    assert set(ids(below["results"])) == {"REQ-p00001", "REQ-o00001", "REQ-o00002", "REQ-d00002"}
    assert (below["scope_id"], below["direction"]) == ("REQ-p00001", "descendants")
    assert ids(ask(project, "scoped_search", query="salt", scope_id="o1")["results"]) == ["REQ-o00001"]
    above = ask(project, "scoped_search", query="salt", scope_id="REQ-d00002", direction="ancestors")
    assert set(ids(above["results"])) == {"REQ-d00002", "REQ-o00002", "REQ-p00001"}
    assert ask(project, "scoped_search", query="salt", scope_id="p2")["results"] == []
    pattern = ask(project, "scoped_search", query="^Salt \\w+$", regex=True, field="title", scope_id="p1")
    assert ids(pattern["results"]) == ["REQ-o00001"]


# Verifies: REQ-d00064-C
def test_an_assertion_is_a_scope_too(ask: Ask, project: Project) -> None:
    below = ask(project, "scoped_search", query="REQ", scope_id="REQ-o00002-A")
    assert ids(below["results"]) == ["REQ-d00002"]
    assert ask(project, "scoped_search", query="REQ", scope_id="REQ-o00002-B")["results"] == []
    above = ask(project, "scoped_search", query="REQ", scope_id="REQ-o00002-B", direction="ancestors")
    assert sorted(ids(above["results"])) == ["REQ-o00002", "REQ-p00001"]


# Verifies: REQ-d00064-D
def test_single_assertions_are_matched_and_named_on_request(ask: Ask, project: Project) -> None:
    plain = ask(project, "scoped_search", query="weighed", scope_id="p1", field="title")
    assert plain["results"] == []
    found = ask(project, "scoped_search", query="weighed", scope_id="p1", field="title", include_assertions=True)
    (only,) = found["results"]
    assert only["id"] == "REQ-o00002"
    assert only["matched_assertions"] == [{"id": "REQ-o00002-A", "label": "A", "text": "Salt SHALL be weighed."}]
    words = ask(project, "scoped_search", query="salt -counted", scope_id="o2", include_assertions=True)
    assert [each.get("matched_assertions") for each in words["results"] if each["id"] == "REQ-o00002"] == [
        [{"id": "REQ-o00002-A", "label": "A", "text": "Salt SHALL be weighed."}]
    ]


# Verifies: REQ-d00064-E
def test_discovery_keeps_the_most_specific_matches(ask: Ask, project: Project) -> None:
    found = ask(project, "discover_requirements", query="salt", scope_id="REQ-p00001", include_assertions=True)
    assert set(ids(found["results"])) == {"REQ-o00001", "REQ-d00002"}
    assert {each["id"]: each["superseded_by"] for each in found["pruned"]} == {
        "REQ-p00001": ["REQ-o00001", "REQ-o00002", "REQ-d00002"],
        "REQ-o00002": ["REQ-d00002"],
    }
    assert found["stats"] == {"candidate_count": 4, "minimal_count": 2, "pruned_count": 2}
    untouched = ask(project, "discover_requirements", query="mills OR cellars", scope_id="p1")
    scoped = ask(project, "scoped_search", query="mills OR cellars", scope_id="p1")
    assert set(ids(untouched["results"])) == {"REQ-d00001"}
    assert ids(scoped["results"]) != []


# Verifies: REQ-d00064-E, REQ-o00024-C
def test_discovery_ends_on_a_circle(ask: Ask, plant: Plant) -> None:
    project = plant({"o00001": ["o00002"], "o00002": ["o00001"], "d00001": ["o00001"]})
    found = ask(project, "discover_requirements", query="Title", scope_id="o1")
    assert ids(found["results"]) == ["REQ-d00001"]
    assert sorted(ids(found["pruned"])) == ["REQ-o00001", "REQ-o00002"]
