"""Rights in a project's schema: three roles that the database itself enforces.

A reader may read, a writer may also write records, and an owner may also change the schema, move whole stores in and
make the tables again after a purge. The database's user is the first part of the actor of every event: a trigger puts
it there, whatever the client says.
"""

from typing import Any, Literal

import psycopg
from psycopg import sql

from clew.errors import InvalidArgument, Refused
from clew.store.postgres.connections import options
from clew.store.postgres.faults import translated
from clew.store.postgres.migrations import Database, migrate
from clew.text.database_address import Address

Role = Literal["reader", "writer", "owner"]
ROLES: tuple[Role, ...] = ("reader", "writer", "owner")

_WRITER_MAY = {
    "entries": "INSERT, UPDATE (version, data, updated_at)",
    "tombstones": ("INSERT (collection, id, version, data, deleted_at, actor, reason), UPDATE (data, reason), DELETE"),
    # What happened cannot be changed; a purge blanks what was said. Servers of the version before ask whether they may
    # write all columns: the number of an event is looked at by a trigger, which asks what the last one was.
    "events": "INSERT, UPDATE (reason, before, after)",
    "events_seq_seq": "SELECT",
    "jobs": (
        "INSERT (id, kind, state, done, total, message, cancel_requested, started_at, updated_at, host, boot, pid,"
        " process_started), UPDATE"
    ),
    "settings": "INSERT",
    # It is locked, and holds nothing.
    "turn": "UPDATE",
}
_NOT_ANY_MORE = ("purged",)
"""Tables that writers could write to before."""
_SIGN = """
    CREATE OR REPLACE FUNCTION {schema}.sign() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF current_setting('clew.moving', true) = 'on' AND pg_has_role(session_user, {owner_name}, 'MEMBER') THEN
            RETURN NEW;
        END IF;
        IF NOT starts_with(NEW.actor, session_user || '/') THEN
            NEW.actor := session_user || '/' || NEW.actor;
        END IF;
        RETURN NEW;
    END $$
"""


def init(address: Address, schema: str, members: dict[Role, tuple[str, ...]]) -> list[int]:
    """Create the schema with its roles, or bring it up to date, and give roles to users of the database; returns the
    numbers of the steps that were taken. The user who runs it becomes an owner."""
    with (
        translated(address),
        psycopg.connect(address.url, **options("clew")) as database,
    ):
        _demand_users(database, members)
        with database.transaction():
            taken = migrate(database, schema)
            _make_roles(database, schema)
            _give_rights(database, schema)
            for role, users in members.items():
                for user in users:
                    _run(database, "GRANT {role} TO {user}", role=role_name(schema, role), user=user)
    return taken


def role_name(schema: str, role: Role) -> str:
    return f"{schema}_{role}"


def role_of(database: Any, schema: str) -> Role | None:
    """The highest role of this user."""
    for role in reversed(ROLES):
        query = "SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles WHERE rolname = %s"
        row = database.execute(query, (role_name(schema, role),)).fetchone()
        if row is not None and row[0]:
            return role
    return None


def _demand_users(database: Database, members: dict[Role, tuple[str, ...]]) -> None:
    for user in (each for users in members.values() for each in users):
        if database.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (user,)).fetchone() is None:
            raise InvalidArgument(
                f"The database has no user '{user}'.",
                hint="Make the user first, for example with `createuser`. Nothing was changed.",
            )
    row = database.execute("SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = session_user").fetchone()
    if row is None or not row[0]:
        raise Refused(
            "This user of the database may not make roles.",
            hint="Let a user with CREATEROLE, or a superuser, run `clew store init`. Nothing was changed.",
        )


def _make_roles(database: Database, schema: str) -> None:
    for role in ROLES:
        name = role_name(schema, role)
        if database.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)).fetchone() is None:
            _run(database, "CREATE ROLE {role} NOLOGIN", role=name)
    _run(database, "GRANT {reader} TO {writer}", **_names(schema))
    _run(database, "GRANT {writer} TO {owner}", **_names(schema))
    _run(database, "GRANT {owner} TO CURRENT_USER", **_names(schema))


def _give_rights(database: Database, schema: str) -> None:
    names = {"schema": schema, **_names(schema)}
    _run(database, _SIGN, **names, owner_name=sql.Literal(role_name(schema, "owner")))
    for table in ("events", "tombstones"):
        _run(
            database,
            "CREATE OR REPLACE TRIGGER {trigger} BEFORE INSERT ON {schema}.{table} FOR EACH ROW"
            " EXECUTE FUNCTION {schema}.sign()",
            trigger=f"{table}_are_signed",
            table=table,
            **names,
        )
    # First: what is in the schema goes only to who may make something there, unless a superuser gives it.
    _run(database, "ALTER SCHEMA {schema} OWNER TO {owner}", **names)
    owned = database.execute(
        """
        SELECT 'TABLE', relname FROM pg_class WHERE relnamespace = %(schema)s::regnamespace AND relkind = 'r'
        UNION ALL SELECT 'VIEW', relname FROM pg_class
            WHERE relnamespace = %(schema)s::regnamespace AND relkind = 'v'
        """,
        {"schema": f'"{schema}"'},
    ).fetchall()
    for kind, name in owned:
        _run(database, f"ALTER {kind} {{schema}}.{{name}} OWNER TO {{owner}}", name=name, **names)
    functions = database.execute(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = %s::regnamespace", (f'"{schema}"',)
    ).fetchall()
    for (signature,) in functions:
        # PostgreSQL has quoted the names in it.
        _run(database, f"ALTER FUNCTION {signature} OWNER TO {{owner}}", **names)
    _run(database, "REVOKE ALL ON SCHEMA {schema} FROM PUBLIC", **names)
    _run(database, "GRANT USAGE ON SCHEMA {schema} TO {reader}", **names)
    _run(database, "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}", **names)
    for table in (*_WRITER_MAY, *_NOT_ANY_MORE):
        _run(database, "REVOKE ALL ON {schema}.{table} FROM {writer}", table=table, **names)
    for table, rights in _WRITER_MAY.items():
        _run(database, f"GRANT {rights} ON {{schema}}.{{table}} TO {{writer}}", table=table, **names)


def _names(schema: str) -> dict[str, str]:
    return {role: role_name(schema, role) for role in ROLES}


def _run(database: Database, statement: str, **names: "str | sql.Literal") -> None:
    placed = {key: sql.Identifier(name) if isinstance(name, str) else name for key, name in names.items()}
    database.execute(sql.SQL(statement).format(**placed))
