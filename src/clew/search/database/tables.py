"""The tables of the search index in a database, in a schema of their own.

Units belong to a *space*. Space 1 is everybody's: what was remembered. Every work tree has another one for what is read
from its files, so that two servers whose files differ never overwrite what the other one sees. A search looks into
both.

Postings are rows of an index that is read alone: for each term its units, the heaviest first. An *impact* is what BM25
makes of the number of times and the length of the text, but for the rarity of the term; it depends on nothing that may
change later. Candidates are summed up from the impacts; then the ranking of `lexical/ranking.py` begins.
"""

from typing import Any, NamedTuple

from clew.errors import StoreError

VERSION = 1
"""What a server has to know to work on the tables. A step that only adds leaves it as it is: servers of neighbouring
versions work on one index."""
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
    # A table and an index can be made only by who owns them. A writer asks for them by these functions. They run with
    # the owner's rights, so `format` is named in full: another one in `public` may fit its arguments better.
    """
    CREATE FUNCTION make_space(named text) RETURNS int
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE made int;
    BEGIN
        INSERT INTO spaces (name) VALUES (named) ON CONFLICT (name) DO UPDATE SET seen_at = now()
            RETURNING number INTO made;
        EXECUTE pg_catalog.format(
            'CREATE TABLE IF NOT EXISTS vectors_%s PARTITION OF vectors FOR VALUES IN (%s)', made, made
        );
        RETURN made;
    END $$
    """,
    """
    CREATE FUNCTION index_space(space int, embedder int, dimensions int) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    BEGIN
        EXECUTE pg_catalog.format(
            'CREATE INDEX IF NOT EXISTS vectors_%s_%s ON vectors_%s'
            ' USING hnsw ((vector::halfvec(%s)) halfvec_ip_ops) WHERE embedder = %s',
            space, embedder, space, dimensions, embedder
        );
        EXECUTE pg_catalog.format('ANALYZE vectors_%s', space);
    END $$
    """,
    f"SELECT make_space('{SHARED_NAME}')",
)


class Step(NamedTuple):
    number: int
    name: str
    statements: tuple[str, ...]
    """Of tables of the schema, and of nothing in `public`."""


STEPS = (
    # A sample is the first units by the hash of their ids: without the index, all units are sorted for it.
    Step(2, "samples", ("CREATE INDEX IF NOT EXISTS units_by_sample ON units (space, md5(id), id)",)),
)
"""What came later. A step that has been released is never changed. Until the owner of the tables takes one, servers
work without it."""


class Limits(NamedTuple):
    """How many seconds a step may wait for those who write to its table, and how many each of its statements may take
    in all; 0 for no limit. Writers wait for a step that waits."""

    lock: int
    statement: int


ON_START = Limits(lock=2, statement=10)
ON_DEMAND = Limits(lock=20, statement=0)


def grant(connection: Any, schema: str, *, reader: str, writer: str) -> None:
    """Let a project's roles use its search index: one reads, the other one writes as well."""
    name, own = f'"{schema}"', f'"{writer}"'
    for role in (f'"{reader}"', own):
        connection.execute(f"GRANT USAGE ON SCHEMA {name} TO {role}")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO {role}")
        # Of a space that is made later as well.
        connection.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {name} GRANT SELECT ON TABLES TO {role}")
    connection.execute(f"GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {name} TO {own}")
    connection.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {name} GRANT INSERT, UPDATE, DELETE ON TABLES TO {own}")
    connection.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {name} TO {own}")
    connection.execute(f"REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA {name} FROM PUBLIC")
    connection.execute(f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {name} TO {own}")


def has_vectors(connection: Any) -> bool:
    """Whether pgvector is there; it is made known to the database where that is allowed."""
    find = "SELECT installed_version IS NOT NULL FROM pg_available_extensions WHERE name = 'vector'"
    found = connection.execute(find).fetchone()
    if found is not None and not found[0]:
        connection.execute("CREATE EXTENSION vector")
    return found is not None


def make_tables(connection: Any, schema: str) -> None:
    """Make the schema and its tables where they are missing. StoreError where they are of a newer version."""
    name = f'"{schema}"'
    with connection.transaction():
        # Two servers may start at once.
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"clew search {schema}",))
        if connection.execute("SELECT to_regclass(%s)", (f"{name}.search_version",)).fetchone()[0] is None:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
            connection.execute(f"SET LOCAL search_path TO {name}, public, pg_temp")
            for statement in STATEMENTS:
                connection.execute(statement)
        (made,) = connection.execute(f"SELECT version FROM {name}.search_version").fetchone()  # noqa: S608
    if made > VERSION:
        raise StoreError(
            f"The search index in the schema {schema} has version {made}; this Clew knows {VERSION}.",
            hint="Update this Clew.",
        )


def take_steps(connection: Any, schema: str, limits: Limits) -> None:
    """Take the steps that the tables lack, each in a transaction of its own and as the owner of the tables. Who may not
    act as the owner leaves them. An error of the database where a step cannot be taken: it is left as a whole."""
    name = f'"{schema}"'
    find = """
        SELECT quote_ident(rolname) FROM pg_class JOIN pg_roles ON pg_roles.oid = relowner
        WHERE pg_class.oid = %s::regclass AND pg_has_role(relowner, 'USAGE')
    """
    owner = connection.execute(find, (f"{name}.units",)).fetchone()
    if owner is None:
        return
    for step in STEPS:
        if step.number not in _taken(connection, name):
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = '{limits.lock:d}s'")
                connection.execute(f"SET LOCAL statement_timeout = '{limits.statement:d}s'")
                # What is made belongs to the owner of the tables, whichever member of that role makes it.
                connection.execute(f"SET LOCAL ROLE {owner[0]}")
                _take(connection, schema, step)


def _take(connection: Any, schema: str, step: Step) -> None:
    name = f'"{schema}"'
    # Only the schema: a table that is missing there may be somebody else's in `public`.
    connection.execute(f"SET LOCAL search_path TO {name}")
    connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"clew search {schema} steps",))
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {name}.search_steps"
        " (number int PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now())"
    )
    # Another server may have been quicker.
    if step.number not in _taken(connection, name):
        for statement in step.statements:
            connection.execute(statement)
        values = (step.number, step.name)
        connection.execute(f"INSERT INTO {name}.search_steps (number, name) VALUES (%s, %s)", values)  # noqa: S608


def _taken(connection: Any, name: str) -> set[int]:
    if connection.execute("SELECT to_regclass(%s)", (f"{name}.search_steps",)).fetchone()[0] is None:
        return set()
    return {number for (number,) in connection.execute(f"SELECT number FROM {name}.search_steps")}  # noqa: S608


def space_of(connection: Any, name: str) -> int:
    """The number of a work tree's space, which is made where there is none."""
    found = connection.execute("SELECT number FROM spaces WHERE name = %s", (name,)).fetchone()
    found = found or connection.execute("SELECT make_space(%s)", (name,)).fetchone()
    return int(found[0])
