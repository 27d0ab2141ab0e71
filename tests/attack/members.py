"""Members of a team attack each other over SQL, with whatever settings and statements their role allows.

A writer tries to change what others wrote, to forge numbers and times, and to stop the rest; a reader and somebody
without a role try to write and to stop writers. After every statement the others' records, their history and their
copies have to be as before, and an honest writer has to be able to write.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.attack.outcome import Outcome
from tests.postgres import Postgres, own_server

from clew.errors import ClewError
from clew.store.replica import ReplicatedStore
from clew.text.database_address import Address

ROLES = ("reader", "writer", "stranger")
_SCHEMA = "clew_members"
_FAR = 9_000_000_000_000_000_000

NOW = """to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
_EVENT = "at, actor, operation, reason, collection, id, version, before, after"


def _put(id: str, version: int, before: str, after: str, *, at: str = NOW, seq: str = "") -> tuple[str, ...]:
    """A record and its event, as a client would write them."""
    numbered = ("seq, ", "OVERRIDING SYSTEM VALUE", f"{seq}, ") if seq else ("", "", "")
    return (
        f"INSERT INTO entries VALUES ('notes', '{id}', {version}, {after}, {at}) ON CONFLICT (collection, id)"
        " DO UPDATE SET version = excluded.version, data = excluded.data, updated_at = excluded.updated_at",
        f"INSERT INTO events ({numbered[0]}{_EVENT}) {numbered[1]} SELECT {numbered[2]}updated_at, 'agent', 'put', '',"
        f" 'notes', '{id}', {version}, {before}, data FROM entries WHERE id = '{id}'",
    )


ALICE = "'\"The valve closes at 40 bar\"'"
EVE = "'\"The valve closes at 400 bar\"'"

STATEMENTS: tuple[tuple[str, ...], ...] = (
    # What others said.
    (f"UPDATE events SET after = {EVE} WHERE id = 'valve'",),
    (f"UPDATE events SET before = {EVE} WHERE id = 'valve'",),
    ("UPDATE events SET reason = 'said by eve'",),
    (f"UPDATE entries SET data = {EVE} WHERE id = 'valve'",),
    (f"UPDATE events SET after = {EVE} WHERE id = 'valve'", f"UPDATE entries SET data = {EVE} WHERE id = 'valve'"),
    (f"UPDATE entries SET data = {EVE} WHERE id = 'valve'", f"UPDATE events SET after = {EVE} WHERE id = 'valve'"),
    ("UPDATE entries SET version = version + 1 WHERE id = 'valve'",),
    ("UPDATE entries SET updated_at = '2000' WHERE id = 'valve'",),
    # Back to an earlier version, and to nothing, in the record alone or in the event alone.
    ("UPDATE entries SET version = 1, data = '\"draft\"' WHERE id = 'valve'",),
    ("UPDATE entries SET data = '\"draft\"' WHERE id = 'valve'",),
    ("UPDATE entries SET data = NULL WHERE id = 'valve'",),
    ("UPDATE events SET after = NULL WHERE id = 'valve' AND version = 2",),
    ("UPDATE events SET actor = 'eve/agent'",),
    ("UPDATE events SET at = '2000'",),
    ("UPDATE events SET seq = DEFAULT",),
    ("DELETE FROM events",),
    ("DELETE FROM entries",),
    ("TRUNCATE events",),
    ("UPDATE entries SET id = 'other' WHERE id = 'valve'",),
    # A blank is one for the collections of which a purge keeps a part, and only of the parts that it blanks.
    ("UPDATE events SET after = '\"\"' WHERE id = 'valve'", "UPDATE entries SET data = '\"\"' WHERE id = 'valve'"),
    *(
        (
            f"UPDATE events SET after = '{forged}' WHERE collection = 'change'",
            f"UPDATE entries SET data = '{forged}' WHERE collection = 'change'",
        )
        for forged in (
            '{"operation":"put","rationale":"purged","details":{"by":"eve"}}',
            '{"operation":"delete","rationale":"purged","details":{}}',
            '{"operation":"put","rationale":"eve","details":{}}',
            '"purged"',
            "[]",
        )
    ),
    # What was deleted, which is what comes back with a restore.
    (f"UPDATE tombstones SET data = {EVE}",),
    ("UPDATE tombstones SET reason = 'said by eve'",),
    ("DELETE FROM tombstones",),
    (
        "DELETE FROM tombstones",
        f"INSERT INTO tombstones (collection, id, version, data, deleted_at, actor, reason) SELECT collection, id,"
        f" version, {EVE}, updated_at, 'alice', '' FROM entries WHERE data IS NULL",
    ),
    # Forged numbers and times.
    _put("huge", 1, "NULL", EVE, seq=str(_FAR)),
    _put("low", 1, "NULL", EVE, seq="-5"),
    _put("next", 1, "NULL", EVE, seq="(SELECT max(seq) + 2 FROM events)"),
    _put("early", 1, "NULL", EVE, at="'2000-01-01T00:00:00.000000Z'"),
    _put("late", 1, "NULL", EVE, at="'2999-01-01T00:00:00.000000Z'"),
    _put("jump", 7, "NULL", EVE),
    _put("valve", 9, ALICE, EVE),
    # What was there before is what was there before.
    _put("valve", 3, EVE, EVE),
    _put("broken", 1, "NULL", "'this is no JSON'"),
    # A record without an event, and an event without a record.
    _put("alone", 1, "NULL", EVE)[:1],
    (f"INSERT INTO events ({_EVENT}) VALUES ({NOW}, 'agent', 'put', '', 'notes', 'valve', 3, {ALICE}, {EVE})",),
    (f"INSERT INTO events ({_EVENT}) VALUES ({NOW}, 'agent', 'delete', '', 'notes', 'valve', 3, {ALICE}, NULL)",),
    # Where copies look for what was purged, and what the numbers come from.
    (f"INSERT INTO purged OVERRIDING SYSTEM VALUE VALUES ({_FAR}, 'notes', 'valve')",),
    ("INSERT INTO purged (collection, id) VALUES ('notes', 'valve')",),
    (f"SELECT setval('events_seq_seq', {_FAR})",),
    ("SELECT nextval('events_seq_seq')",),
    (
        f"INSERT INTO tombstones (number, collection, id, version, data, deleted_at, actor, reason) OVERRIDING SYSTEM"
        f" VALUE VALUES ({_FAR}, 'notes', 'valve', 3, '1', '', '', '')",
    ),
    # What holds the rules.
    ("ALTER TABLE events DISABLE TRIGGER ALL",),
    ("DROP TRIGGER events_are_append_only ON events",),
    ("CREATE OR REPLACE FUNCTION check_event() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",),
    ("SET session_replication_role = replica",),
    ("SET ROLE clew_members_owner",),
    ("GRANT clew_members_owner TO CURRENT_USER",),
    ("INSERT INTO versions VALUES (99, '', 99, '', '')",),
    ("UPDATE settings SET value = 'other'",),
    ("DELETE FROM settings",),
    # Tables of one's own that a function could take for the project's.
    (
        "CREATE TEMPORARY TABLE entries (collection text, id text, version bigint, data text, updated_at text)",
        "CREATE TEMPORARY TABLE events AS SELECT * FROM clew_members.events",
        f"UPDATE clew_members.entries SET data = {EVE} WHERE id = 'valve'",
        f"UPDATE pg_temp.events SET after = {EVE}",
    ),
)

SETTINGS = (
    ("SET clew.purging = 'on'", "SET clew.moving = 'on'", "SET search_path = clew_members"),
    (),
    ("SET clew.purging = 'on'",),
    ("SET clew.purging = 'on'", "SET clew.moving = 'on'", "SET search_path = pg_temp, clew_members"),
    ("SET clew.purging = 'on'", "SET CONSTRAINTS ALL IMMEDIATE"),
)
"""The first one allows what all of them allow together; the others are for a rule that looks at one of them."""

LOCKS = (
    "LOCK TABLE clew_members.turn IN SHARE UPDATE EXCLUSIVE MODE",
    "LOCK TABLE clew_members.versions IN SHARE UPDATE EXCLUSIVE MODE",
    "LOCK TABLE clew_members.events IN SHARE MODE",
    "LOCK TABLE clew_members.entries IN SHARE MODE",
    "SELECT * FROM clew_members.entries FOR SHARE",
    "SELECT clew_members.lock_writers()",
    "SELECT pg_advisory_lock({key})",
    "SELECT pg_advisory_lock_shared({key})",
)


@dataclass(frozen=True)
class Members:
    server: Postgres
    database: str

    def url(self, user: str) -> str:
        return self.server.url(self.database, user)

    def open(self, user: str = "alice", patience: float = 30.0) -> Any:
        from clew.store.postgres.engine import open_postgres

        return open_postgres(Address(self.url(user)), _SCHEMA, busy_timeout=patience)


@contextmanager
def members() -> Iterator[Members]:
    from clew.store.postgres.roles import init

    with own_server() as server, server.database("members") as url:
        for user in ("alice", *ROLES):
            server.execute(f"CREATE USER {user}")
        init(Address(url), _SCHEMA, {"reader": ("reader",), "writer": ("alice", "writer")})
        yield Members(server, "members")


def run(rounds: int) -> Outcome:
    """Every statement with every setting, as each role; `rounds` bounds how many settings."""
    with members() as team, TemporaryDirectory() as folder:
        attack = _Attack(team, Path(folder) / "copy.db")
        with closing(attack.copy):
            for role in ROLES:
                for settings in SETTINGS[:rounds]:
                    for statements in STATEMENTS:
                        attack.tries(role, settings, statements)
            for role in ("reader", "stranger"):
                for lock in LOCKS:
                    attack.locks(role, lock)
        return Outcome(attack.tried, tuple(attack.faults), {"refused": attack.refused})


class _Attack:
    def __init__(self, team: Members, place: Path) -> None:
        self.team = team
        self.tried = self.refused = 0
        self.faults: list[str] = []
        self._written = 0
        with closing(team.open()) as store:
            store.put("notes", "valve", "draft", actor="agent", reason="a guess")
            store.put("notes", "valve", "The valve closes at 40 bar", actor="agent", reason="measured")
            store.put("change", "c", {"operation": "put", "rationale": "why", "details": {"a": 1}}, actor="agent")
            store.put("notes", "pump", "The pump starts at 3 bar", actor="agent")
            with store.transaction(actor="agent", reason="moved") as transaction:
                transaction.delete("notes", "pump")
        self.copy = ReplicatedStore(lambda: team.open("reader"), place, fresh_seconds=0)
        self._before = self._state()

    def _state(self) -> list[list[tuple[object, ...]]]:
        return [
            self.team.server.execute(f"SELECT * FROM {_SCHEMA}.{table} ORDER BY 1, 2", self.team.database)
            for table in ("entries", "tombstones", "events", "purged", "settings", "versions")
        ]

    def tries(self, role: str, settings: tuple[str, ...], statements: tuple[str, ...]) -> None:
        import psycopg

        self.tried += 1
        said = f"{role}: {'; '.join((*settings, *statements))}"
        try:
            with closing(psycopg.connect(self.team.url(role), options=f"-c search_path={_SCHEMA}")) as connection:
                for statement in (*settings, *statements):
                    connection.execute(statement.encode())
                connection.commit()
        except psycopg.Error:
            self.refused += 1
        if (state := self._state()) != self._before:
            self._before = state
            self.faults.append(f"changed by {said}")

    def locks(self, role: str, lock: str) -> None:
        """Whoever holds or waits for a lock: an honest writer writes, and its copy shows it."""
        import psycopg

        from clew.store.postgres.connections import lock_of

        self.tried += 1
        with psycopg.connect(self.team.url(role)) as connection:
            try:
                connection.execute(lock.format(key=lock_of(_SCHEMA)).encode())
            except psycopg.Error:
                self.refused += 1
            self._written += 1
            try:
                with closing(self.team.open(patience=5.0)) as store:
                    store.put("written", str(self._written), self._written, actor="agent")
                    with store.transaction(actor="agent") as transaction:
                        transaction.put("written", f"{self._written} too", self._written)
                if self.copy.count("written") != 2 * self._written:
                    self.faults.append(f"not copied while {role} holds {lock}")
            except ClewError as error:
                self._written -= 1
                self.faults.append(f"stopped by {role} with {lock}: {error}")
