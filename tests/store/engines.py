"""The engines that must pass the contract. A new one is one more line in ENGINES."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from clew.store.interface import Store
from clew.store.sqlite.engine import open_sqlite
from clew.text.database_address import Address
from clew.workspace.find import files_below


@dataclass(frozen=True, slots=True)
class Engine:
    new_location: Callable[[Path], str]
    """An address for a store that does not exist yet; the folder is empty and the test's own."""
    open: Callable[[str], Store]
    """Opens the store at an address, in this process or in another one."""
    files: Callable[[str], list[Path]]
    """Where what the store holds is on the disk."""
    refuse_bad: Callable[[str], None]
    """Has the engine refuse the event of a record whose id is "bad"."""


if find_spec("psycopg") is not None:
    # Here rather than where it is used: a process that forks many others imports it once.
    from clew.store.postgres.engine import open_postgres as open_schema


def open_store_in_postgres(location: str) -> Store:
    url, schema = location.split()
    return open_schema(Address(url), schema, create=True, busy_timeout=300.0)


def tables_on_disk(location: str) -> list[Path]:
    """The files of a schema's tables, with what the server still held in memory. Its log is the server's own."""
    import psycopg

    url, schema = location.split()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        ((data,),) = connection.execute("SHOW data_directory").fetchall()
        found = connection.execute(
            """
            SELECT pg_relation_filepath(part.oid) FROM pg_class AS main
            JOIN pg_class AS part ON part.oid IN (main.oid, main.reltoastrelid)
            WHERE main.relnamespace = %s::regnamespace AND main.relkind = 'r'
            """,
            (schema,),
        )
        return [Path(data, path) for (path,) in found]


def refuse_bad_in_sqlite(location: str) -> None:
    with closing(sqlite3.connect(location)) as connection:
        connection.execute(
            "CREATE TRIGGER no_more BEFORE INSERT ON events WHEN NEW.id = 'bad'"
            " BEGIN SELECT RAISE(ABORT, 'out of order'); END"
        )


def refuse_bad_in_postgres(location: str) -> None:
    import psycopg

    url, schema = location.split()
    with psycopg.connect(url, autocommit=True, options=f"-c search_path={schema}") as connection:
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql"
            " AS $$ BEGIN RAISE EXCEPTION 'out of order'; END $$"
        )
        connection.execute(
            "CREATE TRIGGER no_more BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.id = 'bad')"
            " EXECUTE FUNCTION refuse()"
        )


ENGINES = {
    "sqlite": Engine(
        new_location=lambda folder: str(folder / ".clew" / "store.db"),
        # Writers that wait for each other on a slow machine are not what is tested here.
        open=lambda location: open_sqlite(Path(location), busy_timeout=300.0),
        files=lambda location: list(files_below(Path(location).parent)),
        refuse_bad=refuse_bad_in_sqlite,
    ),
    # The test's database is in the file; each store is a schema of it.
    "postgres": Engine(
        new_location=lambda folder: f"{(folder.parent / 'database').read_text()} store_{folder.name}",
        open=open_store_in_postgres,
        files=tables_on_disk,
        refuse_bad=refuse_bad_in_postgres,
    ),
}
