"""The tables of the search index in a database, in a schema of their own.

Units belong to a *space*. Space 1 is everybody's: what was remembered. Every work tree has another one for what is read
from its files, so that two servers whose files differ never overwrite what the other one sees. A search looks into
both.

Postings are rows of an index that is read alone: for each term its units, the heaviest first. An *impact* is what BM25
makes of the number of times and the length of the text, but for the rarity of the term; it depends on nothing that may
change later. Candidates are summed up from the impacts; then the ranking of `lexical/ranking.py` begins.
"""

from typing import Any

from clew.errors import StoreError

VERSION = 1
SHARED = 1
"""The space of what was remembered."""
SHARED_NAME = "shared"

_TEXT = 'text COLLATE "C"'
"""By code point, as everywhere in Clew."""

STATEMENTS = (
    "CREATE TABLE search_version (version int NOT NULL)",
    f"INSERT INTO search_version VALUES ({VERSION})",  # noqa: S608
    f"""
    CREATE TABLE spaces (
        number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name {_TEXT} NOT NULL UNIQUE,
        series text NOT NULL DEFAULT left(md5(random()::text || clock_timestamp()::text), 16),
        version bigint NOT NULL DEFAULT 0,
        vectors bigint NOT NULL DEFAULT 0,
        units bigint NOT NULL DEFAULT 0,
        words bigint NOT NULL DEFAULT 0,
        followed bigint NOT NULL DEFAULT 0,
        seen_at timestamptz NOT NULL DEFAULT now()
    )
    """,
    f"""
    CREATE TABLE units (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        space int NOT NULL,
        id {_TEXT} NOT NULL,
        part {_TEXT} NOT NULL,
        title text NOT NULL,
        document {_TEXT},
        path {_TEXT},
        status {_TEXT},
        session {_TEXT},
        agent {_TEXT},
        time {_TEXT},
        content_hash {_TEXT} NOT NULL,
        text_hash {_TEXT} NOT NULL,
        characters int NOT NULL,
        place bigint,
        speaker text,
        role text,
        quoted boolean NOT NULL,
        UNIQUE (space, id)
    )
    """,
    "CREATE INDEX units_by_part ON units (space, part)",
    "CREATE INDEX units_by_path ON units (path) WHERE path IS NOT NULL",
    "CREATE INDEX units_by_session ON units (session, place) WHERE session IS NOT NULL",
    "CREATE INDEX units_by_document ON units (document, place) WHERE document IS NOT NULL",
    "CREATE TABLE unit_bodies (number bigint PRIMARY KEY, body text NOT NULL, data bytea NOT NULL)",
    f"CREATE TABLE unit_tags (number bigint NOT NULL, tag {_TEXT} NOT NULL, PRIMARY KEY (number, tag))",
    f"CREATE TABLE unit_titles (key {_TEXT} NOT NULL, space int NOT NULL, number bigint PRIMARY KEY)",
    "CREATE INDEX unit_titles_by_key ON unit_titles (key, space)",
    f"CREATE TABLE unit_parts (space int, part {_TEXT}, units bigint NOT NULL, PRIMARY KEY (space, part))",
    f"""
    CREATE TABLE terms (
        number int GENERATED ALWAYS AS IDENTITY UNIQUE,
        space int NOT NULL,
        term {_TEXT} NOT NULL,
        units int NOT NULL,
        PRIMARY KEY (term, space)
    )
    """,
    f"CREATE TABLE words (word {_TEXT}, term {_TEXT} NOT NULL, PRIMARY KEY (word, term))",
    "CREATE TABLE streams (unit bigint PRIMARY KEY, title text NOT NULL, body text NOT NULL, compounds text NOT NULL)",
    """
    CREATE TABLE postings (
        term int NOT NULL, impact smallint NOT NULL, unit bigint NOT NULL, PRIMARY KEY (term, impact, unit)
    )
    """,
    f"CREATE TABLE embedders (number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name {_TEXT} NOT NULL UNIQUE, "
    "dimensions int NOT NULL)",
    # What an embedder made of a text, for everybody: one vector, or several one after another.
    f"""
    CREATE TABLE embeddings (
        embedder int NOT NULL,
        text_hash {_TEXT} NOT NULL,
        place smallint NOT NULL,
        vector halfvec NOT NULL,
        windows bytea,
        PRIMARY KEY (embedder, text_hash, place)
    )
    """,
    # Texts that somebody is about to encode: a row is locked while one does.
    f"CREATE TABLE embedding_queue (embedder int, text_hash {_TEXT}, PRIMARY KEY (embedder, text_hash))",
    """
    CREATE TABLE vectors (
        space int NOT NULL, embedder int NOT NULL, number bigint NOT NULL, place smallint NOT NULL,
        vector halfvec NOT NULL, windows bytea
    ) PARTITION BY LIST (space)
    """,
    "CREATE INDEX vectors_by_number ON vectors (number, embedder)",
    f"INSERT INTO spaces (name) VALUES ('{SHARED_NAME}')",  # noqa: S608
    f"CREATE TABLE vectors_{SHARED} PARTITION OF vectors FOR VALUES IN ({SHARED})",
)


def make_tables(connection: Any, schema: str) -> None:
    """Make the schema and its tables where they are missing. StoreError where they are of a newer version."""
    name = f'"{schema}"'
    with connection.transaction():
        # Two servers may start at once.
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"clew search {schema}",))
        if connection.execute("SELECT to_regclass(%s)", (f"{name}.search_version",)).fetchone()[0] is None:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
            connection.execute(f"SET LOCAL search_path TO {name}, public")
            for statement in STATEMENTS:
                connection.execute(statement)
        (made,) = connection.execute(f"SELECT version FROM {name}.search_version").fetchone()  # noqa: S608
    if made > VERSION:
        raise StoreError(
            f"The search index in the schema {schema} has version {made}; this Clew knows {VERSION}.",
            hint="Update this Clew.",
        )


def space_of(connection: Any, name: str) -> int:
    """The number of a work tree's space, which is made where there is none."""
    found = connection.execute("UPDATE spaces SET seen_at = now() WHERE name = %s RETURNING number", (name,)).fetchone()
    if found is not None:
        return int(found[0])
    with connection.transaction():
        (number,) = connection.execute(
            "INSERT INTO spaces (name) VALUES (%s) ON CONFLICT (name) DO UPDATE SET seen_at = now() RETURNING number",
            (name,),
        ).fetchone()
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS vectors_{number:d} PARTITION OF vectors FOR VALUES IN ({number:d})"
        )
    return int(number)
