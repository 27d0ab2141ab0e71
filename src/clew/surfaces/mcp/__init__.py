"""The MCP server."""

# Implements: REQ-o00005
