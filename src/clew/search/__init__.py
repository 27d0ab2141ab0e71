"""One retrieval engine for all parts."""
