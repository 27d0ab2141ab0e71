"""Documents, sections and entities as a graph."""
