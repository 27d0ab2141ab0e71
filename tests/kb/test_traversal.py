"""Walks and paths through the whole graph, held against the edges that its regions give one by one."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.errors import Cancelled, InvalidArgument
from clew.graph.model import Edge, EdgeKind, NodeKind
from clew.graph.walk import Step
from clew.kb.boundary import EVERYTHING, Boundary
from clew.kb.walk import adjacency, traversal
from clew.kb.walk.deliveries import MOST_REMEMBERED, MOST_SESSIONS, TTL_SECONDS, Deliveries
from clew.kb.walk.relationships import NAMES, RELATIONSHIPS, RelationKind, RelationStep, ways
from clew.kb.walk.results import NamedEdge
from clew.kb.walk.traversal import GraphSnapshot, expand, shortest_paths
from clew.project import Project

REQUIREMENT = """## REQ-d00001: Tables

**Level**: DEV | **Status**: Active

Text.

## Assertions

A. It SHALL.

*End* *Tables*
"""
SPEC = """# Tide

## Purpose
About the tide and its many turns over a whole year.

## Requirements

### Requirement: Turning
It SHALL turn.

#### Scenario: High
- **WHEN** x
- **THEN** y
"""
GUIDE = """# Guide

See [the rest](reference.md#options), [itself](#guide) and [notes](notes.rst).

## Reading

REQ-d00001-A is done by `read_table()` in src/app/tables.py and openspec/specs/tide/spec.md. Set `APP_HOME`.

## Steps

1. Run `app --fast`.
2. Wait.
"""
REFERENCE = """# Reference

Up: [guide](guide.md).

## Options

`--fast` and `APP_HOME`, see guide.md and [reading](guide.md#reading).

### Deep

Nothing. [Down](#deep).
"""
NOTES = "Notes\n=====\n\nSee :ref:`far`. Set ``--fast``, `APP_HOME`.\n\n.. _far:\n\nFar\n---\n\nHere is APP_HOME.\n"
FILES = {
    "spec/a.md": REQUIREMENT,
    "src/app/tables.py": "# Implements: REQ-d00001-A\ndef read_table(path):\n    return path\n",
    "tests/test_a.py": "# Verifies: REQ-d00001-A\ndef test_a():\n    pass\n",
    "openspec/specs/tide/spec.md": SPEC,
    "docs/guide.md": GUIDE,
    "docs/reference.md": REFERENCE,
    "docs/notes.rst": NOTES,
}
KINDS = {
    RelationKind.NEXT: EdgeKind.NEXT,
    RelationKind.MENTIONS: EdgeKind.MENTIONS,
    RelationKind.REFERENCES: EdgeKind.REFERENCES,
}


@contextmanager
def on(
    project: Project, boundary: Boundary = EVERYTHING, check: Callable[[], None] = lambda: None
) -> Iterator[GraphSnapshot]:
    with project.context.lock.reading(), project.kb.snapshot(boundary, check) as snapshot:
        yield snapshot


def opened(make: Callable[..., Project], files: dict[str, str]) -> Project:
    project = make(files)
    project.ensure_graph()
    project.kb.index()
    return project


def nodes_of(project: Project) -> list[str]:
    region, memory = project.kb.region, project.graph.memory
    stored = [
        node.id
        for kind in (NodeKind.DOCUMENT, NodeKind.SECTION, NodeKind.ENTITY)
        for node in region.nodes_by_kind(kind)
    ]
    own = [node.id for kind in NodeKind for node in memory.nodes_by_kind(kind)]
    files = ["file:src/app/tables.py", "file:openspec/specs/tide/spec.md"]
    return [*stored, *own, *(id for id in files if region.get_node(id) is not None)]


def edges_of(project: Project, id: str) -> set[Edge]:
    """Every edge at a node, as the regions give it."""
    region, memory = project.kb.region, project.graph.memory
    found = (
        *(*region.iter_outgoing_edges(id), *region.iter_incoming_edges(id)),
        *(*memory.iter_outgoing_edges(id), *memory.iter_incoming_edges(id)),
    )
    return {Edge(edge.kind, edge.source, edge.target) for edge in found}


def as_edges(steps: list[Step[NamedEdge]]) -> set[Edge]:
    """The steps from a node as edges of the graph; those that are only names for others are left out."""
    relationships = {each.name: each for each in RELATIONSHIPS}
    found = set()
    for named in (step.edge for step in steps):
        relationship = relationships[named.type]
        relation = relationship.relation
        assert relation is not None
        if relation in (RelationKind.DOCUMENT, RelationKind.SIBLING):
            continue
        kind = (
            EdgeKind.STRUCTURES
            if relation in (RelationKind.ABOVE, RelationKind.STEP)
            else KINDS.get(relation) or EdgeKind(relation.value)
        )
        ends = (named.src, named.dst) if relationship.along else (named.dst, named.src)
        found.add(Edge(kind, *ends))
    return found


# Verifies: REQ-d00181-A
def test_a_walk_knows_the_same_edges_as_the_regions(make: Callable[..., Project]) -> None:
    project = opened(make, FILES)
    everything = nodes_of(project)
    assert len(everything) >= 30
    with on(project) as snapshot:
        found = snapshot.adjacency()
        found.load(everything, ways(None), 1_000)
        for id in everything:
            # A section's edge to its document is called otherwise, and who relates to a document is asked apart.
            expected = {
                edge
                for edge in edges_of(project, id)
                if not (edge.kind is EdgeKind.STRUCTURES and edge.target.startswith("doc:") and "#" not in edge.target)
                and not (edge.kind is EdgeKind.RELATED and edge.target == id)
            }
            assert as_edges(found.of(id)) == expected, id


# Verifies: REQ-d00181-A
def test_who_relates_to_a_document_is_found_by_who_asks_for_just_that(make: Callable[..., Project]) -> None:
    project = opened(make, FILES)
    for id in ("doc:docs/guide.md", "doc:docs/reference.md", "doc:docs/notes.rst"):
        expected = {edge.source for edge in project.kb.region.iter_incoming_edges(id) if edge.kind is EdgeKind.RELATED}
        with on(project) as snapshot:
            found = expand(snapshot, [id], ["RELATED_TO"], "in")
        assert {each.id for each in found.reached} == expected


# Verifies: REQ-d00181-A
def test_an_id_that_was_given_up_leads_on_to_its_successor(make: Callable[..., Project]) -> None:
    project = opened(make, {"docs/a.md": "# A\n\n## Old name\n\nSome words about the tide and `TIDE_HOME`.\n"})
    (project.config.root / "docs/a.md").write_text("# A\n\n## New name\n\nSome words about the tide and `TIDE_HOME`.\n")
    project.kb.index()
    with on(project) as snapshot:
        found = expand(snapshot, ["doc:docs/a.md#old-name"], ["MENTIONS"])
    assert [each.id for each in found.reached] == ["entity:environment_variable:TIDE_HOME"]
    assert found.missing == ()


def distances(project: Project, start: str) -> dict[str, int]:
    """How far everything is from a node, by the edges of a walk taken one by one."""
    with on(project) as snapshot:
        near = snapshot.adjacency()
        far = {start: 0}
        waiting = deque([start])
        while waiting:
            id = waiting.popleft()
            for step in near.neighbours([id], None, "both", 1_000):
                if step.id not in far:
                    far[step.id] = far[id] + 1
                    waiting.append(step.id)
    return far


WORDS = ("alpha", "beta", "gamma", "delta", "kappa")
PAGES = st.lists(
    st.lists(
        st.one_of(
            st.sampled_from(WORDS).map(lambda word: f"`--{word}`"),
            st.integers(0, 5).map(lambda page: f"[page](p{page}.md)"),
            st.just("REQ-d00001"),
        ),
        max_size=4,
    ),
    min_size=2,
    max_size=6,
)


# Verifies: REQ-d00181-A+B
@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(pages=PAGES, number=st.integers(0, 10**6))
def test_walks_and_paths_are_as_long_as_the_graph_says(
    make: Callable[..., Project], pages: list[list[str]], number: int
) -> None:
    files = {
        f"docs/p{place}.md": f"# Page {place}\n\n{' '.join(said)}.\n\n## Part\n\nx\n"
        for place, said in enumerate(pages)
    }
    project = opened(make, {"spec/a.md": REQUIREMENT, **files, **{f"docs/p{n}.md": "" for n in range(len(pages), 6)}})
    start = f"doc:docs/p{number % len(pages)}.md#page-{number % len(pages)}"
    far = distances(project, start)
    with on(project) as snapshot:
        for hops in (1, 2, 3):
            found = expand(snapshot, [start], hops=hops, limit=100)
            assert {each.id: each.distance for each in found.reached} == {
                id: distance for id, distance in far.items() if 0 < distance <= hops
            }
            assert all(len(each.path) == each.distance for each in found.reached)
        targets = sorted(far)[:20]
        paths = shortest_paths(snapshot, [start], targets, hops=5, limit=50).paths
    assert {path.nodes[-1]: path.length for path in paths} == {id: far[id] for id in targets if 0 < far[id] <= 5}
    assert [path.length for path in paths] == sorted(path.length for path in paths)


# Verifies: REQ-d00181-B
def test_a_path_from_a_document_over_a_requirement_to_a_test(make: Callable[..., Project]) -> None:
    project = opened(make, FILES)
    (test,) = project.graph.nodes_by_kind(NodeKind.TEST)
    with on(project) as snapshot:
        (path,) = shortest_paths(snapshot, ["doc:docs/guide.md#reading"], [test.id]).paths
    assert path.nodes == ("doc:docs/guide.md#reading", "REQ-d00001", test.id)
    assert path.types == ("MENTIONS", "VERIFIES")


# Verifies: REQ-d00181-C
def test_a_walk_ends_where_it_has_looked_at_enough_and_says_so(
    make: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened(make, FILES)
    monkeypatch.setattr(adjacency, "MOST_LOOKED_UP", 1)
    with on(project) as snapshot:
        found = expand(snapshot, ["doc:docs/guide.md"], hops=3, limit=100)
        assert found.is_cut
        assert found.reached
        ends = shortest_paths(snapshot, ["doc:docs/guide.md"], ["REQ-d00001-A"], hops=5)
        assert ends.is_cut
    monkeypatch.undo()
    monkeypatch.setattr(traversal, "MOST_REACHED", 5)
    with on(project) as snapshot:
        assert expand(snapshot, ["doc:docs/guide.md"], hops=3, limit=100).is_cut


# Verifies: REQ-d00181-C
def test_a_walk_can_be_called_off(make: Callable[..., Project]) -> None:
    project = opened(make, FILES)

    def called_off() -> None:
        raise Cancelled("The call was cancelled.")

    with pytest.raises(Cancelled), on(project, check=called_off) as snapshot:
        expand(snapshot, ["doc:docs/guide.md"])


# Verifies: REQ-d00182-C
def test_the_names_of_relationships_are_those_of_wekadocs_and_of_clew() -> None:
    assert len(NAMES) == len(set(NAMES))
    theirs = [each.name for each in RELATIONSHIPS if each.relation is None or each.name != each.relation.name]
    own = [each.name for each in RELATIONSHIPS if each.relation is not None and each.relation.value in set(EdgeKind)]
    assert len(theirs) + 2 == 23
    assert {"IMPLEMENTS", "VERIFIES", "REFINES", "DEPENDS_ON"} <= set(own)
    assert (
        ways(["CHILD_OF"], "out").keys() == {RelationStep(RelationKind.ABOVE, True)} == ways(["PARENT_OF"], "in").keys()
    )
    with pytest.raises(InvalidArgument, match="KNOWS"):
        ways(["KNOWS"])


# Verifies: REQ-d00180-B
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM sections WHERE id >= ?",
        "SELECT count(*) FROM sections WHERE id >= ?1 AND id >= ?1",
        "WITH some AS (SELECT id FROM sections WHERE id >= ?1) SELECT count(*) FROM some",
    ],
)
def test_the_boundary_holds_however_a_question_counts_its_parameters(make: Callable[..., Project], sql: str) -> None:
    files = {"docs/a.md": "---\ndoc_tag: one\n---\n# A\n", "docs/b.md": "---\ndoc_tag: two\n---\n# B\n"}
    project = opened(make, files)
    for boundary, count in (
        (EVERYTHING, 2),
        (Boundary(tags=("one",)), 1),
        (Boundary(tags=("one", "two"), environment="dev"), 2),
        (Boundary(tags=("one", "' OR 1=1 --"), environment="prod"), 0),
        (Boundary(tags=()), 0),
    ):
        with project.kb.library.reading(boundary) as reading:
            assert reading.rows(sql, "") == [(count,)]


# Verifies: REQ-d00183-B
def test_what_was_sent_is_forgotten_after_a_while_and_never_grows_without_end() -> None:
    now = [0.0]
    sent = Deliveries(monotonic=lambda: now[0])
    sent.note((None, "a"), ["x"])
    now[0] = TTL_SECONDS - 1
    assert sent.known((None, "a"), ["x", "y"]) == {"x"}
    now[0] += TTL_SECONDS - 1
    assert sent.known((None, "a"), ["x"]) == {"x"}
    now[0] += TTL_SECONDS
    assert sent.known((None, "a"), ["x"]) == frozenset()
    sent.note((None, "b"), range(MOST_REMEMBERED + 10))
    assert len(sent.known((None, "b"), range(MOST_REMEMBERED + 10))) == MOST_REMEMBERED
    for number in range(MOST_SESSIONS):
        sent.note((None, str(number)), ["x"])
    assert sent.known((None, "b"), [MOST_REMEMBERED]) == frozenset()
