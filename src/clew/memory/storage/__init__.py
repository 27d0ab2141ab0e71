"""Where memories are kept: the store, its index, their texts for search, and every change with its inverse."""
