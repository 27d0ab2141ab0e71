"""The database of a search index that cannot be used, where what is said of it holds no secret, or is put back from a
backup."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from clew.config import EmbedSettings
from clew.errors import StoreError, StoreUnreachable
from clew.operation.paging import Cursors
from clew.search.engine import SearchEngine
from clew.search.question import Question
from clew.search.units import Condition, Scope, Unit
from clew.text.database_address import Address

pytest.importorskip("psycopg")

import psycopg

from clew.search.database import connecting, meanings, tables
from clew.search.database.connecting import Database
from clew.search.database.embeddings import as_text, packed
from clew.search.database.meanings import DatabaseMeanings
from clew.search.database.opening import in_database
from clew.search.database.reading import DatabaseReading, numbers_in
from clew.search.database.tables import STEPS, Step
from clew.search.database.units import DatabaseUnits
from clew.store.postgres.together import Asked, ask, prepared


# Verifies: REQ-d00480-C
def test_what_a_driver_says_of_an_address_is_repeated_without_the_password() -> None:
    # The driver quotes what it cannot decode.
    with pytest.raises(StoreError) as caught, Database(Address("postgresql://ada:s%zzcret@db/clew"), "s").connection():
        pass
    assert "percent-encoded" in str(caught.value)
    assert "cret" not in str(caught.value)
    assert caught.value.__cause__ is None


# Verifies: REQ-d00480-C
def test_a_database_that_is_gone_is_named_without_the_password() -> None:
    address = Address("postgresql://ada:s3cret@127.0.0.1:1/clew")
    with (
        pytest.raises(StoreUnreachable, match=r"ada:\*\*\*@127.0.0.1:1") as caught,
        Database(address, "s").connection(),
    ):
        pass
    assert "cret" not in str(caught.value)


TABLES = (
    "spaces",
    "units",
    "unit_bodies",
    "unit_tags",
    "unit_titles",
    "unit_parts",
    "terms",
    "words",
    "streams",
    "postings",
)


# Verifies: REQ-d00490-F
def test_after_a_backup_is_put_back_a_running_server_answers_from_it(search_database: str, tmp_path: Path) -> None:
    address, settings = Address(search_database), EmbedSettings(kind="none")
    place = in_database(address, "restored", "own", settings)
    engine = SearchEngine(tmp_path, cursors=Cursors(b"k" * 32), embed=settings, place=place)

    def found(text: str) -> list[str]:
        question = Question(text=text, scope=Scope(parts=("unit",)), recipe="lexical")
        return [unit.id for unit in engine.rank(question).units]

    engine.units.put([Unit(id="ropes", part="unit", title="Ropes", body="Ropes are coiled clockwise.")])
    with psycopg.connect(search_database, autocommit=True) as connection:
        connection.execute("SET search_path = restored, public")
        for table in TABLES:
            connection.execute(f"CREATE TEMPORARY TABLE kept_{table} AS TABLE {table}")
        engine.units.put([Unit(id="lamp", part="unit", title="Lamp", body="The lamp needs a fuse.")])
        assert (found("fuse"), found("coiled")) == (["lamp"], ["ropes"])
        connection.execute(f"TRUNCATE {', '.join(TABLES)} RESTART IDENTITY")
        for table in TABLES:
            connection.execute(f"INSERT INTO {table} OVERRIDING SYSTEM VALUE TABLE kept_{table}")
        for table in ("units", "terms"):
            connection.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'number'), max(number)) FROM {table}")
    # It has the number of the other one now, and the index is as often written.
    engine.units.put([Unit(id="kestrel", part="unit", title="Kestrel", body="The kestrel sails at noon.")])
    assert (found("kestrel"), found("fuse"), found("coiled")) == (["kestrel"], [], ["ropes"])
    engine.close()


# Verifies: REQ-d00490-B
def test_an_index_of_vectors_is_built_with_bounded_memory_or_what_the_server_is_set_to(database: str) -> None:
    class Building:
        """A connection that builds no index, and notes the memory that there was for it."""

        def execute(self, statement: str, values: tuple[object, ...] = ()) -> object:
            if "index_space" in statement:
                return memory.append(shown("maintenance_work_mem"))
            return connection.execute(statement, values)

    def shown(name: str) -> str:
        ((value,),) = connection.execute(f"SHOW {name}").fetchall()
        return str(value)

    memory: list[str] = []
    address = Address(database)
    search = Database(address, "clew_search")
    try:
        with search.connection() as connection:
            own, limit = shown("maintenance_work_mem"), shown("statement_timeout")
            for wanted in ("64MB", "2GB"):
                connection.execute(f"SET maintenance_work_mem = '{wanted}'")
                DatabaseMeanings(search, None)._build(Building(), 1, 1, 1_024, "vectors_1_1")  # type: ignore[arg-type]
                assert (shown("maintenance_work_mem"), shown("statement_timeout")) == (own, limit)
        assert memory == ["512MB", "2GB"]
    finally:
        search.close()


# Verifies: REQ-d00490-B
def test_a_space_of_which_nothing_is_known_is_empty() -> None:
    reading = DatabaseReading(None, 1)  # type: ignore[arg-type]
    reading.begin([])
    assert reading.state() == ("", 0, 0, 0, 0)
    assert reading.embedded == []


_UNITS = """
    INSERT INTO units (space, id, part, title, content_hash, text_hash, characters, quoted)
    SELECT 1 + number % 2, 'u' || number, CASE WHEN number % 5 = 0 THEN 'note' ELSE 'unit' END, '', '', '', 1, false
    FROM generate_series(1, 5000) AS made (number)
"""


# Verifies: REQ-d00490-G
def test_a_sample_is_read_in_the_order_of_an_index(search_database: str) -> None:
    condition = Condition("units.part IN (?)", ("unit",))
    with closing(Database(Address(search_database), "sampled")) as database, database.connection() as connection:
        reading = DatabaseReading(connection, database.space)
        connection.execute(_UNITS)
        connection.execute("ANALYZE units")
        statement, values = reading.sampling(condition, 200)
        plan = [line for (line,) in connection.execute(f"EXPLAIN {statement}", values)]
        assert sum("units_by_sample" in line for line in plan) == 2
        assert not any("Seq Scan" in line for line in plan)
        sample = reading.sample(condition, 200)
        plain = "SELECT number FROM units WHERE part = 'unit' ORDER BY md5(id), id LIMIT 200"
        assert sample == [number for (number,) in connection.execute(plain)]


# Verifies: REQ-d00490-G
def test_servers_of_neighbouring_versions_work_on_one_index(
    search_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def steps() -> list[int]:
        with psycopg.connect(search_database) as connection:
            found = connection.execute("SELECT to_regclass('near.search_steps') IS NOT NULL").fetchone() == (True,)
            rows = connection.execute("SELECT number FROM near.search_steps ORDER BY 1").fetchall() if found else []
        return [number for (number,) in rows]

    def is_written(id: str) -> bool:
        with closing(DatabaseUnits(Database(Address(search_database), "near"))) as units:
            units.put([Unit(id=id, part="unit", title="Ropes", body="Ropes are coiled clockwise.")])
            with units.asked() as reading:
                return reading.numbers_of([id])[id] in reading.sample(Condition("units.part IN (?)", ("unit",)), 50)

    later = Step(STEPS[-1].number + 1, "later", ("ALTER TABLE spaces ADD COLUMN later text",))
    for known in ((), STEPS, (*STEPS, later)):
        monkeypatch.setattr(tables, "STEPS", known)
        assert is_written(f"by the server that knows {len(known)} steps")
    assert steps() == [*(step.number for step in STEPS), later.number]
    monkeypatch.setattr(tables, "STEPS", STEPS)
    assert is_written("by the earlier server again")
    # A writer, who owns no tables, leaves the steps to the owner.
    with psycopg.connect(search_database, autocommit=True) as connection:
        connection.execute("DELETE FROM near.search_steps")
        connection.execute("DROP INDEX near.units_by_sample")
        role = f"writer_{os.getpid()}"
        connection.execute(f"CREATE ROLE {role} NOLOGIN")
        try:
            tables.grant(connection, "near", reader=role, writer=role)
            with psycopg.connect(search_database) as other:
                other.execute(f"SET ROLE {role}")
                tables.make_tables(other, "near")
                tables.take_steps(other, "near", tables.ON_DEMAND)
        finally:
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")
    assert steps() == []


def without_steps(url: str, schema: str) -> None:
    """Make the tables as an earlier version did."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables.make_tables(connection, schema)


def has_step(url: str, schema: str) -> bool:
    look = "SELECT 1 FROM pg_indexes WHERE schemaname = %s AND indexname = 'units_by_sample'"
    with psycopg.connect(url) as connection:
        return connection.execute(look, (schema,)).fetchone() is not None


def is_searched(url: str, schema: str) -> bool:
    """Whether a server that starts now can ask the index."""
    with closing(DatabaseUnits(Database(Address(url), schema))) as units, units.asked() as reading:
        return reading.sample(Condition("units.part IN (?)", ("unit",)), 50) == []


_SPY = """
    CREATE FUNCTION public.spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'spied'; END $$;
    CREATE TABLE public.search_steps (number int PRIMARY KEY, name text, at timestamptz DEFAULT now());
    INSERT INTO public.search_steps (number) SELECT generate_series(2, 50);
    CREATE TRIGGER spy BEFORE INSERT ON public.search_steps FOR EACH ROW EXECUTE FUNCTION public.spy();
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
    for schema in ("first", "second"):
        assert is_searched(database, schema)
        assert has_step(database, schema)
    with psycopg.connect(database) as connection:
        found = "SELECT count(*) FROM public.search_steps UNION ALL SELECT count(*) FROM first.search_steps"
        assert connection.execute(found).fetchall() == [(49,), (len(STEPS),)]
    built: list[str] = []

    class Noting(DatabaseMeanings):
        def _build(self, connection: object, space: int, embedder: int, dimensions: int, name: str) -> None:
            built.append(name)

    monkeypatch.setattr(meanings, "INDEXED_FROM", 0)
    with closing(Database(Address(database), "first")) as search:
        Noting(search, None)._build_indexes(1, 4, lambda *_: None)  # type: ignore[arg-type]
        assert built == ["vectors_1_1", f"vectors_{search.space}_1"]


# Verifies: REQ-d00490-H
def test_a_step_that_fails_keeps_no_server_from_searching(database: str, caplog: pytest.LogCaptureFixture) -> None:
    without_steps(database, "guarded")
    name = database.split("/")[3].partition("?")[0]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("SELECT guarded.make_space('own')")
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    assert is_searched(database, "guarded")
    assert not has_step(database, "guarded")
    (said,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "read-only transaction" in said
    assert "`clew store init`" in said
    # Who takes the steps on demand is told.
    with psycopg.connect(database, autocommit=True) as connection, pytest.raises(psycopg.Error, match="read-only"):
        tables.take_steps(connection, "guarded", tables.ON_DEMAND)


# Verifies: REQ-d00490-H
def test_a_server_that_starts_does_not_wait_for_writers_and_takes_the_step_later(
    database: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_steps(database, "written")
    assert (tables.ON_START.lock, tables.ON_DEMAND.lock) == (2, 20)
    monkeypatch.setattr(connecting, "ON_START", tables.ON_START._replace(lock=1))
    with psycopg.connect(database) as writer:
        writer.execute("LOCK TABLE written.units IN ROW EXCLUSIVE MODE")
        assert is_searched(database, "written")
        assert "lock timeout" in caplog.text
        assert not has_step(database, "written")
        # Nothing of it is left for which another writer would wait.
        with psycopg.connect(database) as other:
            other.execute("LOCK TABLE written.units IN ROW EXCLUSIVE MODE NOWAIT")
    caplog.clear()
    assert is_searched(database, "written")
    assert caplog.records == []
    assert has_step(database, "written")


# Verifies: REQ-d00490-G, REQ-d00490-H
def test_what_a_step_makes_belongs_to_the_owner_of_the_tables(database: str, caplog: pytest.LogCaptureFixture) -> None:
    role, name = f"owner_{os.getpid()}", database.split("/")[3].partition("?")[0]
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        try:
            connection.execute(f"GRANT CREATE ON DATABASE {name} TO {role}")
            connection.execute(f"SET ROLE {role}")
            tables.make_tables(connection, "owned")
            connection.execute("RESET ROLE")
            # An administrator looks first.
            assert is_searched(database, "owned")
            look = "SELECT tableowner FROM pg_tables WHERE schemaname = 'owned' AND tablename = 'search_steps'"
            assert connection.execute(look).fetchone() == (role,)
            assert is_searched(database.replace("postgres@", f"{role}@"), "owned")
            assert caplog.records == []
        finally:
            connection.execute("DROP SCHEMA IF EXISTS owned CASCADE")
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


# Verifies: REQ-d00490-B
def test_a_vector_is_the_same_as_bytes_and_as_text(search_database: str) -> None:
    np = pytest.importorskip("numpy")
    vectors = np.random.default_rng(3).standard_normal((50, 384)).astype(np.float32) * np.float32(0.05)
    statement = prepared("SELECT %s::halfvec(384) = %s::halfvec(384)")
    with closing(Database(Address(search_database), "packed")) as database, database.connection() as connection:
        for vector in vectors:
            (done,) = ask(connection, Asked(statement, (packed(vector), as_text(vector))))
            assert done.rows == [("t",)]


# Verifies: REQ-d00490-A
def test_an_array_of_numbers_is_read_and_an_aggregate_of_nothing_is_empty() -> None:
    assert numbers_in("{3,1,2}", int) == [3, 1, 2]
    assert numbers_in("{-0.25,1e-07}", float) == [-0.25, 1e-07]
    assert numbers_in(None, int) == []
