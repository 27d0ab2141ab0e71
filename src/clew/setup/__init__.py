"""Setting up a folder: what it holds, and the configuration files of MCP clients."""

# Implements: REQ-d00018
