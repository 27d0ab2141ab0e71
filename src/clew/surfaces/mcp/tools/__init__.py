"""Every tool of Clew, in one flat list in the order of the toolsets. A tool exists when it stands here."""

from clew.surfaces.mcp.registry import Tool
from clew.surfaces.mcp.tools import (
    core,
    graph,
    graph_legacy,
    kb,
    kb_legacy,
    register,
    register_review,
    register_write,
    specs,
    trace,
    trace_cursor,
    trace_files,
    trace_find,
    trace_links,
    trace_mutations,
)

TOOLS: tuple[Tool, ...] = (
    *core.TOOLS,
    *trace.TOOLS,
    *trace_find.TOOLS,
    *trace_cursor.TOOLS,
    *trace_files.TOOLS,
    *trace_links.TOOLS,
    *trace_mutations.TOOLS,
    *register.TOOLS,
    *register_write.TOOLS,
    *register_review.TOOLS,
    *specs.TOOLS,
    *kb.TOOLS,
    *kb_legacy.TOOLS,
    *graph.TOOLS,
    *graph_legacy.TOOLS,
)
