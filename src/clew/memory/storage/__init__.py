"""Storage of memories: the store, its index, the texts for search, and every change with its inverse."""
