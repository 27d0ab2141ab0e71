"""Single requirements: resolving ids, serializing nodes, subtrees."""

# Implements: REQ-d00013
