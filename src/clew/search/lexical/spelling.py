"""What was probably meant by a word that occurs nowhere: words of the index one edit away, or two for a long word.

An edit is a letter added, left out, replaced, or swapped with its neighbour. Words one edit away are generated and
looked up, which costs the same for any size of vocabulary; for two edits, the words that begin alike are compared.
"""

import json
import sqlite3
from collections.abc import Iterable

import msgspec

MIN_CHARACTERS = 4
TWO_EDITS_FROM = 8
MAX_REPLACEMENTS = 3

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LONG = 10
_MAX_COMPARED = 4_000
_LOOK_UP = """
    SELECT lexical_terms.term, lexical_terms.units, lexical_terms.term AS word FROM lexical_terms
    WHERE lexical_terms.term IN (SELECT value FROM json_each(?1))
    UNION ALL
    SELECT lexical_terms.term, lexical_terms.units, lexical_words.word FROM lexical_words
    JOIN lexical_terms USING (term)
    WHERE lexical_words.word IN (SELECT value FROM json_each(?1))
"""
_BEGINNING_ALIKE = """
    SELECT term, units, term AS word FROM lexical_terms
    WHERE term >= ?1 AND term < ?2 AND length(term) BETWEEN ?3 AND ?4
    UNION ALL
    SELECT lexical_terms.term, lexical_terms.units, lexical_words.word FROM lexical_words
    JOIN lexical_terms USING (term)
    WHERE lexical_words.word >= ?1 AND lexical_words.word < ?2 AND length(lexical_words.word) BETWEEN ?3 AND ?4
    LIMIT ?5
"""


class Replacement(msgspec.Struct, frozen=True):
    term: str
    word: str
    edits: int


def replacements(connection: sqlite3.Connection, word: str) -> tuple[Replacement, ...]:
    """The likeliest terms for `word`, the best first; none for short words and for anything with a digit."""
    if len(word) < MIN_CHARACTERS or not word.isalpha():
        return ()
    found = _near(connection, word, one_edit_away(word)) if word.isascii() else []
    if not found:
        found = _alike(connection, word, 2 if len(word) >= TWO_EDITS_FROM else 1)
    return tuple(found[:MAX_REPLACEMENTS])


def one_edit_away(word: str) -> set[str]:
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    near = {left + right[1:] for left, right in splits if right}
    near.update(left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1)
    near.update(left + letter + right[1:] for left, right in splits if right for letter in _LETTERS)
    near.update(left + letter + right for left, right in splits for letter in _LETTERS)
    return near - {word}


def edits_between(one: str, other: str, most: int) -> int | None:
    """The number of edits that make one word of the other, or None if it is more than `most`."""
    if abs(len(one) - len(other)) > most or len(set(one) ^ set(other)) > 2 * most:
        return None
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        current = [row]
        for column, other_letter in enumerate(other, start=1):
            cost = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (letter != other_letter))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == other_letter:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > most:
            return None
        before, previous = previous, current
    return previous[-1] if previous[-1] <= most else None


def _near(connection: sqlite3.Connection, word: str, near: Iterable[str]) -> list[Replacement]:
    found = connection.execute(_LOOK_UP, (json.dumps(sorted(near)),))
    return _likeliest(word, [(term, units, spelling, 1) for term, units, spelling in found])


def _alike(connection: sqlite3.Connection, word: str, most: int) -> list[Replacement]:
    beginning = word[: 3 if len(word) >= _LONG else 2]
    after = beginning[:-1] + chr(ord(beginning[-1]) + 1)
    shortest, longest = len(word) - most, len(word) + most
    compared = connection.execute(_BEGINNING_ALIKE, (beginning, after, shortest, longest, _MAX_COMPARED))
    found = []
    for term, units, spelling in compared:
        edits = edits_between(word, spelling, most)
        if edits is not None:
            found.append((term, units, spelling, edits))
    return _likeliest(word, found)


def _likeliest(word: str, found: list[tuple[str, int, str, int]]) -> list[Replacement]:
    """One replacement for each term: the fewest edits first, then the same first letter, then what more units hold."""
    found.sort(key=lambda candidate: (candidate[3], candidate[2][0] != word[0], -candidate[1], candidate[2]))
    chosen: dict[str, Replacement] = {}
    for term, _, spelling, edits in found:
        chosen.setdefault(term, Replacement(term, spelling, edits))
    return list(chosen.values())
