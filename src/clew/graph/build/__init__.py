"""From files to the graph: reading, linking, and keeping both in step."""

# Implements: REQ-d00003
