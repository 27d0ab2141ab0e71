"""The declarations that all tools and commands of the memory share."""

from clew.memory.model import CHANGES, EXCHANGES
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Toolset


class MemoryOperation(Operation, toolset=Toolset.MEMORY, needs=Freshness.NONE):
    """A tool or command of the memory. One that cites a node of the graph updates the graph itself."""


class PagedMemoryOperation(MemoryOperation, needs=Freshness.SOURCES, budget=8_000):
    """A list of the memory that goes on behind a cursor where an answer has no room for all of it. Its text takes a
    line for each item, so that the data may take nearly all of the budget."""

    def state(self, call: Call) -> str:
        return f"memory {call.project.memory.home.index.last(CHANGES)}"


class LatestMemoryOperation(PagedMemoryOperation):
    """A list whose order changes with every search."""

    def state(self, call: Call) -> str:
        return f"memory {call.project.memory.home.index.last(CHANGES, EXCHANGES)}"
