"""The walk from documents, held against a plain breadth-first search that asks for one node at a time."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties import examples

from clew.graph.model import NodeKind
from clew.graph.walk import Direction, Neighbours, Walk
from clew.project import Project

DIRECTIONS = st.sampled_from(("out", "in", "both"))
DEPTHS = st.one_of(st.none(), st.integers(1, 4))

Step = tuple[str, str]


PAGES = st.lists(
    st.lists(
        st.one_of(
            st.sampled_from(("`--alpha`", "`--beta`", "`GAMMA_HOME`", "REQ-d00001")),
            st.integers(0, 4).map(lambda page: f"[page](p{page}.md)"),
        ),
        max_size=3,
    ),
    min_size=2,
    max_size=5,
)
REQUIREMENT = "## REQ-d00001: Tables\n\n**Level**: DEV | **Status**: Active\n\nText.\n\n*End* *Tables*\n"
NAMES: Sequence[tuple[str, ...] | None] = (None, ("MENTIONS",), ("REFERENCES", "CHILD_OF"), ("NEXT_CHUNK",))


def distances(
    steps: Iterable[Step], starts: Iterable[str], depth: int | None = None, without: Iterable[str] = ()
) -> dict[str, int]:
    """How far everything is, one node after the other."""
    found = dict.fromkeys(starts, 0)
    steps, without = list(steps), set(without)
    waiting = deque(found)
    while waiting:
        id = waiting.popleft()
        for own, other in steps:
            if own == id and other not in found and other not in without and (depth is None or found[id] < depth):
                found[other] = found[id] + 1
                waiting.append(other)
    return found


# Verifies: REQ-d00181-A+C
@settings(max_examples=examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(PAGES, st.sampled_from(NAMES), DIRECTIONS, DEPTHS, st.data())
def test_a_walk_from_documents_reaches_what_a_plain_search_reaches(
    make: Callable[..., Project],
    pages: list[list[str]],
    names: tuple[str, ...] | None,
    direction: Direction,
    depth: int | None,
    data: st.DataObject,
) -> None:
    texts = {
        f"docs/p{number}.md": f"# Page {number}\n\n{' '.join(said)}.\n\n## Part\n\nx\n"
        for number, said in enumerate(pages)
    }
    project = make({"spec/a.md": REQUIREMENT, **{f"docs/p{number}.md": "" for number in range(5)}, **texts})
    project.ensure_graph()
    project.kb.index()
    nodes = sorted(
        node.id for kind in (NodeKind.SECTION, NodeKind.ENTITY) for node in project.graph.nodes_by_kind(kind)
    )
    starts = data.draw(st.sets(st.sampled_from(nodes), min_size=1, max_size=3))
    without = data.draw(st.sets(st.sampled_from(nodes), max_size=3))
    with project.context.lock.reading(), project.kb.snapshot(project.kb.boundary()) as snapshot:
        one_by_one = _steps_one_by_one(snapshot.adjacency(), starts, names, direction)
        expected = distances(one_by_one, starts, depth, without)
        walk = Walk(snapshot.adjacency(), starts, names, direction, scope=lambda id: id not in without)
        found = {step.id: walk.depth for layer in walk.layers(depth) for step in layer}
    assert found == {id: distance for id, distance in expected.items() if distance}


def _steps_one_by_one(
    region: Neighbours[str, object], starts: Iterable[str], names: tuple[str, ...] | None, direction: Direction
) -> list[Step]:
    """All steps that lead anywhere from the starts, asked for one node at a time."""
    found: dict[str, list[Step]] = {}
    waiting = list(starts)
    while waiting:
        id = waiting.pop()
        if id not in found:
            found[id] = [(step.own, step.id) for step in region.neighbours([id], names, direction, None)]
            waiting += [other for _, other in found[id]]
    return [step for steps in found.values() for step in steps]
