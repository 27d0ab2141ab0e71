"""Every tool of Clew, in one flat list in the order of the toolsets. A tool exists when it stands here."""

from clew.compat.elspais import operations as trace_cursor
from clew.compat.wekadocs import document_operations as kb_legacy
from clew.compat.wekadocs import graph_operations as graph_legacy
from clew.kb.operations import documents as kb
from clew.kb.operations import graph
from clew.operation.listing import MODULES
from clew.operation.prepare import declared_in
from clew.operation.registry import Tool, tool_of
from clew.specs import operations as specs
from clew.trace.operations import files as trace_files
from clew.trace.operations import find as trace_find
from clew.trace.operations import links as trace_links
from clew.trace.operations import mutations as trace_mutations
from clew.trace.operations import read as trace


def _declared(room: str) -> list[Tool]:
    """The tools of a room whose modules declare operations."""
    modules = [name for name in MODULES if name.startswith(room)]
    return [tool_of(operation) for name in modules for operation in declared_in(name) if operation.about.tool]


TOOLS: tuple[Tool, ...] = (
    *_declared("clew.why."),
    *trace.TOOLS,
    *trace_find.TOOLS,
    *trace_cursor.TOOLS,
    *trace_files.TOOLS,
    *trace_links.TOOLS,
    *trace_mutations.TOOLS,
    *_declared("clew.register."),
    *specs.TOOLS,
    *kb.TOOLS,
    *kb_legacy.TOOLS,
    *graph.TOOLS,
    *graph_legacy.TOOLS,
)
