"""From the clauses of a query to the terms that are searched for: weighted items, and expressions.

A word that occurs nowhere and looks misspelt is replaced by words of the index one edit away, or two for a long word.
An edit is a letter added, left out, replaced, or swapped with its neighbour. Words one edit away are generated and
looked up, which costs the same for any size of vocabulary; for two edits, the words that begin alike are compared.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from clew.errors import ConfigError
from clew.search.lexical.expression import Beginning, Expression, either, phrase
from clew.search.lexical.query import Clause, ClauseKind, LexicalQuery, Sign, content_words
from clew.store.sql.conditions import Condition
from clew.text.keywords import STOP_TERMS
from clew.text.stem import stem

if TYPE_CHECKING:
    from clew.search.reading import IndexReader

MIN_CHARACTERS = 4
SURE_CHARACTERS = 6
"""In a shorter word, another letter is as likely another word."""
TWO_EDITS_FROM = 8
MAX_REPLACEMENTS = 3

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LONG = 10
_MAX_COMPARED = 4_000


class Replacement(msgspec.Struct, frozen=True):
    term: str
    word: str
    edits: int


def replacements(reading: "IndexReader", word: str) -> tuple[Replacement, ...]:
    """The likeliest corrections of `word`, best first; none for a word that does not look misspelt."""
    if not looks_misspelt(word):
        return ()
    found = _near(reading, word, one_edit_away(word)) if word.isascii() else []
    if not found:
        found = _alike(reading, word, 2 if len(word) >= TWO_EDITS_FROM else 1)
    if len(word) < SURE_CHARACTERS:
        found = [each for each in found if _is_slip(word, each.word)]
    return tuple(found[:MAX_REPLACEMENTS])


def looks_misspelt(word: str) -> bool:
    """False for short words, words with a digit, and words in common use: *bills* is no slip of *kills*."""
    return len(word) >= MIN_CHARACTERS and word.isalpha() and word not in _common_words()


@cache
def _common_words() -> frozenset[str]:
    """The words that the encoder's vocabulary has whole; none where its file is missing."""
    from clew.search.embed.minilm import vocabulary

    try:
        return frozenset(vocabulary())
    except ConfigError:
        return frozenset()


def _is_slip(word: str, meant: str) -> bool:
    """True if a short word lacks a letter of another, or has two of its letters swapped: *redis* is no *redir*."""
    return len(meant) > len(word) or (len(meant) == len(word) and sorted(meant) == sorted(word))


def one_edit_away(word: str) -> set[str]:
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    near = {left + right[1:] for left, right in splits if right}
    near.update(left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1)
    near.update(left + letter + right[1:] for left, right in splits if right for letter in _LETTERS)
    near.update(left + letter + right for left, right in splits for letter in _LETTERS)
    return near - {word}


def edits_between(one: str, other: str, most: int) -> int | None:
    """The number of edits between two words; None if it is more than `most`."""
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


def _near(reading: "IndexReader", word: str, near: Iterable[str]) -> list[Replacement]:
    return _likeliest(word, [(term, units, spelling, 1) for term, units, spelling in reading.terms_spelled(near)])


def _alike(reading: "IndexReader", word: str, most: int) -> list[Replacement]:
    beginning = word[: 3 if len(word) >= _LONG else 2]
    compared = reading.spellings_beginning(beginning, len(word) - most, len(word) + most, _MAX_COMPARED)
    found = []
    for term, units, spelling in compared:
        edits = edits_between(word, spelling, most)
        if edits is not None:
            found.append((term, units, spelling, edits))
    return _likeliest(word, found)


def _likeliest(word: str, found: list[tuple[str, int, str, int]]) -> list[Replacement]:
    """One correction for each term, by the fewest edits, the same first letter, the number of units and the most
    similar length."""
    found.sort(
        key=lambda each: (each[3], each[2][0] != word[0], -each[1], abs(len(each[2]) - len(word)), each[2]),
    )
    chosen: dict[str, Replacement] = {}
    for term, _, spelling, edits in found:
        # Nobody searches for a word that stands everywhere: `hash` is not a slip of `has`.
        if term not in STOP_TERMS:
            chosen.setdefault(term, Replacement(term, spelling, edits))
    return list(chosen.values())


MAX_ITEMS = 40
MAX_CORRECTED_WORDS = 8
MAX_PREFIX_TERMS = 64
MAX_UNITS_LOOKED_AT = 200

_IDENTIFIER = re.compile(r"[_0-9]|[a-z][A-Z]")
_LESSER_WEIGHT = 0.3
"""Of a hyphenated or dotted word as a whole, which is no identifier; of a single character of an unspaced script."""
_CORRECTION_WEIGHTS = (0.8, 0.3, 0.15)
"""For the likeliest replacement of a word, the second and the third."""


class PlannedTerm(NamedTuple):
    """An item of a query: a term, a phrase, or all words with one beginning."""

    label: str
    expression: Expression
    needles: tuple[str, ...]
    """The strings that are counted in a unit's streams."""
    weight: float
    units: int
    """In how many units it occurs; an estimate for phrases and prefixes."""
    rarity: float


class Correction(msgspec.Struct, frozen=True):
    """A word that is in no unit, and the words that were searched for instead."""

    word: str
    replacements: tuple[str, ...]


class QueryPlan(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[PlannedTerm, ...]
    """The rarest first."""
    required: tuple[Expression, ...]
    """Conditions on units that are found by their words."""
    demanded: tuple[Expression, ...]
    """Conditions on units that are found in another way: also the phrases and beginnings that only add to a score where
    words are searched. Quotes or a star in a query ask for the exact words."""
    excluded: tuple[Expression, ...]
    corrections: dict[str, tuple[Replacement, ...]]
    unused_items: int
    plain_words: int
    """The number of different plain words that have hits. Feedback from the first results needs some."""


def rarity(units: int, all_units: int) -> float:
    """The inverse document frequency: the weight of a match."""
    return math.log(1 + (all_units - units + 0.5) / (units + 0.5))


def is_demand(clause: Clause) -> bool:
    """True if the clause is required or excluded."""
    return clause.sign is not Sign.SHOULD or clause.kind is not ClauseKind.WORD


class Planning:
    """Plans a query among the units that `restrict`, a condition on the table `units`, lets through."""

    def __init__(self, reading: "IndexReader", all_units: int, restrict: Condition | None = None) -> None:
        self._reading = reading
        self._all_units = all_units
        self._restrict = restrict
        self._units: dict[str, int] = {}
        self._weights: defaultdict[str, float] = defaultdict(float)
        self._spellings: dict[str, str] = {}
        self._items: list[PlannedTerm] = []
        self._corrections: dict[str, tuple[Replacement, ...]] = {}

    def plan(self, query: LexicalQuery) -> QueryPlan:
        wanted = [clause for clause in query.clauses if clause.sign is not Sign.NOT]
        self._units = self._reading.units_with(term for clause in wanted for term in (*clause.terms, *clause.compounds))
        for clause in wanted:
            self._weigh(clause)
        self._items += [
            self._item(self._spellings.get(term, term), term, weight) for term, weight in self._weights.items()
        ]
        self._items += [
            self._item(replacement.word, replacement.term, weight)
            for found in self._corrections.values()
            for replacement, weight in zip(found, _CORRECTION_WEIGHTS, strict=False)
        ]
        self._items.sort(key=lambda item: (-item.weight * item.rarity, item.label))
        used = sorted(self._items[:MAX_ITEMS], key=lambda item: (item.units, item.label))
        return QueryPlan(
            items=tuple(used),
            required=tuple(self._constraint(clause) for clause in wanted if clause.sign is Sign.MUST),
            demanded=tuple(self._constraint(clause) for clause in wanted if is_demand(clause)),
            excluded=tuple(self._constraint(clause) for clause in query.clauses if clause.sign is Sign.NOT),
            corrections=self._corrections,
            unused_items=len(self._items) - len(used),
            plain_words=len(self._spellings),
        )

    def _weigh(self, clause: Clause) -> None:
        if clause.kind is ClauseKind.PREFIX:
            self._items.append(self._prefix(clause.words[0]))
        elif clause.kind is ClauseKind.PHRASE:
            self._items += self._phrase(clause)
        else:
            self._weigh_words(clause)

    def _weigh_words(self, clause: Clause) -> None:
        words = content_words(clause) or (clause.words if clause.sign is Sign.MUST else ())
        is_identifier = _IDENTIFIER.search(clause.text) is not None
        for compound in clause.compounds:
            if compound in self._units:
                self._weights[compound] += 1 if is_identifier or not compound.isascii() else _LESSER_WEIGHT
        for word in words:
            term = stem(word)
            if term in self._units and self._is_visible(term):
                self._weights[term] += _LESSER_WEIGHT if len(word) == 1 and not word.isascii() else 1
                self._spellings.setdefault(term, word)
            elif clause.whole not in self._units:
                self._correct(word)

    def _is_visible(self, term: str) -> bool:
        """True if a unit that the search may see has the term. A frequent term counts as visible, because checking it
        would take long."""
        if self._restrict is None or self._units[term] > MAX_UNITS_LOOKED_AT:
            return True
        return self._reading.is_visible(term, self._restrict)

    def _correct(self, word: str) -> None:
        if word not in self._corrections and len(self._corrections) < MAX_CORRECTED_WORDS:
            found = replacements(self._reading, word)
            if found:
                self._corrections[word] = found
                self._units.update(self._reading.units_with(replacement.term for replacement in found))

    def _item(self, label: str, term: str, weight: float) -> PlannedTerm:
        units = self._units[term]
        return PlannedTerm(label, phrase(term), (f" {term} ",), weight, units, rarity(units, self._all_units))

    def _phrase(self, clause: Clause) -> list[PlannedTerm]:
        terms = clause.terms
        if any(term not in self._units for term in terms):
            return []
        telling = {stem(word) for word in content_words(clause)} or set(terms)
        units = min(self._units[term] for term in terms)
        weight = sum(rarity(self._units[term], self._all_units) for term in telling)
        return [PlannedTerm(clause.text, phrase(*terms), (f" {' '.join(terms)} ",), 1.0, units, weight)]

    def _prefix(self, beginning: str) -> PlannedTerm:
        terms = self._reading.terms_beginning(beginning, MAX_PREFIX_TERMS)
        others = [term for term in terms if not term.startswith(beginning)]
        units = min(sum(terms.values()), self._all_units)
        expression = either([Beginning(beginning), *(phrase(term) for term in others)])
        needles = (f" {beginning}", *(f" {term} " for term in others))
        return PlannedTerm(f"{beginning}*", expression, needles, 1.0, units, rarity(units, self._all_units))

    def _constraint(self, clause: Clause) -> Expression:
        if clause.kind is ClauseKind.PREFIX:
            return self._prefix(clause.words[0]).expression
        terms = [phrase(*clause.terms)]
        if clause.whole:
            terms.append(phrase(clause.whole))
        corrected = self._corrections.get(clause.words[0], ()) if len(clause.words) == 1 else ()
        return either([*terms, *(phrase(replacement.term) for replacement in corrected)])
