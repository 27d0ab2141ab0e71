"""The declarations that all tools of the cognition share."""

from clew.operation.declare import Freshness, Operation, Toolset


class CognitionOperation(Operation, toolset=Toolset.COGNITION, needs=Freshness.NONE):
    """A tool that measures the memory or keeps it in order."""
