"""The PostgreSQL of the tests itself: real, with pgvector, and nothing of one test in another."""

import os

import pytest
from tests.postgres import PROGRAMS, OwnPostgres

psycopg = pytest.importorskip("psycopg")


@pytest.mark.parametrize("attempt", [1, 2])
def test_every_test_has_an_empty_database_of_its_own(database: str, attempt: int) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE mine (attempt int)")
        connection.execute("INSERT INTO mine VALUES (%s)", (attempt,))
        assert connection.execute("SELECT attempt FROM mine").fetchall() == [(attempt,)]


@pytest.mark.skipif(PROGRAMS in os.environ, reason="another PostgreSQL need not have pgvector")
def test_vectors_are_compared_by_the_database(database: str) -> None:
    with psycopg.connect(database) as connection:
        (distance,) = connection.execute("SELECT '[3,0]'::halfvec <-> '[0,4]'::halfvec").fetchone()
    assert distance == 5


def test_a_killed_server_starts_again_with_what_was_committed(own_postgres: OwnPostgres) -> None:
    with own_postgres.database("kept") as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1 AS number")
        own_postgres.kill()
        own_postgres.start()
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT number FROM kept").fetchall() == [(1,)]
