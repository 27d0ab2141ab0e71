"""How Clew is reached: MCP and the command line. Surfaces translate and hold no logic."""

# Implements: REQ-o00005
