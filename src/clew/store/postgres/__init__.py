"""The engine for teams: one schema of a PostgreSQL database for each project."""

from importlib.util import find_spec

from clew.errors import ConfigError

if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
    raise ConfigError(
        "A team's database is configured, but its driver is not installed.",
        hint="Install Clew with its extra `postgres`: pip install 'clew-mcp[postgres]'.",
    )
