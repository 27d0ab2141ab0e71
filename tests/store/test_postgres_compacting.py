"""Rows that a transaction of somebody else still sees are taken along when a table is written anew."""

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.postgres import demand_postgres
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

    location = f"{database} {SCHEMA}"
    now = iter(range(1_000))
    with closing(open_postgres(Address(database), SCHEMA, create=True, busy_timeout=5.0)) as store:
        write(store, "n1", {"text": SECRET})
        with psycopg.connect(database) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute(f"SELECT count(*) FROM {SCHEMA}.versions")
            store.rewrite(without(SECRET))

            clock = SimpleNamespace(monotonic=lambda: next(now), sleep=lambda _: None)
            monkeypatch.setattr("clew.store.postgres.compacting.time", clock)
            with pytest.raises(StoreBusy, match="a transaction that is open still sees rows"):
                store.compact()
            assert holding_the_secret(location)

            # However long the database's own statistics look at the tables.
            clock.monotonic = lambda: 0.0
            clock.sleep = lambda _: reader.rollback()
            store.compact()
            assert not holding_the_secret(location)


# Verifies: REQ-d00320-A
def test_what_others_changed_since_a_purge_is_not_taken_for_what_was_purged(database: str) -> None:
    demand_postgres()
    import psycopg

    from clew.store.postgres.engine import open_postgres

    with closing(open_postgres(Address(database), SCHEMA, create=True, busy_timeout=5.0)) as store:
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
