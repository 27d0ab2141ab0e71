"""Toolset memory: walking from memory to memory, and reading one."""

from typing import Annotated

from msgspec import Meta

from clew.memory.cognition.infer import note_walks
from clew.memory.navigation import navigate
from clew.memory.navigation.requests import CausalPathQuery, EntailmentQuestion, NeighborhoodQuery, RecentQuery
from clew.memory.operations import lines
from clew.memory.operations.operation import LatestMemoryOperation, MemoryOperation, PagedMemoryOperation
from clew.memory.recall.hydrate import hydrate
from clew.memory.views import WholeMemory
from clew.operation.call import Call
from clew.operation.declare import PageCursor


class GetNeighborhood(
    NeighborhoodQuery,
    PagedMemoryOperation,
    tool="get_neighborhood",
    outlined=True,
    title="What is linked to a memory",
    trim=("neighbors", "cited"),
    pages="neighbors",
    total="count",
):
    """The memories linked to one, up to three steps away, with type, weight, confidence and direction of each link, and
    what it cites in the project: the reasons of a decision."""

    cursor: PageCursor = None

    def run(self, call: Call) -> navigate.Neighborhood:
        view = call.project.memory.view(call)
        found = navigate.neighborhood(view.library, self)
        note_walks(view, "get_neighborhood", navigate.paths_of(found))
        return navigate.page_of(found, call.offset)

    def text(self, result: navigate.Neighborhood) -> str:
        return lines.near(result)


class FindCausalPath(
    CausalPathQuery,
    MemoryOperation,
    tool="find_causal_path",
    title="How one memory leads to another",
):
    """The chain of causes from one memory to another, hop by hop; an empty path where no cause leads there.
    cycle_detected tells that the links lead in a circle. path_type any follows every link but the order in which a
    session stored them."""

    def run(self, call: Call) -> navigate.CausalPath:
        view = call.project.memory.view(call)
        found = navigate.causal_path(view.library, self, call.check)
        note_walks(view, "find_causal_path", [tuple(hop.node_id for hop in found.path)])
        return found


class EntailmentQuery(
    EntailmentQuestion,
    MemoryOperation,
    tool="entailment_query",
    title="What is more general or more special",
    trim=("descendants", "ancestors"),
):
    """The memories that a memory is part of (ancestors) and those that are part of it (descendants): by links of type
    Hierarchical, and among similar memories by terms, if one has most terms of the other. `method` says how it was
    found. No hyperbolic embedding is trained."""

    def run(self, call: Call) -> navigate.Entailment:
        view = call.project.memory.view(call)
        return navigate.entailment(view.library, self, view.near)


class GetRecentContext(
    RecentQuery,
    LatestMemoryOperation,
    tool="get_recent_context",
    outlined=True,
    title="Memories used last",
    trim=("memories",),
    pages="memories",
    total="count",
    example={"limit": 5},
):
    """The memories that were stored or recalled last, the latest first, for the start of a session. For a subject use
    search_graph."""

    cursor: PageCursor = None

    def run(self, call: Call) -> navigate.Recent:
        view = call.project.memory.view(call)
        return navigate.recent(view.library, self, call.offset)

    def text(self, result: navigate.Recent) -> str:
        return lines.recent(result)


class HydrateCitation(
    MemoryOperation,
    tool="hydrate_citation",
    title="The whole text behind a citation",
    trim=("neighbors",),
):
    """The whole memory behind a tag such as [node_ab12cd34]: text, reason, origin, what it cites and whether that
    changed, and its neighbours. A long text comes in parts: call again with offset=next_offset."""

    citation_tag: Annotated[str, Meta(max_length=80, description="Such as [node_ab12cd34]")]
    offset: Annotated[int, Meta(ge=0, description="Character of the text to begin at")] = 0

    def run(self, call: Call) -> WholeMemory:
        return hydrate(call.project.memory.view(call), self.citation_tag, self.offset)
