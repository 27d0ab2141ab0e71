"""Toolset memory: walking from memory to memory, and reading one."""

from typing import Annotated, Literal

from msgspec import Meta

from clew.memory.arguments import NodeId
from clew.memory.cognition.infer import note_walks
from clew.memory.model import EdgeType
from clew.memory.navigation import navigate
from clew.memory.operations.operation import MemoryOperation
from clew.memory.recall.hydrate import Hydrated, hydrate
from clew.memory.storage.changes import spelled_time
from clew.operation.call import Call


class GetNeighborhood(
    MemoryOperation,
    tool="get_neighborhood",
    title="What is linked to a memory",
    trim=("neighbors", "cited"),
):
    """The memories that are linked to one, up to three steps away, with type, weight, confidence and direction of each
    link, and what it cites in the project. Use it to see why something was decided. find_causal_path leads from one
    memory to another."""

    node_id: NodeId
    depth: Annotated[int, Meta(ge=1, le=3, description="Steps")] = 1
    edge_types: Annotated[tuple[EdgeType, ...] | None, Meta(description="Only such links")] = None
    min_weight: Annotated[float, Meta(ge=0, le=1, description="Weight at least")] = 0.3

    def run(self, call: Call) -> navigate.Neighborhood:
        view = call.project.memory.view(call)
        found = navigate.neighborhood(view.library, self.node_id, self.depth, self.edge_types, self.min_weight)
        note_walks(view, "get_neighborhood", navigate.paths_of(found))
        return found


class FindCausalPath(
    MemoryOperation,
    tool="find_causal_path",
    title="How one memory leads to another",
):
    """The chain of causes from one memory to another, hop by hop; an empty path where no cause leads there.
    cycle_detected tells that the links lead in a circle somewhere along it. path_type any follows every link but the
    order in which a session stored them."""

    source_id: NodeId
    target_id: NodeId
    max_hops: Annotated[int, Meta(ge=1, le=10, description="Hops at most")] = 5
    direction: Annotated[Literal["forward", "backward", "bidirectional"], Meta(description="Along causes, or back")] = (
        "forward"
    )
    path_type: Annotated[navigate.PathType, Meta(description="Which links are followed")] = "causal"

    def run(self, call: Call) -> navigate.CausalPath:
        view = call.project.memory.view(call)
        found = navigate.causal_path(
            view.library, self.source_id, self.target_id, self.max_hops, self.direction, call.check, self.path_type
        )
        note_walks(view, "find_causal_path", [tuple(hop.node_id for hop in found.path)])
        return found


class EntailmentQuery(
    MemoryOperation,
    tool="entailment_query",
    title="What is more general or more special",
    trim=("descendants", "ancestors"),
):
    """The memories that a memory is part of (ancestors) and those that are part of it (descendants): by links of type
    Hierarchical, and among similar ones by whose terms hold the other's. `method` says how it was found. No hyperbolic
    embedding is trained; each result says whether a link or terms gave it."""

    node_id: NodeId
    direction: Annotated[Literal["ancestors", "descendants", "both"], Meta(description="Which")] = "both"
    embedding_space: Annotated[Literal["E1", "E5", "E7"], Meta(description="In which space similar ones are found")] = (
        "E1"
    )

    def run(self, call: Call) -> navigate.Entailment:
        view = call.project.memory.view(call)
        return navigate.entailment(view.library, self.node_id, self.direction, view.near)


class GetRecentContext(
    MemoryOperation,
    tool="get_recent_context",
    outlined=True,
    title="Memories used last",
    default=True,
    trim=("memories",),
    example={"limit": 5},
):
    """The memories that were stored or recalled last, the latest first, for the start of a session. For a subject use
    search_graph."""

    limit: Annotated[int, Meta(ge=1, le=100, description="Memories at most")] = 20
    since: Annotated[str | None, Meta(description="ISO 8601")] = None
    session_only: Annotated[bool, Meta(description="Only of this session")] = False

    def run(self, call: Call) -> navigate.Recent:
        view = call.project.memory.view(call)
        session = view.viewer.session if self.session_only else None
        return navigate.recent(view.library, self.limit, spelled_time(self.since), session)


class HydrateCitation(
    MemoryOperation,
    tool="hydrate_citation",
    title="The whole text behind a citation",
    trim=("neighbors",),
):
    """The whole memory behind a tag such as [node_ab12cd34], as inject_context and search_graph write them: text,
    reason, origin, what it cites and whether that changed, and its neighbours. A long text comes in parts: call again
    with offset=next_offset."""

    citation_tag: Annotated[str, Meta(max_length=80, description="Such as [node_ab12cd34]")]
    offset: Annotated[int, Meta(ge=0, description="Character of the text to begin at")] = 0

    def run(self, call: Call) -> Hydrated:
        return hydrate(call.project.memory.view(call), self.citation_tag, self.offset)
