"""The three requirement formats of a project: where items are read from, and where they are written to."""
