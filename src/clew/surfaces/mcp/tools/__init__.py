"""Every tool of Clew, in one flat list in the order of the toolsets. A tool exists when it stands here."""

from clew.surfaces.mcp.registry import Tool
from clew.surfaces.mcp.tools import core, trace

TOOLS: tuple[Tool, ...] = (*core.TOOLS, *trace.TOOLS)
