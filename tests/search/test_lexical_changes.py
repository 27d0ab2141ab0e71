"""Units go into the lexical index and out of it again, and nothing of them stays behind."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.lexical_index import LexicalIndex

from clew.search.lexical.packing import unpacked_dictionary
from clew.search.lexical.query import parse_query
from clew.search.lexical.tables import SCHEMA, is_outdated, put, remove, repack, texts

WORDS = st.sampled_from(
    ["store", "stores", "journal", "getUserById", "REQ-d1-A", "the", "caf\u00e9", "\u691c\u7d22", "x"]
)
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.lists(st.tuples(st.integers(1, 6), TEXTS, TEXTS), max_size=4)),
        st.tuples(st.just("remove"), st.lists(st.integers(1, 6), max_size=3)),
    ),
    max_size=8,
)


def opened(path: Path | str = ":memory:") -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in SCHEMA:
        connection.execute(statement)
    return connection


def packed_by(connection: sqlite3.Connection) -> str:
    """What the dictionary says, by which units are packed. Its pieces are cut off anywhere."""
    found = connection.execute("SELECT packed FROM unit_dictionary").fetchone()
    return unpacked_dictionary(found[0]).decode("utf-8", "replace") if found is not None else ""


def units_per_term(connection: sqlite3.Connection) -> dict[str, int]:
    """What FTS5 itself says is in the index."""
    connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'lexical', 'row')")
    found = dict(connection.execute("SELECT term, doc FROM temp.vocabulary").fetchall())
    connection.execute("DROP TABLE temp.vocabulary")
    return found


def counted_terms(connection: sqlite3.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT term, units FROM lexical_terms").fetchall())


def found(index: LexicalIndex, text: str) -> list[int]:
    return [hit.unit for hit in index.search(parse_query(text), limit=10).hits]


def test_a_unit_put_again_is_replaced() -> None:
    index = LexicalIndex(opened())
    index.put([(1, "old", "gateway"), (2, "", "other")])
    index.put([(1, "new", "store")])
    assert (found(index, "gateway"), found(index, "store"), index.count()) == ([], [1], 2)


def test_of_one_number_twice_in_a_batch_the_last_counts() -> None:
    index = LexicalIndex(opened())
    index.put([(1, "", "first"), (1, "", "second")])
    assert (found(index, "first"), found(index, "second"), index.count()) == ([], [1], 1)


def test_units_that_share_a_dictionary_say_what_they_said() -> None:
    connection = opened()
    index = LexicalIndex(connection)
    units = [
        (number, f"Title {number}", f"The ferry {number} leaves\nfrom pier {number % 7}.") for number in range(1, 401)
    ]
    index.put(units[:100])
    put(connection, units[100:], frozenset(range(200, 400)))
    index.put([(7, "Again", "another text"), (307, "Again", "another text")])
    said = {number: (title, body) for number, title, body in units} | dict.fromkeys((7, 307), ("Again", "another text"))
    assert connection.execute("SELECT count(*) FROM unit_dictionary").fetchone() == (1,)
    assert texts(connection, said) == said
    assert found(index, "ferry 303")[0] == 303
    index.remove(said)
    assert (index.count(), counted_terms(connection), units_per_term(connection)) == (0, {}, {})


def test_a_removed_unit_leaves_no_word_behind() -> None:
    connection = opened()
    index = LexicalIndex(connection)
    index.put([(1, "Secret plans", "confidentially kept"), (2, "", "public plan")])
    index.remove([1])
    assert found(index, "secret") == []
    result = index.search(parse_query("secrte confidentialy"), limit=5)
    assert (result.hits, result.corrections) == ((), ())
    assert counted_terms(connection) == units_per_term(connection) == {"public": 1, "plan": 1}
    spellings = [word for (word,) in connection.execute("SELECT word FROM lexical_words")]
    assert not any(word.startswith(("secret", "confid", "kept")) for word in spellings)


def test_removing_what_is_not_there_changes_nothing() -> None:
    connection = opened()
    index = LexicalIndex(connection)
    index.put([(1, "", "store")])
    index.remove([1, 1, 7])
    index.remove([1])
    assert (index.count(), counted_terms(connection)) == (0, {})


def test_a_change_takes_part_in_the_transaction_of_its_caller(tmp_path: Path) -> None:
    connection = opened(tmp_path / "index.db")
    index = LexicalIndex(connection)
    connection.execute("BEGIN")
    index.put([(1, "", "store")])
    connection.execute("ROLLBACK")
    assert (found(index, "store"), index.count()) == ([], 0)
    index.put([(1, "", "store")])
    connection.close()
    again = sqlite3.connect(tmp_path / "index.db")
    assert found(LexicalIndex(again), "store") == [1]
    again.close()


@given(CHANGES)
def test_any_changes_leave_what_an_index_made_anew_would_hold(
    changes: list[tuple[str, list[tuple[int, str, str]] | list[int]]],
) -> None:
    connection = opened()
    index = LexicalIndex(connection)
    kept: dict[int, tuple[str, str]] = {}
    for operation, values in changes:
        if operation == "put":
            index.put(values)  # type: ignore[arg-type]
            kept.update((unit, (title, body)) for unit, title, body in values)  # type: ignore[misc]
        else:
            index.remove(values)  # type: ignore[arg-type]
            for unit in values:
                kept.pop(unit, None)  # type: ignore[call-overload]
    anew = opened()
    LexicalIndex(anew).put((unit, title, body) for unit, (title, body) in kept.items())
    totals = "SELECT units, words FROM lexical_totals"
    assert units_per_term(connection) == units_per_term(anew) == counted_terms(connection) == counted_terms(anew)
    assert connection.execute(totals).fetchall() == anew.execute(totals).fetchall()
    assert index.count() == len(kept)


@given(st.text(), st.text())
def test_whatever_the_text_the_database_holds_exactly_the_terms_that_were_cut(title: str, body: str) -> None:
    connection = opened()
    LexicalIndex(connection).put([(1, title, body)])
    assert units_per_term(connection) == counted_terms(connection)


@given(st.text(), st.text())
def test_any_text_is_a_query(body: str, query: str) -> None:
    index = LexicalIndex(opened())
    index.put([(1, body, query), (2, "", body)])
    result = index.search(parse_query(query), limit=5)
    assert {hit.unit for hit in result.hits} <= {1, 2}
    assert result.hits or result.reason


@given(st.text(alphabet="\"+-*()^:{}ANDORNT NEAR,\x00'", max_size=40))
def test_any_mixture_of_operators_is_a_query(query: str) -> None:
    index = LexicalIndex(opened())
    index.put([(1, "", "and or not near"), (2, query, query)])
    result = index.search(parse_query(query), limit=5)
    assert result.hits or result.reason


@given(st.lists(TEXTS, min_size=1, max_size=6), WORDS, WORDS)
def test_required_words_are_in_every_hit_and_excluded_ones_in_none(
    texts: list[str], required: str, excluded: str
) -> None:
    index = LexicalIndex(opened())
    index.put((number, "", text) for number, text in enumerate(texts))
    only_required = {hit.unit for hit in index.search(parse_query(f'+"{required}"'), limit=10).hits}
    only_excluded = {hit.unit for hit in index.search(parse_query(f'+"{excluded}"'), limit=10).hits}
    hits = index.search(parse_query(f'store journal x +"{required}" -"{excluded}"'), limit=10).hits
    assert {hit.unit for hit in hits} == only_required - only_excluded


@pytest.mark.parametrize("times", [1, 3])
def test_scores_fall_and_ties_are_in_the_order_of_the_numbers(times: int) -> None:
    index = LexicalIndex(opened())
    index.put((number, "", "store " * (1 + number % times)) for number in range(20))
    hits = index.search(parse_query("store"), limit=20).hits
    assert [(-hit.score, hit.unit) for hit in hits] == sorted((-hit.score, hit.unit) for hit in hits)


# Verifies: REQ-d00320-A
def test_what_others_are_packed_by_is_made_again_of_what_is_left() -> None:
    connection = opened()
    put(connection, [(1, "before", "packed without any")])
    said = {number: (f"Pier {number}", f"The lamp of pier {number} has {number} panes.") for number in range(2, 400)}
    put(connection, [(number, *text) for number, text in said.items()], frozenset(said))
    gone = [number for number in said if number < 200]
    remove(connection, gone)
    assert "pier 2 " in packed_by(connection), "until it is made again"
    left = [number for number in said if number not in gone]
    repack(connection, left)
    assert packed_by(connection)
    assert not any(f"pier {number} " in packed_by(connection) for number in gone)
    assert texts(connection, [1, *left]) == {1: ("before", "packed without any")} | {each: said[each] for each in left}
    put(connection, [(400, "after", "packed by the new one")])
    assert texts(connection, [400]) == {400: ("after", "packed by the new one")}
    # Of a few it is not worth it.
    remove(connection, left[9:])
    repack(connection, left[:9])
    assert (packed_by(connection), texts(connection, left)) == ("", {each: said[each] for each in left[:9]})


# Verifies: REQ-d00320-A
def test_units_are_packed_anew_only_where_one_is_gone_that_others_are_packed_by() -> None:
    connection = opened()
    numbers = range(1, 400)
    put(connection, [(each, f"Pier {each}", f"The lamp of {each}.") for each in numbers], frozenset(numbers))

    def kept() -> list[tuple[int, bytes]]:
        return connection.execute("SELECT unit, packed FROM unit_texts WHERE unit > 200 ORDER BY unit").fetchall()

    sampled = {each for each in numbers if f"Pier {each}T" in packed_by(connection)}
    before, others = kept(), [each for each in numbers if each not in sampled and each <= 200]
    assert len(others) > 100
    remove(connection, others)
    repack(connection, [each for each in numbers if each not in others])
    assert (is_outdated(connection), kept()) == (False, before)
    remove(connection, [min(sampled)])
    assert is_outdated(connection)
    repack(connection, list(range(201, 400)))
    assert not is_outdated(connection)
    assert f"Pier {min(sampled)}T" not in packed_by(connection)
    assert kept() != before
