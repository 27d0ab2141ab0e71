"""Search by words, on FTS5."""
