"""The tables of the lexical index, and how units get into them and out again.

FTS5 is given terms that are already cut and stemmed, separated by spaces; its own tokenizer only splits at the spaces.
The same terms are kept beside it, packed with the text they were made of (`unit_texts`): FTS5 needs them to take a unit
out again, and the ranking counts in them. `lexical_terms` says in how many units a term occurs, `lexical_words` which
spellings lead to a term. All functions work in the transaction of their caller.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from clew.search.lexical.packing import (
    UnitTerms,
    UnitText,
    dictionary_of,
    packed,
    packed_dictionary,
    repacked,
    unpacked_dictionary,
    unpacked_terms,
    unpacked_text,
)
from clew.text.stem import stem
from clew.text.words import split

ANALYSIS = 2
"""Changes when text is cut or stemmed in another way, into windows too, so that an index made the old way can be made
again."""

SCHEMA = (
    # The only place that has title and text of a unit; see `packing`.
    """
    CREATE TABLE unit_texts (
        unit INTEGER PRIMARY KEY, terms INTEGER NOT NULL, title INTEGER NOT NULL, packed BLOB NOT NULL
    )
    """,
    # Units from the number `since` on are packed by it; `sampled` are those that it was made of, in JSON. There is at
    # most one.
    "CREATE TABLE unit_dictionary (since INTEGER NOT NULL, sampled TEXT NOT NULL, packed BLOB NOT NULL)",
    # Terms hold ASCII letters and digits, these four signs, and anything beyond ASCII, which this tokenizer never cuts.
    # Without a table of lengths, FTS5 ranks matches four times faster; lengths count when candidates are ranked.
    # FTS5 notes the column with each match, except for the first: that is the one with the most.
    """
    CREATE VIRTUAL TABLE lexical USING fts5(
        body, title, compounds, content='', columnsize=0, tokenize="ascii tokenchars '-.+#'"
    )
    """,
    "CREATE TABLE lexical_terms (term TEXT PRIMARY KEY, units INTEGER NOT NULL) WITHOUT ROWID",
    # Nearly all terms are a beginning of the word, of so many letters.
    """
    CREATE TABLE lexical_words (
        word TEXT PRIMARY KEY, letters INTEGER, other TEXT,
        term TEXT NOT NULL GENERATED ALWAYS AS (coalesce(other, substr(word, 1, letters))) VIRTUAL
    ) WITHOUT ROWID
    """,
    "CREATE TABLE lexical_totals (units INTEGER NOT NULL, words INTEGER NOT NULL)",
    "INSERT INTO lexical_totals VALUES (0, 0)",
)

Item = TypeVar("Item")

_BATCH = 500
_WORTH_A_DICTIONARY, _SAMPLED = 128, 64
"""From how many units on a dictionary is made, and of how many of them."""
_LONGEST_ENDING, _COMMON_LETTERS = 3, 5
_SAME_LETTERS = 2
_DELETE = "INSERT INTO lexical (lexical, rowid, title, body, compounds) VALUES ('delete', ?, ?, ?, ?)"


Spelling = tuple[str, int, str]
"""A term, the number of units that hold it, and a spelling that leads to it."""


class IndexTotals(NamedTuple):
    units: int
    words: int


def put(
    connection: sqlite3.Connection, units: Iterable[tuple[int, str, str]], lasting: Collection[int] = frozenset()
) -> None:
    """Add units (number, title, body), or replace those with the same number. Texts of `lasting` units may stay in the
    compression dictionary after deletion."""
    for batch in _batches(units):
        latest = {unit: (title, body) for unit, title, body in batch}
        remove(connection, latest)
        spellings: dict[str, str] = {}
        rows = [row_of(unit, title, body, spellings) for unit, (title, body) in latest.items()]
        _pack(connection, [(row, UnitText(*latest[row.unit])) for row in rows], lasting)
        connection.executemany("INSERT INTO lexical (rowid, title, body, compounds) VALUES (?, ?, ?, ?)", rows)
        connection.executemany(
            "INSERT INTO lexical_terms VALUES (?, ?) ON CONFLICT DO UPDATE SET units = units + excluded.units",
            units_per_term(rows).items(),
        )
        connection.executemany(
            "INSERT OR IGNORE INTO lexical_words (word, letters, other) VALUES (?, ?, ?)",
            [
                (word, len(term), None) if word.startswith(term) else (word, None, term)
                for word, term in spellings.items()
            ],
        )
        _count(connection, rows, 1)


def remove(connection: sqlite3.Connection, units: Iterable[int]) -> None:
    """Delete units; unknown numbers are skipped."""
    for batch in _batches(units):
        rows = streams(connection, batch)
        if not rows:
            continue
        connection.executemany(_DELETE, rows)
        connection.executemany("DELETE FROM unit_texts WHERE unit = ?", [(row.unit,) for row in rows])
        counts = units_per_term(rows)
        connection.executemany(
            "UPDATE lexical_terms SET units = units - ? WHERE term = ?", [(n, term) for term, n in counts.items()]
        )
        _forget(connection, counts)
        _count(connection, rows, -1)


def _forget(connection: sqlite3.Connection, terms: Iterable[str]) -> None:
    """Take out those of the terms that no unit holds any more, and their spellings. Those begin as the term does, with
    few exceptions: an index by terms would be as large as their table."""
    find = "SELECT term FROM json_each(?) CROSS JOIN lexical_terms ON term = value WHERE units <= 0"
    gone = connection.execute(find, (json.dumps(list(terms)),)).fetchall()
    connection.executemany("DELETE FROM lexical_terms WHERE term = ?", gone)
    connection.executemany(
        "DELETE FROM lexical_words WHERE word >= ?1 AND word < ?1 || char(1114111) AND term = ?2",
        [(term[:_SAME_LETTERS], term) for (term,) in gone],
    )


def sweep(connection: sqlite3.Connection) -> None:
    """Delete every spelling of terms that no unit has any more."""
    connection.execute("DELETE FROM lexical_words WHERE term NOT IN (SELECT term FROM lexical_terms)")


def streams(connection: sqlite3.Connection, units: Iterable[int]) -> list[UnitTerms]:
    """The terms of these units; missing units are left out."""
    # One statement for all of them: asking for each takes several times as long.
    find = "SELECT unit, terms, packed FROM json_each(?) AS asked CROSS JOIN unit_texts ON unit = asked.value"
    rows = connection.execute(find, (json.dumps(list(dict.fromkeys(units))),))
    dictionary = _dictionary(connection)
    return [unpacked_terms(unit, terms, data, dictionary.of(unit)) for unit, terms, data in rows]


def texts(connection: sqlite3.Connection, units: Iterable[int]) -> dict[int, UnitText]:
    """Texts of units, by their numbers; units that are gone are left out."""
    find = "SELECT unit, terms, title, packed FROM json_each(?) AS asked CROSS JOIN unit_texts ON unit = asked.value"
    rows = connection.execute(find, (json.dumps(list(dict.fromkeys(units))),))
    dictionary = _dictionary(connection)
    return {unit: unpacked_text(terms, title, data, dictionary.of(unit)) for unit, terms, title, data in rows}


class Dictionary(NamedTuple):
    since: int
    data: bytes

    def of(self, unit: int) -> bytes:
        return self.data if unit >= self.since else b""


def _dictionary(connection: sqlite3.Connection) -> Dictionary:
    found = connection.execute("SELECT since, packed FROM unit_dictionary").fetchone()
    return Dictionary(found[0], unpacked_dictionary(found[1])) if found is not None else Dictionary(0, b"")


def _pack(connection: sqlite3.Connection, said: Sequence[tuple[UnitTerms, UnitText]], lasting: Collection[int]) -> None:
    dictionary = _dictionary(connection)
    known = [each for each in said if each[0].unit in lasting]
    if not dictionary.data and len(known) >= _WORTH_A_DICTIONARY:
        (last,) = connection.execute("SELECT coalesce(max(unit), 0) FROM unit_texts").fetchone()
        sample = _sampled(known)
        dictionary = Dictionary(last + 1, dictionary_of(sample))
        _keep(connection, dictionary, [row.unit for row, _ in sample])
    connection.executemany(
        "INSERT INTO unit_texts VALUES (?, ?, ?, ?)",
        [(row.unit, *packed(row, text, dictionary.of(row.unit))) for row, text in said],
    )


def repack(connection: sqlite3.Connection, lasting: Sequence[int]) -> None:
    """Pack all units by a new dictionary from the `lasting` ones, if the present one has texts of deleted units."""
    if not is_outdated(connection):
        return
    before = _dictionary(connection)
    chosen = _sampled(lasting) if len(lasting) >= _WORTH_A_DICTIONARY else ()
    said = texts(connection, chosen)
    after = Dictionary(0, dictionary_of([(row, said[row.unit]) for row in streams(connection, chosen)]))
    connection.execute("DELETE FROM unit_dictionary")
    if after.data:
        _keep(connection, after, chosen)
    units = [unit for (unit,) in connection.execute("SELECT unit FROM unit_texts")]
    find = "SELECT packed FROM unit_texts WHERE unit = ?"
    for unit in units:
        (data,) = connection.execute(find, (unit,)).fetchone()
        data = repacked(data, before.of(unit), after.of(unit))
        connection.execute("UPDATE unit_texts SET packed = ? WHERE unit = ?", (data, unit))


def is_outdated(connection: sqlite3.Connection) -> bool:
    """True if the dictionary has a deleted unit."""
    find = """
        SELECT 1 FROM unit_dictionary CROSS JOIN json_each(sampled) AS each
        WHERE NOT EXISTS (SELECT 1 FROM unit_texts WHERE unit = each.value)
    """
    return connection.execute(find).fetchone() is not None


def _sampled(items: Sequence[Item]) -> Sequence[Item]:
    return items[:: max(1, len(items) // _SAMPLED)]


def _keep(connection: sqlite3.Connection, dictionary: Dictionary, sampled: Sequence[int]) -> None:
    row = (dictionary.since, json.dumps(sampled), packed_dictionary(dictionary.data))
    connection.execute("INSERT INTO unit_dictionary VALUES (?, ?, ?)", row)


def totals(connection: sqlite3.Connection) -> IndexTotals:
    return IndexTotals(*connection.execute("SELECT units, words FROM lexical_totals").fetchone())


class NameForms(NamedTuple):
    """The forms of a name in a text: words, then one with this beginning and at most this length; or one of the
    compounds."""

    start: tuple[str, ...]
    common: str
    longest: int
    compounds: tuple[str, ...]


def forms_of(name: str) -> NameForms | None:
    """The forms of a name in a text; None if it has no words. For a name with dots the last part is enough."""
    terms, compounds = split(name.rstrip(".").rpartition(".")[2])
    words = [stem(word) for word in terms]
    if not words:
        return None
    (*start, last) = words
    common = last[: max(_COMMON_LETTERS, len(last) - _LONGEST_ENDING)] if name.islower() else last
    return NameForms(tuple(start), common, len(last) + _LONGEST_ENDING, tuple(compounds))


def row_of(unit: int, title: str, body: str, spellings: dict[str, str]) -> UnitTerms:
    title_words, title_compounds = split(title)
    body_words, body_compounds = split(body)
    return UnitTerms(
        unit,
        _stream(_terms(title_words, spellings)),
        _stream(_terms(body_words, spellings)),
        _stream(title_compounds + body_compounds),
    )


def _terms(words: list[str], spellings: dict[str, str]) -> list[str]:
    terms = [stem(word) for word in words]
    spellings.update((word, term) for word, term in zip(words, terms, strict=True) if word != term)
    return terms


def _stream(terms: list[str]) -> str:
    return f" {' '.join(terms)} " if terms else ""


def units_per_term(rows: Iterable[UnitTerms]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update({*row.title.split(), *row.body.split(), *row.compounds.split()})
    return counts


def _count(connection: sqlite3.Connection, rows: list[UnitTerms], sign: int) -> None:
    words = sum(length(row) for row in rows)
    connection.execute(
        "UPDATE lexical_totals SET units = units + ?, words = words + ?", (sign * len(rows), sign * words)
    )


def length(row: UnitTerms) -> int:
    """The number of words of a unit."""
    return max(row.title.count(" ") - 1, 0) + max(row.body.count(" ") - 1, 0)


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while batch := list(islice(rest, _BATCH)):
        yield batch
