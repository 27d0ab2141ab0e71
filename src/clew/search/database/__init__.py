"""The search index in a PostgreSQL database, for more than one machine's index holds. Nothing here is imported unless
`search = "database"` or a shared store asks for it: psycopg is an optional dependency."""

# Implements: REQ-d00490
