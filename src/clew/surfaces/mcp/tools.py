"""Every tool of Clew, in one flat list in the order of the toolsets. A tool exists when it stands here."""

from clew.compat.wekadocs import document_operations as kb_legacy
from clew.compat.wekadocs import graph_operations as graph_legacy
from clew.kb.operations import documents as kb
from clew.kb.operations import graph
from clew.operation.listing import all_tools
from clew.operation.registry import Tool, tool_of
from clew.specs import operations as specs

TOOLS: tuple[Tool, ...] = (
    *(tool_of(listed.operation) for listed in all_tools()),
    *specs.TOOLS,
    *kb.TOOLS,
    *kb_legacy.TOOLS,
    *graph.TOOLS,
    *graph_legacy.TOOLS,
)
