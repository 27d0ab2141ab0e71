"""A schema, as the steps that lead to it: the store's own here, and the way to take them, which search has in common. A
step that has been released is never changed: what comes later is a new step.

Servers of several versions work on one database while a team updates. So a step first adds what a later version needs,
and only a step of a later release takes away what nobody uses any more. `needs` is the lowest number that a server has
to know to work on the schema after the step: one less than the step's own as long as it only adds.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import psycopg
from psycopg import sql

from clew.errors import StoreError, StoreTooNew
from clew.store.postgres import guards
from clew.store.postgres.connections import NOW

Database = psycopg.Connection[tuple[Any, ...]]


class PostgresMigration(msgspec.Struct, frozen=True):
    number: int
    name: str
    needs: int
    statements: tuple[str, ...]


_VERSIONS = (
    """
    CREATE TABLE IF NOT EXISTS versions (
        number integer PRIMARY KEY,
        name text NOT NULL,
        needs integer NOT NULL,
        at text NOT NULL,
        by text NOT NULL DEFAULT session_user
    )
    """,
)

_RECORDS = (
    # Texts are compared by code point, and kept as they are: jsonb would change what it is given.
    """
    CREATE TABLE entries (
        collection text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        version bigint NOT NULL CHECK (version > 0),
        data text,
        updated_at text COLLATE "C" NOT NULL,
        PRIMARY KEY (collection, id)
    )
    """,
    "CREATE VIEW records AS SELECT collection, id, version, data, updated_at FROM entries WHERE data IS NOT NULL",
    """
    CREATE TABLE tombstones (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        collection text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        version bigint NOT NULL,
        data text NOT NULL,
        deleted_at text COLLATE "C" NOT NULL,
        actor text NOT NULL,
        reason text NOT NULL,
        UNIQUE (collection, id),
        FOREIGN KEY (collection, id) REFERENCES entries (collection, id)
    )
    """,
)

_EVENTS = (
    """
    CREATE TABLE events (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at text COLLATE "C" NOT NULL,
        actor text NOT NULL,
        operation text NOT NULL CHECK (operation IN ('put', 'delete', 'restore')),
        reason text NOT NULL,
        collection text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        version bigint NOT NULL,
        before text,
        after text
    )
    """,
    "CREATE UNIQUE INDEX events_by_id ON events (id, collection, version)",
    "CREATE INDEX events_by_collection ON events (collection, seq)",
    # A purge says that it is one; even then only values and reasons change.
    """
    CREATE FUNCTION refuse_change_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'UPDATE' AND current_setting('clew.purging', true) = 'on'
            AND (NEW.seq, NEW.at, NEW.actor, NEW.operation, NEW.collection, NEW.id, NEW.version)
                = (OLD.seq, OLD.at, OLD.actor, OLD.operation, OLD.collection, OLD.id, OLD.version)
        THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'events are append-only';
    END $$
    """,
    """
    CREATE TRIGGER events_are_append_only BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse_change_of_events()
    """,
    """
    CREATE TRIGGER events_are_never_emptied BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_events()
    """,
    # Copies elsewhere learn from this table what a purge changed behind them.
    """
    CREATE TABLE purged (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        collection text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL
    )
    """,
    """
    CREATE FUNCTION note_purge() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE format('INSERT INTO %I.purged (collection, id) VALUES ($1, $2)', TG_TABLE_SCHEMA)
            USING NEW.collection, NEW.id;
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER purges_are_noted AFTER UPDATE ON events FOR EACH ROW EXECUTE FUNCTION note_purge()
    """,
    # Only wakes those who wait: the truth is in the order of the events.
    """
    CREATE FUNCTION tell_of_events() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_notify(TG_TABLE_SCHEMA, '');
        RETURN NULL;
    END $$
    """,
    """
    CREATE TRIGGER events_are_told AFTER INSERT OR UPDATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION tell_of_events()
    """,
)

_JOBS = (
    """
    CREATE TABLE jobs (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        kind text NOT NULL,
        state text NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
        done bigint NOT NULL,
        total bigint,
        message text NOT NULL,
        cancel_requested boolean NOT NULL,
        started_at text COLLATE "C" NOT NULL,
        updated_at text COLLATE "C" NOT NULL,
        host text NOT NULL,
        boot text NOT NULL,
        pid bigint NOT NULL,
        process_started text NOT NULL
    )
    """,
)

_SETTINGS = ('CREATE TABLE settings (name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL)',)

MIGRATIONS: tuple[PostgresMigration, ...] = (
    PostgresMigration(1, "records, events, jobs and settings", 1, (*_RECORDS, *_EVENTS, *_JOBS, *_SETTINGS)),
    # Servers of the version before write as the guards ask, so that they go on.
    PostgresMigration(2, "guards", 1, guards.STATEMENTS),
)
HAS_TURNS = 2
"""From this step on, writers lock a table."""

SCHEMA_VERSION = MIGRATIONS[-1].number
WORKS_FROM = MIGRATIONS[-2].number if len(MIGRATIONS) > 1 else SCHEMA_VERSION
"""The oldest schema that this version works on: the one before the last step, which the version before made."""


def taken_steps(connection: Database, schema: str) -> dict[int, int]:
    """The numbers of the migration steps that were taken, each with the lowest version that a server needs after it;
    empty without a schema."""
    # Asked of the catalogue itself: what a session looked up before, it may remember across a wait for the lock.
    look = "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'versions'"
    if connection.execute(look, (schema,)).fetchone() is None:
        return {}
    query = sql.SQL("SELECT number, needs FROM {}.versions").format(sql.Identifier(schema))
    return {int(number): int(needs) for number, needs in connection.execute(query)}


def found_version(connection: Database, schema: str) -> tuple[int, int]:
    """The number of the last step, and the lowest version that a server needs; zeros without a schema."""
    taken = taken_steps(connection, schema)
    return max(taken, default=0), max(taken.values(), default=0)


def check_version(
    found: int, needs: int, name: str, *, known: int = SCHEMA_VERSION, works_from: int = WORKS_FROM
) -> None:
    """Raise an error, before anything is read, if this version cannot work with the schema. `name` says what is in
    it."""
    if needs > known:
        raise StoreTooNew(
            f"{name} has schema version {found}, which needs a Clew that knows version {needs}; this one "
            f"knows versions up to {known}.",
            hint="Update Clew here. Nothing was changed.",
            data={"found": found, "needed": needs, "supported": known},
        )
    if found < works_from:
        raise StoreError(
            f"{name} has schema version {found}; this Clew works with versions from {works_from}.",
            hint="An owner of the project brings it up to date with `clew store init`.",
            data={"found": found, "supported": works_from},
        )


class MigrationTimeouts(msgspec.Struct, frozen=True):
    """Seconds that a migration waits for users of a table, and seconds of each of its statements; 0 for no limit. Users
    of the table wait as long as the migration waits."""

    lock: int
    statement: int


def migrate(
    connection: Database,
    schema: str,
    migrations: Sequence[PostgresMigration] = MIGRATIONS,
    *,
    owner: str | None = None,
    limits: MigrationTimeouts | None = None,
) -> list[int]:
    """Create the schema, or take missing steps, all in one transaction; returns their numbers. New objects belong to
    the role `owner`, whichever of its members takes the steps. Without `limits`, the connection's limits hold."""
    taken: list[int] = []
    with connection.transaction():
        if limits is not None:
            connection.execute(f"SET LOCAL lock_timeout = '{limits.lock:d}s'")
            connection.execute(f"SET LOCAL statement_timeout = '{limits.statement:d}s'")
        if owner is not None:
            connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(owner)))
        _make_schema(connection, schema)
        found = taken_steps(connection, schema)
        for migration in migrations:
            if migration.number not in found:
                for text in migration.statements:
                    connection.execute(text.encode())
                values = (migration.number, migration.name, migration.needs)
                connection.execute(f"INSERT INTO versions VALUES (%s, %s, %s, {NOW})", values)  # noqa: S608
                taken.append(migration.number)
    return taken


def _make_schema(connection: Database, schema: str) -> None:
    """The schema and its list of steps, which is locked until the transaction ends: only an owner may lock it."""
    look = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
    # Only the schema: a table that is missing there may be somebody else's in `public`. A function that keeps this path
    # looks last for what its caller made for a session: unnamed, that would come first.
    path = sql.SQL("SET LOCAL search_path = {}, pg_temp").format(sql.Identifier(schema))
    while True:
        try:
            with connection.transaction():
                if connection.execute(look, (schema,)).fetchone() is None:
                    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
                connection.execute(path)
                if not taken_steps(connection, schema):
                    for statement in _VERSIONS:
                        connection.execute(statement)
        except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateSchema, psycopg.errors.DuplicateTable):
            # Another process made it meanwhile, and was waited for.
            continue
        break
    connection.execute(path)
    connection.execute("LOCK TABLE versions IN SHARE UPDATE EXCLUSIVE MODE")
