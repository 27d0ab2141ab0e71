"""Every tool of Clew, in one flat list in the order of the toolsets."""

from clew.operation.listing import all_tools
from clew.operation.registry import Tool, tool_of

TOOLS: tuple[Tool, ...] = tuple(tool_of(listed.operation) for listed in all_tools())
