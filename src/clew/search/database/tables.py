"""The tables of the search index in a database, in a schema of their own.

Units belong to a *space*. Space 1 is everybody's: what was remembered. Every work tree has another one for what is read
from its files, so that two servers whose files differ never overwrite what the other one sees. A search looks into
both.

Postings are rows of an index that is read alone: for each term its units, the heaviest first. An *impact* is what BM25
makes of the number of times and the length of the text, but for the rarity of the term; it depends on nothing that may
change later. Candidates are summed up from the impacts; then the ranking of `lexical/ranking.py` begins.
"""

from typing import Any

from clew.store.postgres.migrations import (
    MigrationTimeouts,
    PostgresMigration,
    check_version,
    found_version,
    migrate,
    taken_steps,
)

SHARED = 1
"""The space of what was remembered."""
SHARED_NAME = "shared"

TERM_NUMBERS = "<i4"
"""The format of a unit's terms as numbers (`terms.number`): those of the title first, the compounds last."""
COUNTS_BEFORE = 3
"""Before the terms: how many there are in the title, how many in title and body together, and how many characters all
of them take."""

_TEXT = 'text COLLATE "C"'
"""By code point, as everywhere in Clew."""

_TABLES = (
    # The first versions look here for what they need to know; a step that needs more raises it.
    "CREATE TABLE search_version (version int NOT NULL)",
    "INSERT INTO search_version VALUES (1)",
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
        vector public.halfvec NOT NULL,
        windows bytea,
        PRIMARY KEY (embedder, text_hash, place)
    )
    """,
    # Texts that somebody is about to encode: a row is locked while one does.
    f"CREATE TABLE embedding_queue (embedder int, text_hash {_TEXT}, PRIMARY KEY (embedder, text_hash))",
    """
    CREATE TABLE vectors (
        space int NOT NULL, embedder int NOT NULL, number bigint NOT NULL, place smallint NOT NULL,
        vector public.halfvec NOT NULL, windows bytea
    ) PARTITION BY LIST (space)
    """,
    "CREATE INDEX vectors_by_number ON vectors (number, embedder)",
    f"INSERT INTO spaces (name) VALUES ('{SHARED_NAME}')",  # noqa: S608
    f"CREATE TABLE vectors_{SHARED} PARTITION OF vectors FOR VALUES IN ({SHARED})",
)

_FUNCTIONS = (
    # A table and an index can be made only by who owns them. A writer asks for them by these functions. They run with
    # the owner's rights, on the path of the step: they see the index's own schema, and last what their caller made for
    # the session.
    """
    CREATE OR REPLACE FUNCTION make_space(named text) RETURNS int
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE made int;
    BEGIN
        INSERT INTO spaces (name) VALUES (named) ON CONFLICT (name) DO UPDATE SET seen_at = now()
            RETURNING number INTO made;
        EXECUTE format('CREATE TABLE IF NOT EXISTS vectors_%s PARTITION OF vectors FOR VALUES IN (%s)', made, made);
        RETURN made;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION index_space(space int, embedder int, dimensions int) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    BEGIN
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS vectors_%s_%s ON vectors_%s'
            ' USING hnsw ((vector::public.halfvec(%s)) public.halfvec_ip_ops) WHERE embedder = %s',
            space, embedder, space, dimensions, embedder
        );
        EXECUTE format('ANALYZE vectors_%s', space);
    END $$
    """,
)

_KEEP_STEPS_FROM_WRITERS = """
    DO $$
    DECLARE given record;
    BEGIN
        FOR given IN
            SELECT DISTINCT pg_class.oid::regclass AS noted_in, grantee::regrole AS role
            FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace, aclexplode(relacl)
            WHERE nspname = current_schema() AND relname IN ('versions', 'search_version', 'search_steps')
                AND grantee NOT IN (0, relowner) AND privilege_type IN ('INSERT', 'UPDATE', 'DELETE')
        LOOP
            EXECUTE format('REVOKE INSERT, UPDATE, DELETE ON %s FROM %s', given.noted_in, given.role);
        END LOOP;
    END $$
"""
"""Writers may write to every table of the schema, and to those that are made later, but for these."""
_SHOW_STEPS = "GRANT SELECT ON versions TO PUBLIC"
"""To all who may use the schema: every server looks there, also for a user who got rights before the table was made."""

TABLES = PostgresMigration(1, "tables", 1, _TABLES)
NUMBERS_OF_TERMS = PostgresMigration(
    4, "numbers of terms", 1, ("ALTER TABLE streams ADD COLUMN IF NOT EXISTS terms bytea",)
)
STEPS = (
    # It waits for nobody, so it comes before those that may fail.
    PostgresMigration(3, "what runs as the owner", 1, (*_FUNCTIONS, _KEEP_STEPS_FROM_WRITERS, _SHOW_STEPS)),
    # A sample is the first units by the hash of their ids: without the index, all units are sorted for it.
    PostgresMigration(2, "samples", 1, ("CREATE INDEX IF NOT EXISTS units_by_sample ON units (space, md5(id), id)",)),
    # Terms of a unit as numbers. What an older version writes has none, and is read as text. It waits for searches too.
    NUMBERS_OF_TERMS,
)
"""Later migrations of the schema, in order. Until the owner of the tables runs one, servers work without it. Its tables
may exist already: the first versions did not note their migrations in `versions`."""

ON_START = MigrationTimeouts(lock=2, statement=10)
ON_DEMAND = MigrationTimeouts(lock=20, statement=0)


def grant(connection: Any, schema: str, *, reader: str, writer: str) -> None:
    """Give a project's roles the rights to its search index: one role reads, the other one writes as well."""
    name, own = f'"{schema}"', f'"{writer}"'
    written = "INSERT, UPDATE, DELETE"
    with connection.transaction():
        connection.execute(f"SET LOCAL search_path TO {name}, pg_temp")
        for role in (f'"{reader}"', own):
            connection.execute(f"GRANT USAGE ON SCHEMA {name} TO {role}")
            connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO {role}")
            # Of a space that is made later as well.
            connection.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {name} GRANT SELECT ON TABLES TO {role}")
        connection.execute(f"GRANT {written} ON ALL TABLES IN SCHEMA {name} TO {own}")
        connection.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {name} GRANT {written} ON TABLES TO {own}")
        connection.execute(_KEEP_STEPS_FROM_WRITERS)
        connection.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {name} TO {own}")
        connection.execute(f"REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA {name} FROM PUBLIC")
        connection.execute(f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {name} TO {own}")


def has_vectors(connection: Any) -> bool:
    """True if pgvector can be used; the extension is created in the database where that is allowed."""
    find = "SELECT installed_version IS NOT NULL FROM pg_available_extensions WHERE name = 'vector'"
    found = connection.execute(find).fetchone()
    if found is not None and not found[0]:
        connection.execute("CREATE EXTENSION vector")
    return found is not None


def are_made(connection: Any, schema: str) -> bool:
    """True if the tables exist. Without pgvector there are none."""
    found = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (f'"{schema}".units',)).fetchone()
    return bool(found[0])


def make_tables(connection: Any, schema: str) -> None:
    """Create the schema and its tables where they are missing. StoreTooNew if they need a newer Clew."""
    if not are_made(connection, schema):
        migrate(connection, schema, (TABLES, *STEPS))
    name, known = f"The search index in the schema {schema}", max(step.number for step in (TABLES, *STEPS))
    check_version(*found_version(connection, schema), name, known=known, works_from=0)


def take_steps(connection: Any, schema: str, limits: MigrationTimeouts) -> None:
    """Take pending migration steps, each in a transaction of its own and as the owner of the tables. Without the
    owner's rights nothing is done. A step that fails is undone as a whole and raises the database's error."""
    find = """
        SELECT rolname FROM pg_class JOIN pg_roles ON pg_roles.oid = relowner
        WHERE pg_class.oid = %s::regclass AND pg_has_role(relowner, 'USAGE')
    """
    owner = connection.execute(find, (f'"{schema}".units',)).fetchone()
    taken = taken_steps(connection, schema)
    for step in STEPS if owner is not None else ():
        if step.number not in taken:
            migrate(connection, schema, (step,), owner=owner[0], limits=limits)


def has_term_numbers(connection: Any, schema: str) -> bool:
    """True if the migration that adds the column for them was run: an owner of the tables runs it."""
    return NUMBERS_OF_TERMS.number in taken_steps(connection, schema)


def space_of(connection: Any, name: str) -> int:
    """The number of a work tree's space, which is created if it is missing."""
    found = connection.execute("SELECT number FROM spaces WHERE name = %s", (name,)).fetchone()
    found = found or connection.execute("SELECT make_space(%s)", (name,)).fetchone()
    return int(found[0])
