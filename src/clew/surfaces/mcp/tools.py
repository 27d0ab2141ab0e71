"""Every tool of Clew, in one flat list in the order of the toolsets. A tool exists when it stands here."""

from clew.compat.elspais import operations as trace_cursor
from clew.operation.prepare import declared_in
from clew.operation.registry import Tool, tool_of
from clew.register.operations import read as register
from clew.register.operations import review as register_review
from clew.register.operations import write as register_write
from clew.trace.operations import files as trace_files
from clew.trace.operations import find as trace_find
from clew.trace.operations import links as trace_links
from clew.trace.operations import mutations as trace_mutations
from clew.trace.operations import read as trace


def _declared(module: str) -> tuple[Tool, ...]:
    return tuple(tool_of(operation) for operation in declared_in(module) if operation.about.tool)


TOOLS: tuple[Tool, ...] = (
    *_declared("clew.why.operations"),
    *trace.TOOLS,
    *trace_find.TOOLS,
    *trace_cursor.TOOLS,
    *trace_files.TOOLS,
    *trace_links.TOOLS,
    *trace_mutations.TOOLS,
    *register.TOOLS,
    *register_write.TOOLS,
    *register_review.TOOLS,
    *_declared("clew.specs.operations"),
    *_declared("clew.kb.operations.documents"),
    *_declared("clew.compat.wekadocs.document_operations"),
    *_declared("clew.kb.operations.graph"),
    *_declared("clew.compat.wekadocs.graph_operations"),
)
