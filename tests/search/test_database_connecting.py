"""The database of a search index that cannot be used, where what is said of it holds no secret, or is put back from a
backup."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clew.config import EmbedSettings
from clew.errors import StoreBusy, StoreError, StoreUnreachable
from clew.operation.paging import Cursors
from clew.search.engine import SearchEngine
from clew.search.question import Question
from clew.search.units import Scope, Unit
from clew.store.sql.conditions import Condition
from clew.text.database_address import Address

pytest.importorskip("psycopg")

import psycopg
from tests.postgres import Postgres
from tests.search.conftest import WordCounts

from clew.search.database import connecting
from clew.search.database.connecting import Database
from clew.search.database.opening import in_database
from clew.search.database.reading import DatabaseIndexReader
from clew.search.database.units import DatabaseUnits
from clew.search.database.values import array, numbers_in, packed_vector, vector_as_text
from clew.search.database.vectors import DatabaseVectors
from clew.store.postgres.pipeline import StatementCall, ask, prepared


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
    engine = SearchEngine(tmp_path, cursors=Cursors(b"k" * 32), embed=settings, backend=place)

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


# Verifies: REQ-d00490-F
def test_after_a_backup_from_before_its_vectors_is_put_back_a_running_server_gives_nobody_else_s_number_to_them(
    search_database: str, tmp_path: Path, word_counts: WordCounts
) -> None:
    settings = word_counts.settings()
    place = in_database(Address(search_database), "emptied", "own", settings)
    with closing(SearchEngine(tmp_path, cursors=Cursors(b"k" * 32), embed=settings, backend=place)) as engine:
        question = Question(text="coiled ropes", scope=Scope(parts=("unit",)), recipe="dense")
        engine.units.put([Unit(id="ropes", part="unit", title="Ropes", body="Ropes are coiled clockwise.")])
        engine.index_vectors()
        assert len(engine.rank(question).units) == 1
        with psycopg.connect(search_database) as connection:
            connection.execute("SET search_path = emptied, public")
            connection.execute("TRUNCATE embedders, embeddings, embedding_queue, vectors RESTART IDENTITY")
            connection.execute("INSERT INTO embedders (name, dimensions) VALUES ('of an earlier server', 3)")
            connection.execute("CREATE TEMPORARY TABLE kept AS TABLE spaces")
            connection.execute("TRUNCATE spaces")
            connection.execute("INSERT INTO spaces OVERRIDING SYSTEM VALUE TABLE kept")
        assert engine.rank(question).units == ()
        engine.index_vectors()
        assert len(engine.rank(question).units) == 1
        with psycopg.connect(search_database) as connection:
            assert connection.execute("SELECT DISTINCT embedder FROM emptied.vectors").fetchall() == [(2,)]


# Verifies: REQ-d00490-B
def test_an_index_of_vectors_is_built_with_bounded_memory_or_what_the_server_is_set_to(database: str) -> None:
    class Building:
        """A connection that builds no index, and notes the memory that there was for it."""

        def transaction(self) -> object:
            return connection.transaction()

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
                DatabaseVectors(search, None)._build(Building(), 1, 1, 1_024)  # type: ignore[arg-type]
                assert (shown("maintenance_work_mem"), shown("statement_timeout")) == (own, limit)
        assert memory == ["512MB", "2GB"]
    finally:
        search.close()


# Verifies: REQ-d00490-B
def test_a_space_of_which_nothing_is_known_is_empty() -> None:
    reading = DatabaseIndexReader(None, 1)  # type: ignore[arg-type]
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
        reading = DatabaseIndexReader(connection, database.space)
        connection.execute(_UNITS)
        connection.execute("ANALYZE units")
        statement, values = reading.sampling(condition, 200)
        plan = [line for (line,) in connection.execute(f"EXPLAIN {statement}", values)]
        assert sum("units_by_sample" in line for line in plan) == 2
        assert not any("Seq Scan" in line for line in plan)
        sample = reading.sample(condition, 200)
        plain = "SELECT number FROM units WHERE part = 'unit' ORDER BY md5(id), id LIMIT 200"
        assert sample == [number for (number,) in connection.execute(plain)]


# Verifies: REQ-d00490-B
def test_a_vector_is_the_same_as_bytes_and_as_text(search_database: str) -> None:
    np = pytest.importorskip("numpy")
    vectors = np.random.default_rng(3).standard_normal((50, 384)).astype(np.float32) * np.float32(0.05)
    statement = prepared("SELECT %s::halfvec(384) = %s::halfvec(384)")
    with closing(Database(Address(search_database), "packed")) as database, database.connection() as connection:
        for vector in vectors:
            (done,) = ask(connection, StatementCall(statement, (packed_vector(vector), vector_as_text(vector))))
            assert done.rows == [("t",)]


# Verifies: REQ-d00490-A
def test_an_array_of_numbers_is_read_and_an_aggregate_of_nothing_is_empty(search_database: str) -> None:
    find = """
        SELECT array_agg(n), array_agg(n::int), array_agg(n::smallint), array_agg(-n / 4::float8), array_agg(n::real)
        FROM unnest(%s::bigint[]) AS asked (n)
        """
    with closing(Database(Address(search_database), "arrays")) as database, database.connection() as connection:
        for numbers in ([3, 1, 2], []):
            (done,) = ask(connection, StatementCall(prepared(find), (array(numbers),), binary=True))
            *whole, quarters, reals = (numbers_in(sent).tolist() for sent in done.values[0])
            assert whole == [numbers] * 3
            assert (quarters, reals) == ([-n / 4 for n in numbers], numbers)
        (none,) = ask(connection, StatementCall(prepared("SELECT ARRAY(SELECT 1 WHERE false)"), binary=True))
        assert numbers_in(none.values[0][0]).tolist() == []


# Verifies: REQ-d00490-A
def test_vectors_are_read_whatever_the_spelling_of_bytes_in_the_database(
    postgres: Postgres, search_database: str, tmp_path: Path, word_counts: WordCounts
) -> None:
    name, settings = search_database.split("/")[3].partition("?")[0], word_counts.settings()
    postgres.execute(f"ALTER DATABASE {name} SET bytea_output = 'escape'")
    try:
        place = in_database(Address(search_database), "escaped", "own", settings)
        with closing(SearchEngine(tmp_path, cursors=Cursors(b"k" * 32), embed=settings, backend=place)) as engine:
            engine.units.put([Unit(id="ropes", part="unit", title="Ropes", body="Ropes are coiled clockwise.")])
            engine.index_vectors()
            assert engine.vectors_of(["ropes"])["ropes"].any()
    finally:
        postgres.execute(f"ALTER DATABASE {name} RESET bytea_output")


# Verifies: REQ-d00490-A
def test_terms_of_any_characters_are_asked_for_and_counted_once_each(search_database: str) -> None:
    strange = ['say"so', "back\\slash", "a,b", "{braces}", "null", "", "ünïcode"]
    with closing(Database(Address(search_database), "quoted")) as database, database.connection() as connection:
        put = "INSERT INTO terms (space, term, units) VALUES (%s, %s, %s)"
        for units, term in enumerate(strange, start=1):
            connection.execute(put, (1, term, units))
        reading = DatabaseIndexReader(connection, database.space)
        assert reading.units_with([*strange, "nowhere"]) == dict(zip(strange, range(1, 8), strict=True))


# Verifies: REQ-d00490-I
def test_as_many_searches_as_there_are_connections_wait_for_no_other_one(
    search_database: str, tmp_path: Path, word_counts: WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "AT_ONCE", 1)
    settings = word_counts.settings()
    for has_vectors in (False, True):
        place = in_database(Address(search_database), "alone", "own", settings)
        engine = SearchEngine(tmp_path, cursors=Cursors(b"k" * 32), embed=settings, backend=place)
        with closing(engine):
            engine.units.put([Unit(id="ropes", part="unit", title="Ropes", body="Ropes are coiled clockwise.")])
            found = engine.rank(Question(text="coiled ropes", scope=Scope(parts=("unit",)), recipe="dense"))
            assert [unit.id for unit in found.units] == ["ropes"] * has_vectors
            assert not any("in use" in note for note in found.notes)
            engine.index_vectors()


# Verifies: REQ-d00490-I
def test_searches_take_turns_where_the_database_has_the_same_processors(
    search_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "AT_ONCE_HERE", 1)
    address = Address(search_database)
    with (
        closing(DatabaseUnits(Database(address, "here"))) as units,
        closing(DatabaseUnits(Database(address, "here", awaits_service=True))) as others,
    ):
        assert units.count() == others.count() == 0
        # From here on, nobody waits.
        monkeypatch.setattr(connecting, "_ANSWER_SECONDS", 0)
        with units.asked(), others.asked():
            with pytest.raises(StoreBusy, match="Others searched the index in the schema here"):
                units.count()
            assert others.count() == 0
            # What keeps the index in step waits for no search.
            units.put([Unit(id="ropes", part="unit", title="Ropes", body="Ropes are coiled clockwise.")])
            assert [*units.hashes("unit")] == ["ropes"]
            assert [unit.id for unit in units.units_of_others("memory")] == ["ropes"]
        assert units.count() == 1


@pytest.mark.parametrize(
    ("host", "address", "is_here"),
    [
        ("/run/postgresql", "", True),
        ("localhost", "127.0.0.1", True),
        ("localhost", "::1", True),
        ("db.example", "10.1.2.7", False),
        ("db.example", "", False),
    ],
)
def test_a_database_is_here_where_its_address_says_so(host: str, address: str, is_here: bool) -> None:
    connection: Any = SimpleNamespace(info=SimpleNamespace(host=host, hostaddr=address))
    assert connecting._is_here(connection) is is_here


# Verifies: REQ-d00490-I
def test_writers_that_wait_for_their_turn_keep_no_search_waiting(
    search_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine is, nobody gives up.
    monkeypatch.setattr(connecting, "_ANSWER_SECONDS", 3600)
    monkeypatch.setattr(connecting, "_SETTINGS", ())
    monkeypatch.setattr(connecting, "AT_ONCE", 2)
    ids = [f"unit {number}" for number in range(8)]
    begun = threading.Barrier(len(ids) + 1)

    def write(id: str) -> None:
        begun.wait()
        units.put([Unit(id=id, part="unit", title="Ropes", body="Ropes are coiled clockwise.")])

    def waiting() -> int:
        look = """
            SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
            WHERE datname = current_database() AND locktype = 'relation' AND NOT granted
            """
        return int((elsewhere.execute(look).fetchone() or (0,))[0])

    with (
        closing(DatabaseUnits(Database(Address(search_database), "turns"))) as units,
        ThreadPoolExecutor(len(ids) + 1) as beside,
    ):
        assert units.count() == 0
        with psycopg.connect(search_database) as elsewhere:
            elsewhere.execute("LOCK TABLE turns.embedders IN SHARE UPDATE EXCLUSIVE MODE")
            written = [beside.submit(write, id) for id in ids]
            begun.wait()
            while not waiting():
                pass
            searched = beside.submit(units.count)
            while not searched.done() and waiting() < connecting.AT_ONCE:
                pass
            assert searched.done()
            assert not any(each.done() for each in written)
        for each in written:
            each.result()
        assert units.count() == len(ids)


# Verifies: REQ-d00670-C, REQ-d00670-D
def test_an_older_server_is_waited_for_and_nobody_who_may_not_write(search_database: str, postgres: Postgres) -> None:
    name = search_database.split("/")[3].partition("?")[0]
    number = "SELECT {}(hashtext('clew search turns units'))"
    postgres.execute(f"CREATE USER {name}_stranger")
    try:
        with (
            closing(DatabaseUnits(Database(Address(search_database), "turns"))) as units,
            ThreadPoolExecutor(1) as beside,
        ):
            there = units.count()
            with psycopg.connect(postgres.url(name, f"{name}_stranger")) as stranger:
                stranger.execute(number.format("pg_advisory_lock").encode())
                units.put([Unit(id="a rope", part="unit", title="Ropes", body="Ropes are coiled clockwise.")])
            with psycopg.connect(search_database, autocommit=True) as older:
                older.execute(number.format("pg_advisory_lock").encode())
                written = beside.submit(units.put, [Unit(id="a knot", part="unit", title="Knots", body="Knots hold.")])
                # It has the table, and waits for the number.
                look = "SELECT 1 FROM pg_locks WHERE mode = 'ShareUpdateExclusiveLock' AND granted"
                while not older.execute(look).fetchall():
                    assert not written.done()
                assert units.count() == there + 1
                older.execute(number.format("pg_advisory_unlock").encode())
                written.result()
            assert units.count() == there + 2
    finally:
        postgres.execute(f"DROP USER {name}_stranger")
