"""The engine for teams: one schema of a PostgreSQL database for each project."""
