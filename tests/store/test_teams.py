"""Projects of a team in one database: roles, who wrote what, and nothing of one project in another."""

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.postgres import Postgres

from clew.errors import ClewError, InvalidArgument, StoreBusy, StoreError, StoreReadOnly, StoreTooNew, StoreUnreachable
from clew.store.person import on_behalf_of
from clew.store.replica import ReplicatedStore
from clew.text.database_address import Address

psycopg = pytest.importorskip("psycopg")

from clew.store.postgres import connections  # noqa: E402
from clew.store.postgres.engine import PostgresStore, open_postgres  # noqa: E402
from clew.store.postgres.migrations import MIGRATIONS, PostgresMigration, check_version, found_version, migrate  # noqa: E402
from clew.store.postgres.roles import init  # noqa: E402

USERS = ("reader", "writer", "stranger")


class Team:
    """A database with two projects, `clew_red` and `clew_blue`. The users have roles in the red one only."""

    def __init__(self, server: Postgres, url: str) -> None:
        self.name = url.rpartition("/")[0] and url.split("/")[3].partition("?")[0]
        self.server = server
        self.address = Address(url)
        for user in USERS:
            server.execute(f"CREATE USER {self.user(user)}")
        red = {"reader": (self.user("reader"),), "writer": (self.user("writer"),)}
        init(self.address, self.schema("red"), red)  # type: ignore[arg-type]
        init(self.address, self.schema("blue"), {})

    def user(self, name: str) -> str:
        # Users and roles belong to the whole server, which other tests use too.
        return f"{self.name}_{name}"

    def schema(self, colour: str) -> str:
        return f"{self.name}_{colour}"

    def as_user(self, user: str) -> Address:
        return Address(self.server.url(self.name, self.user(user)))

    def open(self, colour: str, user: str | None = None) -> PostgresStore:
        address = self.as_user(user) if user else self.address
        return open_postgres(address, self.schema(colour), busy_timeout=300.0)


@pytest.fixture
def team(postgres: Postgres, database: str) -> Iterator[Team]:
    made = Team(postgres, database)
    yield made
    postgres.execute(f"DROP OWNED BY {', '.join(map(made.user, USERS))}", made.name)
    for user in USERS:
        postgres.execute(f"DROP USER {made.user(user)}")
    for colour in ("red", "blue"):
        postgres.execute(f"DROP SCHEMA {made.schema(colour)} CASCADE", made.name)
        for role in ("owner", "writer", "reader"):
            postgres.execute(f"DROP ROLE {made.schema(colour)}_{role}")


def put(store: PostgresStore, id: str, data: Any, actor: str = "agent") -> None:
    with store.transaction(actor=actor) as transaction:
        transaction.put("notes", id, data)


# Verifies: REQ-d00481-A, REQ-d00481-C
def test_the_users_of_the_database_are_the_actors_of_what_they_write(team: Team) -> None:
    with closing(team.open("red", "writer")) as store:
        put(store, "1", "mine")
        with on_behalf_of("alice"):
            put(store, "2", "alice's")
        with store.transaction(actor="agent") as transaction:
            gone = transaction.delete("notes", "1")
        writer = team.user("writer")
        assert [event.actor for event in store.events()] == [
            f"{writer}/agent",
            f"{writer}/alice/agent",
            f"{writer}/agent",
        ]
        assert gone.actor == f"{writer}/agent"


# Verifies: REQ-d00481-C
def test_nobody_writes_in_the_name_of_another(team: Team) -> None:
    red = team.schema("red")
    with psycopg.connect(team.as_user("writer").url) as connection:
        connection.execute("SET clew.moving = 'on'")
        (at,) = connection.execute(f"SELECT {connections.NOW}").fetchone() or ("",)
        connection.execute(f"INSERT INTO {red}.entries VALUES ('notes', 'forged', 1, '1', %s)", (at,))
        connection.execute(
            f"INSERT INTO {red}.events (at, actor, operation, reason, collection, id, version, after)"
            " VALUES (%s, 'the boss', 'put', '', 'notes', 'forged', 1, '1')",
            (at,),
        )
    with closing(team.open("red")) as store:
        assert [event.actor for event in store.events()] == [f"{team.user('writer')}/the boss"]


# Verifies: REQ-d00481-A
def test_who_may_make_roles_and_schemas_needs_no_more_to_begin(team: Team) -> None:
    schema, stranger = team.schema("green"), team.user("stranger")
    team.server.execute(f"ALTER USER {stranger} CREATEROLE")
    team.server.execute(f"GRANT CREATE ON DATABASE {team.name} TO {stranger}")
    try:
        init(team.as_user("stranger"), schema, {"writer": (team.user("writer"),)})
        # Once more, as after an update.
        assert init(team.as_user("stranger"), schema, {}) == []
        with closing(team.open("green", "writer")) as store:
            put(store, "1", "mine")
            assert [event.actor for event in store.events()] == [f"{team.user('writer')}/agent"]
    finally:
        team.server.execute(f"DROP SCHEMA {schema} CASCADE", team.name)
        for role in ("owner", "writer", "reader"):
            team.server.execute(f"DROP ROLE {schema}_{role}")


# Verifies: REQ-d00481-B
def test_a_reader_reads_and_cannot_write_whatever_is_asked(team: Team) -> None:
    with closing(team.open("red")) as store:
        put(store, "1", "one")
        job = store.start_job("index")
    with closing(team.open("red", "reader")) as store:
        assert store.describe()["read_only"]
        assert [record.data for record in store.scan("notes")] == ["one"]
        asked = (
            lambda: put(store, "2", "two"),
            lambda: store.put("notes", "2", "two", actor="agent"),
            lambda: store.start_job("index"),
            lambda: store.cancel_job(job.id),
            lambda: store.setting("new", b"value"),
            lambda: store.erase("notes", ["1"]),
            lambda: store.rewrite(lambda collection, id, value: None),
            store.compact,
        )
        for ask in asked:
            with pytest.raises(StoreReadOnly):
                ask()
        # Not only because the client holds back.
        store._connections.may_write = True
        for ask in asked:
            with pytest.raises(StoreReadOnly):
                ask()
        assert [record.data for record in store.scan("notes")] == ["one"]


# Verifies: REQ-d00481-B
def test_a_writer_cannot_change_what_happened(team: Team) -> None:
    with closing(team.open("red", "writer")) as store:
        put(store, "1", "one")
    red = team.schema("red")
    for statement in (
        f"UPDATE {red}.events SET actor = 'another'",
        f"UPDATE {red}.events SET after = 'null'",
        f"DELETE FROM {red}.events",
        f"TRUNCATE {red}.events",
        f"DROP TABLE {red}.events",
        f"ALTER TABLE {red}.events DISABLE TRIGGER ALL",
        f"DELETE FROM {red}.entries",
        f"INSERT INTO {red}.versions VALUES (99, '', 99, '', '')",
    ):
        with psycopg.connect(team.as_user("writer").url) as connection, pytest.raises(psycopg.Error):
            connection.execute(statement)
    with closing(team.open("red")) as store:
        assert store.get("notes", "1") is not None
        assert len(store.events()) == 1


# Verifies: REQ-d00481-D
def test_random_reads_show_nothing_of_another_project(team: Team) -> None:
    chance = random.Random(22)
    with closing(team.open("red")) as red, closing(team.open("blue")) as blue:
        for store, colour in ((red, "red"), (blue, "blue")):
            with store.transaction(actor="agent") as transaction:
                for number in range(50):
                    transaction.put("notes", str(number), {"of": colour, "number": number})
        for _ in range(250):
            store, colour = chance.choice(((red, "red"), (blue, "blue")))
            id = str(chance.randrange(60))
            found = [store.get("notes", id), *store.get_many("notes", [id, "7"]).values()]
            found += store.scan("notes", after=id, limit=3)
            assert {record.data["of"] for record in found if record is not None} <= {colour}
            assert {event.after["of"] for event in store.events(id=id, limit=3)} <= {colour}


# Verifies: REQ-d00481-D
def test_a_user_without_a_role_in_a_project_reads_nothing_of_it(team: Team) -> None:
    with closing(team.open("blue")) as store:
        put(store, "1", "one")
    for user in ("stranger", "writer"):
        with pytest.raises(StoreError, match="no role in the project") as refused:
            team.open("blue", user)
        assert "SELECT" not in str(refused.value)
        with psycopg.connect(team.as_user(user).url) as connection, pytest.raises(psycopg.Error):
            connection.execute(f"SELECT * FROM {team.schema('blue')}.entries")


# Verifies: REQ-d00481-A
def test_a_role_for_a_user_that_is_not_there_changes_nothing(team: Team) -> None:
    with pytest.raises(InvalidArgument, match="nobody_here"):
        init(team.address, team.schema("green"), {"writer": ("nobody_here",)})
    with pytest.raises(ClewError, match="holds nothing of this project"):
        team.open("green")


# Verifies: REQ-d00482-D
def test_a_schema_that_needs_a_newer_clew_is_refused_with_both_versions(database: str) -> None:
    address = Address(database)
    future = PostgresMigration(99, "later", 99, ("CREATE TABLE later ()",))
    with psycopg.connect(database, autocommit=True) as connection:
        migrate(connection, "clew_new", (*MIGRATIONS, future))
    with pytest.raises(StoreTooNew) as caught:
        open_postgres(address, "clew_new")
    assert caught.value.data == {"found": 99, "needed": 99, "supported": MIGRATIONS[-1].number}


# Verifies: REQ-d00482-D
def test_a_server_works_on_the_schema_of_the_next_version_and_the_next_on_this_one(database: str) -> None:
    present = MIGRATIONS[-1].number
    addition = PostgresMigration(present + 1, "one more column", present, ("ALTER TABLE jobs ADD COLUMN lease text",))
    with psycopg.connect(database, autocommit=True) as connection:
        migrate(connection, "clew_near")
        # The next version on a schema that nobody has brought up to date yet.
        check_version(*found_version(connection, "clew_near"), "The store", known=present + 1, works_from=present)
        assert migrate(connection, "clew_near", (*MIGRATIONS, addition)) == [present + 1]
        assert migrate(connection, "clew_near", (*MIGRATIONS, addition)) == []
    with closing(open_postgres(Address(database), "clew_near")) as store:
        put(store, "1", "one")
        job = store.start_job("index")
        assert store.finish_job(job.id).state == "done"
    with pytest.raises(StoreError, match="store init"):
        check_version(present, present, "The store", known=present + 5, works_from=present + 4)


# Verifies: REQ-d00480-C
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:s3cr%40t@db.example.org/clew",
        "postgresql://ada@db.example.org/clew?password=s3cr%40t",
        "postgres://:s3cr%40t@db.example.org:5433/clew?sslmode=require",
    ],
)
def test_no_form_of_an_address_shows_its_password(url: str) -> None:
    address = Address(url)
    for shown in (str(address), repr(address), f"{address}", address.cleaned(f"bad password s3cr@t in {url}")):
        assert "s3cr" not in shown
    assert "db.example.org" in str(address)


# Verifies: REQ-o00002-A
def test_a_failed_statement_that_the_block_swallows_takes_the_transaction_back_with_an_error(database: str) -> None:
    def swallow(store: PostgresStore) -> None:
        with store.moving() as connection:
            connection.execute("INSERT INTO settings (name, value) VALUES (?, ?)", ("kept", b"1"))
            with pytest.raises(psycopg.errors.DivisionByZero):
                connection.execute("SELECT 1 / 0")

    with closing(open_postgres(Address(database), "clew_one", create=True)) as store:
        with pytest.raises(StoreError, match="was rolled back"):
            swallow(store)
        assert store.found_setting("kept") is None


Hardened = Literal["never", "before", "meanwhile"]
HARDENED: tuple[Hardened, ...] = ("never", "before", "meanwhile")


# Verifies: REQ-d00483-G, REQ-d00483-H
@pytest.mark.parametrize("hardened", HARDENED)
@pytest.mark.parametrize("write", [put, lambda store, id, data: store.put("notes", id, data, actor="agent")])
def test_a_write_is_acknowledged_when_it_is_on_the_disk(
    team: Team, hardened: Hardened, write: Callable[[PostgresStore, str, Any], object]
) -> None:
    red = team.schema("red")
    for statement in (
        f"CREATE TABLE {red}.places (place pg_lsn)",
        f"CREATE FUNCTION {red}.note_place() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS"
        f" $$ BEGIN INSERT INTO {red}.places VALUES (pg_current_wal_insert_lsn()); RETURN NULL; END $$",
        f"CREATE TRIGGER places AFTER INSERT ON {red}.events FOR EACH ROW EXECUTE FUNCTION {red}.note_place()",
    ):
        team.server.execute(statement, team.name)
    if hardened == "before":
        harden(team)
    with closing(team.open("red", "writer")) as store, psycopg.connect(team.address.url, autocommit=True) as database:
        for number in range(20):
            if hardened == "meanwhile" and number == 5:
                harden(team)
            write(store, "one", number)
            (place,) = database.execute(f"SELECT max(place) FROM {red}.places").fetchone() or ("",)
            assert _is_on_disk(database, place)
        assert {event.actor for event in store.events()} == {f"{team.user('writer')}/agent"}
        assert [event.after for event in store.events()] == list(range(20))


# Verifies: REQ-d00483-G, REQ-d00483-H
@pytest.mark.parametrize("hardened", HARDENED)
def test_events_are_copied_when_they_are_on_the_disk(team: Team, tmp_path: Path, hardened: Hardened) -> None:
    if hardened == "before":
        harden(team)
    write = f"""
        INSERT INTO {team.schema("red")}.events (at, actor, operation, reason, collection, id, version, after)
        VALUES ('', 'tests', 'put', '', 'notes', 'one', %s, '1')
    """
    with (
        closing(ReplicatedStore(lambda: team.open("red", "reader"), tmp_path / "copy.db")) as store,
        psycopg.connect(team.address.url, autocommit=True) as database,
    ):
        database.execute("SET synchronous_commit = off")
        database.execute("SET clew.moving = on")
        for version in range(1, 6 if hardened != "never" else 21):
            if hardened == "meanwhile" and version == 3:
                harden(team)
            database.execute(write.encode(), (version,))
            (place,) = database.execute("SELECT pg_current_wal_insert_lsn()").fetchone() or ("",)
            store.pull()
            assert store.events(latest_first=True, limit=1)[0].version == version
            assert _is_on_disk(database, place)


# Verifies: REQ-d00483-G
def test_reading_events_waits_for_no_disk(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(team.open("red", "writer")) as store:
        put(store, "1", "one")
        monkeypatch.setattr(
            connections.PostgresConnections, "demand_on_disk", lambda self, lent: pytest.fail("It waits.")
        )
        assert store.events(collection="notes")


def harden(team: Team) -> None:
    """Only a superuser may write a note into the database's log."""
    for (function,) in team.server.execute(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE proname = 'pg_logical_emit_message'", team.name
    ):
        team.server.execute(f"REVOKE EXECUTE ON FUNCTION {function} FROM PUBLIC", team.name)


# Verifies: REQ-d00483-H
def test_a_reader_that_may_only_wait_for_the_disk_waits_longer_each_time_and_not_for_ever(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stuck:
        """A database that never writes its log."""

        def execute(self, query: str, _values: object = ()) -> "Stuck":
            asked.append(query)
            return self

        def fetchone(self) -> tuple[object]:
            return (False,) if "flush_lsn" in asked[-1] else ("0/1",)

    asked: list[str] = []
    waits: list[float] = []
    monkeypatch.setattr(connections.time, "sleep", waits.append)
    harden(team)
    with closing(team.open("red", "reader")) as store, pytest.raises(StoreBusy, match="may not ask for it") as raised:
        store._connections.demand_on_disk(Stuck())
    assert "pg_logical_emit_message" in raised.value.hint
    assert not any("emit" in query for query in asked)
    assert waits == sorted(waits)
    assert 30 < sum(waits) < 60


# Verifies: REQ-d00483-H
@pytest.mark.parametrize("ends", ["busy", "lost"])
def test_a_committed_write_that_may_not_be_on_the_disk_is_looked_for_before_it_is_written_again(
    team: Team, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    def look(lent: Any, *_: object) -> bool:
        if ends == "lost":
            lent.close()
            lent.execute("SELECT 1")
        return False

    with closing(team.open("red", "writer")) as store:
        put(store, "1", "one")
        harden(team)
        monkeypatch.setattr(connections, "_is_on_disk", look)
        with pytest.raises(StoreError) as raised:
            put(store, "2", "two")
        assert type(raised.value) is (StoreBusy if ends == "busy" else StoreUnreachable)
        assert "Look before you write it again" in raised.value.hint
        assert "ry again" not in raised.value.hint
        assert [event.id for event in store.events(collection="notes")] == ["1", "2"]


def _is_on_disk(database: Any, place: str) -> bool:
    (found,) = database.execute("SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn", (place,)).fetchone()
    return bool(found)
