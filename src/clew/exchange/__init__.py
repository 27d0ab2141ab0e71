"""Other tools' formats: requirements and memories come in from their files, and the graph leaves as files they read."""
