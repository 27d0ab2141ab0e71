"""Authored data that exists in no file of the project: records, events, jobs, settings.

The interface, and an engine each for SQLite and PostgreSQL, live here. It may import `edit`, `workspace`, `config`,
`text` and `errors`. It must not know what a record means, or which service wrote it.
"""

# Implements: REQ-o00002
