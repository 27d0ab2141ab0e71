"""Single requirements: resolving ids, serializing nodes, subtrees."""
