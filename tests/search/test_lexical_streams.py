"""What a ranking keeps for the next one changes no ranking."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest
from tests.search.lexical_index import LexicalIndex

from clew.search.embedded import EmbeddedIndexReader
from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.query import parse_query
from clew.search.lexical.ranking import Stream, Streams
from clew.search.lexical.search import LexicalResult


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "index.db", isolation_level=None)) as connection:
        for statement in lexical_tables.SCHEMA:
            connection.execute(statement)
        LexicalIndex(connection).put((number, f"Rule {number}", "loan fee " * number) for number in range(1, 120))
        yield connection


def ranked(connection: sqlite3.Connection, streams: Streams | None) -> LexicalResult:
    return LexicalIndex(connection, streams=streams).search(parse_query("loan rule 7"), limit=100)


# Verifies: REQ-o00010-A
@pytest.mark.parametrize("size", [0, 5_000, 8_000_000])
def test_the_ranking_is_the_same_whatever_is_kept(connection: sqlite3.Connection, size: int) -> None:
    plain = ranked(connection, None)
    streams = Streams(size)
    assert ranked(connection, streams) == ranked(connection, streams) == plain


# Verifies: REQ-o00010-A
def test_streams_come_in_the_order_they_are_asked_for_and_without_those_that_are_not_there(
    connection: sqlite3.Connection,
) -> None:
    streams = Streams(8_000_000)
    for wanted in ([5, 3, 900, 4], list(range(119, 0, -1)), [3]):
        found = [*chain.from_iterable(streams.of(EmbeddedIndexReader(connection), wanted))]
        assert [each.unit for each in found] == [unit for unit in wanted if unit < 120]
        assert all(each.row and each.words == lexical_tables.length(each.row) for each in found)


# Verifies: REQ-o00010-A
def test_threads_that_share_what_is_kept_get_their_own_units(connection: sqlite3.Connection, tmp_path: Path) -> None:
    streams = Streams(30_000)
    answers: list[tuple[list[int], list[Stream]]] = []

    def ask(start: int) -> None:
        wanted = list(range(start, 120, 3))
        with closing(sqlite3.connect(tmp_path / "index.db")) as own:
            reading = EmbeddedIndexReader(own)
            answers.extend((wanted, [*chain.from_iterable(streams.of(reading, wanted))]) for _ in range(20))

    threads = [threading.Thread(target=ask, args=(start,)) for start in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 60
    assert all([each.unit for each in found] == wanted for wanted, found in answers)
