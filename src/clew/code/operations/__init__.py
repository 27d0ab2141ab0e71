"""Tools and commands about source code."""

# Implements: REQ-d00742
