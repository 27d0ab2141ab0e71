"""Numbered steps of the search index in a database: what an owner takes, what a writer cannot do, and for whom a step
does not wait."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clew.config import EmbedSettings
from clew.errors import StoreTooNew
from clew.operation.paging import Cursors
from clew.search.engine import SearchEngine
from clew.search.question import Question
from clew.search.units import Scope, Unit
from clew.store.sql.conditions import Condition
from clew.text.database_address import Address

pytest.importorskip("psycopg")

import psycopg

from clew.search.database import connecting, tables, vectors
from clew.search.database.connecting import Database
from clew.search.database.opening import in_database
from clew.search.database.tables import STEPS
from clew.search.database.units import DatabaseUnits
from clew.search.database.vectors import DatabaseVectors
from clew.store.postgres.migrations import MigrationTimeouts, PostgresMigration, migrate, taken_steps

Made = Callable[[str, str, str], None]

EARLIER = """
    CREATE FUNCTION make_space(named text) RETURNS int
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE made int;
    BEGIN
        INSERT INTO spaces (name) VALUES (named) ON CONFLICT (name) DO UPDATE SET seen_at = now()
            RETURNING number INTO made;
        EXECUTE format('CREATE TABLE IF NOT EXISTS vectors_%s PARTITION OF vectors FOR VALUES IN (%s)', made, made);
        RETURN made;
    END $$;
    CREATE FUNCTION index_space(space int, embedder int, dimensions int) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    BEGIN
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS vectors_%s_%s ON vectors_%s'
            ' USING hnsw ((vector::halfvec(%s)) halfvec_ip_ops) WHERE embedder = %s',
            space, embedder, space, dimensions, embedder
        );
        EXECUTE format('ANALYZE vectors_%s', space);
    END $$;
    CREATE TABLE search_steps (number int PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL DEFAULT now())
"""
"""What the first versions made beside the tables, as they wrote it."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, a step that nobody keeps from being taken is taken."""
    monkeypatch.setattr(connecting, "ON_START", MigrationTimeouts(lock=0, statement=0))


@pytest.fixture
def writer(database: str) -> Iterator[str]:
    role = f"writer_{os.getpid()}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} NOLOGIN")
        try:
            yield role
        finally:
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


def earlier(url: str, schema: str, writer: str | None = None) -> None:
    """Make an index as the first versions did, with the rights that they gave to a writer."""
    with psycopg.connect(url, autocommit=True) as connection:
        migrate(connection, schema, (tables.TABLES,))
        connection.execute(f"DROP TABLE {schema}.versions")
        connection.execute(f"SET search_path TO {schema}, public")
        connection.execute(EARLIER)
        if writer is not None:
            given = "SELECT, INSERT, UPDATE, DELETE"
            connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {writer}")
            connection.execute(f"GRANT {given} ON ALL TABLES IN SCHEMA {schema} TO {writer}")
            connection.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT {given} ON TABLES TO {writer}")


def present(url: str, schema: str, writer: str) -> None:
    """Make an index as `clew store init` does."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables.make_tables(connection, schema)
        tables.grant(connection, schema, reader=writer, writer=writer)


def taken(url: str, schema: str) -> set[int]:
    with psycopg.connect(url) as connection:
        return set(taken_steps(connection, schema)) - {tables.TABLES.number}


def has_samples(url: str, schema: str) -> bool:
    look = "SELECT 1 FROM pg_indexes WHERE schemaname = %s AND indexname = 'units_by_sample'"
    with psycopg.connect(url) as connection:
        return connection.execute(look, (schema,)).fetchone() is not None


def is_searched(url: str, schema: str) -> bool:
    """Whether a server that starts now can ask the index."""
    with closing(DatabaseUnits(Database(Address(url), schema))) as units, units.asked() as reading:
        return reading.sample(Condition("units.part IN (?)", ("unit",)), 50) == []


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == connecting.log.name]


# Verifies: REQ-d00490-G
def test_servers_of_neighbouring_versions_work_on_one_index(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_written(id: str) -> bool:
        with closing(DatabaseUnits(Database(Address(database), "near"))) as units:
            units.put([Unit(id=id, part="unit", title="Ropes", body="Ropes are coiled clockwise.")])
            with units.asked() as reading:
                return reading.numbers_of([id])[id] in reading.sample(Condition("units.part IN (?)", ("unit",)), 50)

    earlier(database, "near")
    later = PostgresMigration(
        max(step.number for step in STEPS) + 1, "later", 1, ("ALTER TABLE spaces ADD COLUMN later text",)
    )
    for known in ((), STEPS, (*STEPS, later)):
        monkeypatch.setattr(tables, "STEPS", known)
        assert is_written(f"by the server that knows {len(known)} steps")
        assert taken(database, "near") == {step.number for step in known}
    monkeypatch.setattr(tables, "STEPS", STEPS)
    assert is_written("by the earlier server again")
    with psycopg.connect(database, autocommit=True) as connection:
        # What the first versions ask, whoever made the index.
        assert connection.execute("SELECT version FROM near.search_version").fetchall() == [(1,)]
        migrate(connection, "near", (PostgresMigration(99, "much later", 99, ()),))
    with pytest.raises(StoreTooNew, match="search index in the schema near"):
        is_written("by a server that cannot know what is needed")


# Verifies: REQ-d00490-G
def test_a_writer_leaves_the_steps_to_the_owner(database: str, writer: str) -> None:
    earlier(database, "waiting", writer)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"SET ROLE {writer}")
        tables.make_tables(connection, "waiting")
        tables.take_steps(connection, "waiting", tables.ON_DEMAND)
        assert taken(database, "waiting") == set()
        connection.execute("RESET ROLE")
        # The owner takes them, and somebody else gave the rights: what is made now is not the writer's to read.
        connection.execute(f"ALTER DEFAULT PRIVILEGES IN SCHEMA waiting REVOKE ALL ON TABLES FROM {writer}")
        assert is_searched(database, "waiting")
        connection.execute(f"SET ROLE {writer}")
        tables.make_tables(connection, "waiting")


# Verifies: REQ-d00490-G
@pytest.mark.parametrize("make", [earlier, present])
def test_a_writer_cannot_mark_a_step_as_taken(database: str, writer: str, make: Made) -> None:
    def closed() -> set[str]:
        look = """
            SELECT relname FROM pg_class WHERE relnamespace = 'kept'::regnamespace AND relkind IN ('r', 'p')
            AND NOT has_table_privilege(%s, oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
        """
        return {name for (name,) in connection.execute(look, (writer,))}

    noted_in = {"versions", "search_version"} | ({"search_steps"} if make is earlier else set())
    make(database, "kept", writer)
    with psycopg.connect(database, autocommit=True) as connection:
        assert closed() == (noted_in if make is present else set())
        # An owner starts a server.
        assert is_searched(database, "kept")
        assert closed() == noted_in
        tables.grant(connection, "kept", reader=writer, writer=writer)
        assert closed() == noted_in
        connection.execute(f"SET ROLE {writer}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            migrate(connection, "kept", (PostgresMigration(99, "never", 99, ()),))


_TRAP = """
    CREATE TEMPORARY TABLE spaces (number int DEFAULT 99, name text UNIQUE, seen_at timestamptz);
    CREATE TEMPORARY TABLE caught (who text);
    GRANT ALL ON spaces, caught TO PUBLIC;
    CREATE FUNCTION pg_temp.trap() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO pg_temp.caught VALUES (current_user);
        RETURN new;
    END $$;
    CREATE TRIGGER trap BEFORE INSERT ON spaces FOR EACH ROW EXECUTE FUNCTION pg_temp.trap();
"""


# Verifies: REQ-d00490-H
@pytest.mark.parametrize("make", [earlier, present])
def test_no_code_of_a_writer_runs_as_the_owner(database: str, writer: str, make: Made) -> None:
    def caught() -> list[tuple[str]]:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(f"SET ROLE {writer}")
            connection.execute(_TRAP)
            connection.execute("SELECT guarded.make_space('x')")
            return connection.execute("SELECT who FROM caught").fetchall()

    make(database, "guarded", writer)
    assert caught() == ([("postgres",)] if make is earlier else [])
    # An owner starts a server.
    assert is_searched(database, "guarded")
    assert caught() == []


# Verifies: REQ-d00490-B, REQ-d00490-G
def test_an_index_that_an_earlier_version_made_indexes_its_vectors(database: str) -> None:
    earlier(database, "indexed")
    assert is_searched(database, "indexed")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("SELECT indexed.index_space(1, 1, 4)")
        ((definition,),) = connection.execute("SELECT pg_get_indexdef('indexed.vectors_1_1'::regclass)").fetchall()
    assert "USING hnsw" in definition


_SPY = """
    CREATE FUNCTION public.spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'spied'; END $$;
    CREATE TABLE public.versions (number int PRIMARY KEY, name text, needs int, at text);
    INSERT INTO public.versions (number, needs) SELECT number, 1 FROM generate_series(1, 50) AS made (number);
    CREATE TRIGGER spy BEFORE INSERT ON public.versions FOR EACH ROW EXECUTE FUNCTION public.spy();
    CREATE TABLE public.vectors_1_1 (number int);
    CREATE FUNCTION public.format(text, int, int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'spied'; END $$;
    CREATE FUNCTION public.format(text, int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'spied'; END $$;
"""


# Verifies: REQ-d00490-H
def test_what_somebody_made_in_public_is_not_taken_for_a_part_of_the_index(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(database) as connection:
        connection.execute(_SPY)
    earlier(database, "first")
    for schema in ("first", "second"):
        assert is_searched(database, schema)
        assert taken(database, schema) == {step.number for step in STEPS}
        assert has_samples(database, schema)
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM public.versions").fetchone() == (50,)
        connection.execute("SELECT first.make_space('another'), first.index_space(1, 1, 4)")
        connection.rollback()
    built: list[int] = []

    class Noting(DatabaseVectors):
        def _build(self, connection: object, space: int, embedder: int, dimensions: int) -> None:
            built.append(space)

    monkeypatch.setattr(vectors, "INDEXED_FROM", 0)
    with closing(Database(Address(database), "first")) as search:
        Noting(search, None)._build_indexes(1, 4, lambda *_: None)  # type: ignore[arg-type]
        assert built == [1, search.space]


# Verifies: REQ-d00490-H
def test_a_step_that_fails_keeps_no_server_from_searching(database: str, caplog: pytest.LogCaptureFixture) -> None:
    earlier(database, "guarded")
    name = database.split("/")[3].partition("?")[0]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("SELECT guarded.make_space('own')")
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    assert is_searched(database, "guarded")
    assert taken(database, "guarded") == set()
    (said,) = warnings(caplog)
    assert "read-only transaction" in said
    assert "`clew store init`" in said
    # Who takes the steps on demand is told.
    with psycopg.connect(database, autocommit=True) as connection, pytest.raises(psycopg.Error, match="read-only"):
        tables.take_steps(connection, "guarded", tables.ON_DEMAND)


# Verifies: REQ-d00490-H
def test_a_server_that_starts_does_not_wait_for_writers_and_takes_the_step_later(
    database: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier(database, "written")
    assert (tables.ON_START.lock, tables.ON_DEMAND.lock) == (2, 20)
    with psycopg.connect(database) as writer, monkeypatch.context() as limits:
        limits.setattr(connecting, "ON_START", MigrationTimeouts(lock=1, statement=0))
        writer.execute("LOCK TABLE written.units IN ROW EXCLUSIVE MODE")
        assert is_searched(database, "written")
        (said,) = warnings(caplog)
        assert "lock timeout" in said
        # Those that wait for nobody are taken all the same.
        assert taken(database, "written") == {3}
        assert not has_samples(database, "written")
        # Nothing of it is left for which another writer would wait.
        with psycopg.connect(database) as other:
            other.execute("LOCK TABLE written.units IN ROW EXCLUSIVE MODE NOWAIT")
    caplog.clear()
    assert is_searched(database, "written")
    assert warnings(caplog) == []
    assert has_samples(database, "written")


# Verifies: REQ-d00490-G, REQ-d00490-H
def test_what_a_step_makes_belongs_to_the_owner_of_the_tables(database: str, caplog: pytest.LogCaptureFixture) -> None:
    role, name = f"owner_{os.getpid()}", database.split("/")[3].partition("?")[0]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        try:
            connection.execute(f"GRANT CREATE ON DATABASE {name} TO {role}")
            earlier(database.replace("postgres@", f"{role}@"), "owned")
            # To take steps in a schema, its owner needs no right to make another one.
            connection.execute(f"REVOKE CREATE ON DATABASE {name} FROM {role}")
            # An administrator looks first.
            assert is_searched(database, "owned")
            assert taken(database, "owned") == {step.number for step in STEPS}
            look = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'owned'"
            assert connection.execute(look).fetchall() == [(role,)]
            assert is_searched(database.replace("postgres@", f"{role}@"), "owned")
            assert warnings(caplog) == []
        finally:
            connection.execute("DROP SCHEMA IF EXISTS owned CASCADE")
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


TEXTS = (
    "Ropes are coiled clockwise, coiled again and hung up.",
    "A knot that holds ropes under load, and a second knot for wet ropes.",
    "The boatswain inspects ropes, knots and blocks before the rowing-boat leaves the harbour.",
    "Harbour dues are paid by boat and by night; a wet night costs the same.",
    "Blocks and ropes of the second boat hang beside the harbour office.",
    "Paint is kept away from ropes; wet paint marks blocks and boat alike.",
)
QUERIES = ("ropes knots harbour blocks", "wet boat night harbour paint", '"wet ropes"', "harb*", "rropes coild boat")


def rankings(url: str, schema: str, folder: Path) -> list[list[tuple[str, float | None]]]:
    """What a server that starts now ranks by words, twice."""
    settings = EmbedSettings(kind="none")
    place = in_database(Address(url), schema, "own", settings) if schema else None
    engine = SearchEngine(folder, cursors=Cursors(b"k" * 32), embed=settings, backend=place)
    with closing(engine):
        if engine.units.count() == 0:
            engine.units.put(
                Unit(id=f"{part}{place}", part=part, title=f"On {text.split()[1]}", body=text)
                for part in ("unit", "memory")
                for place, text in enumerate(TEXTS)
            )
        scope = Scope(parts=("unit", "memory"))
        asked = [Question(text=query, scope=scope, recipe="lexical") for query in (*QUERIES, *QUERIES)]
        return [[(unit.id, unit.signal("lexical")) for unit in engine.rank(each).units] for each in asked]


# Verifies: REQ-d00490-A+G
def test_units_are_ranked_alike_whether_their_terms_are_kept_as_numbers_or_as_texts(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_files = rankings(database, "", tmp_path / "files")
    assert all(in_files)
    assert rankings(database, "numbered", tmp_path) == in_files
    with psycopg.connect(database, autocommit=True) as connection:
        count = "SELECT count(*), count(terms) FROM numbered.streams"
        assert connection.execute(count).fetchone() == (2 * len(TEXTS), 2 * len(TEXTS))
        for written_earlier in ("unit % 3 = 0", "true"):
            connection.execute(f"UPDATE numbered.streams SET terms = NULL WHERE {written_earlier}")
            assert rankings(database, "numbered", tmp_path) == in_files
    monkeypatch.setattr(tables, "STEPS", tuple(step for step in STEPS if step is not tables.NUMBERS_OF_TERMS))
    assert rankings(database, "without", tmp_path) == in_files
    monkeypatch.setattr(tables, "STEPS", STEPS)
    assert rankings(database, "without", tmp_path) == in_files
    assert taken(database, "without") == {step.number for step in STEPS}
