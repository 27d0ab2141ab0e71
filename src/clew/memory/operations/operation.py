"""The declarations that all tools and commands of the memory share."""

from clew.operation.declare import Freshness, Operation, Toolset


class MemoryOperation(Operation, toolset=Toolset.MEMORY, needs=Freshness.NONE):
    """A tool or command of the memory. One that cites a node of the graph updates the graph itself."""
