"""Rows that a transaction of somebody else still sees are taken along when a table is written anew."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.postgres import OwnPostgres, demand_postgres
from tests.store.engines import tables_on_disk
from tests.store.test_contract_rewriting import SECRET, without, write

from clew.errors import StoreBusy
from clew.text.database_address import Address

SCHEMA = "store_seen"


def holding_the_secret(location: str) -> list[Path]:
    return [path for path in tables_on_disk(location) if SECRET.encode() in path.read_bytes()]


# Verifies: REQ-d00320-A
def test_what_somebody_still_sees_is_waited_for_and_else_said_to_be_left(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    demand_postgres()
    import psycopg

    from clew.store.postgres.engine import open_postgres

    # PostgreSQL's own statistics may hold the table for a moment.
    monkeypatch.setattr("clew.store.postgres.compacting._LOCK_SECONDS", 60)

    def written_to() -> object:
        return other.execute(f"SELECT pg_relation_filenode('{SCHEMA}.events')").fetchone()

    location = f"{database} {SCHEMA}"
    with (
        closing(open_postgres(Address(database), SCHEMA, create=True, busy_timeout=3600.0)) as store,
        psycopg.connect(database, autocommit=True) as other,
        psycopg.connect(database) as reader,
        ThreadPoolExecutor(1) as beside,
    ):
        write(store, "n1", {"text": SECRET})
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute(f"SELECT count(*) FROM {SCHEMA}.versions")
        store.rewrite(without(SECRET))
        with pytest.raises(StoreBusy, match="a transaction that is open still sees rows"):
            store.compact(waits=False)
        assert holding_the_secret(location)

        before = written_to()
        compacted = beside.submit(store.compact)
        try:
            while written_to() == before and not compacted.done():
                pass
            # It has tried, and is at it.
            assert not compacted.done()
        finally:
            reader.rollback()
        compacted.result()
        assert not holding_the_secret(location)


# Verifies: REQ-d00320-A
def test_a_table_that_somebody_locks_is_waited_for_no_longer_than_told(database: str) -> None:
    demand_postgres()
    import psycopg

    from clew.store.postgres.engine import open_postgres

    with closing(open_postgres(Address(database), SCHEMA, create=True, busy_timeout=3600.0)) as store:
        write(store, "n1", {"text": SECRET})
        store.rewrite(without(SECRET))
        with psycopg.connect(database) as reader:
            reader.execute(f"SELECT count(*) FROM {SCHEMA}.events")
            with pytest.raises(StoreBusy, match="lock timeout"):
                store.compact(waits=False)
        store.compact()
        assert not holding_the_secret(f"{database} {SCHEMA}")


# Verifies: REQ-d00320-A
def test_what_others_changed_since_a_purge_is_not_taken_for_what_was_purged(own_postgres: OwnPostgres) -> None:
    import psycopg

    from clew.store.postgres.engine import open_postgres

    # What transactions in other databases of a server do counts for what a reader may still see.
    with (
        own_postgres.database("alone") as database,
        closing(open_postgres(Address(database), SCHEMA, create=True, busy_timeout=5.0)) as store,
    ):
        write(store, "n1", {"text": SECRET})
        write(store, "n2", {"text": "one"})
        store.rewrite(without(SECRET))
        with psycopg.connect(database) as reader:
            # A dump, say, which is at it for hours while others work.
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute(f"SELECT count(*) FROM {SCHEMA}.versions")
            write(store, "n2", {"text": "two"})
            job = store.start_job("index")
            store.advance_job(job.id, done=1)
            store.compact()
        assert not holding_the_secret(f"{database} {SCHEMA}")
