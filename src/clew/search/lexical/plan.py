"""From the clauses of a query to what is looked for in the index: weighted items, and the expressions FTS5 is given."""

import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from clew.search.lexical.query import Clause, Kind, LexicalQuery, Sign, content_words
from clew.search.lexical.spelling import Replacement, replacements
from clew.search.lexical.tables import units_with
from clew.search.units import Condition
from clew.text.stem import stem

MAX_ITEMS = 40
MAX_CORRECTED_WORDS = 8
MAX_PREFIX_TERMS = 64
MAX_UNITS_LOOKED_AT = 200

_IDENTIFIER = re.compile(r"[_0-9]|[a-z][A-Z]")
_LESSER_WEIGHT = 0.3
"""Of a hyphenated or dotted word as a whole, which is no identifier; of a single character of an unspaced script."""
_CORRECTION_WEIGHTS = (0.8, 0.3, 0.15)
"""For the likeliest replacement of a word, the second and the third."""


class Item(NamedTuple):
    """One thing that a unit can hold: a term, a phrase, or the words with one beginning."""

    label: str
    expression: str
    needles: tuple[str, ...]
    """What is counted in a unit's streams."""
    weight: float
    units: int
    """In how many units it occurs; an estimate for phrases and prefixes."""
    rarity: float


class Correction(msgspec.Struct, frozen=True):
    """A word that occurs nowhere, and what was searched for in its place."""

    word: str
    replacements: tuple[str, ...]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[Item, ...]
    """The rarest first."""
    required: tuple[str, ...]
    """What units that are found by their words have to hold."""
    demanded: tuple[str, ...]
    """What units have to hold that are found in another way: also the phrases and beginnings that only add to a score
    where words are searched. Whoever writes quotes or a star asks for the very words."""
    excluded: tuple[str, ...]
    corrections: dict[str, tuple[Replacement, ...]]
    unused_items: int
    plain_words: int
    """How many different plain words have hits: what it takes to learn from the first results."""


def rarity(units: int, all_units: int) -> float:
    """The inverse document frequency: how much a match says."""
    return math.log(1 + (all_units - units + 0.5) / (units + 0.5))


def make_plan(
    connection: sqlite3.Connection, query: LexicalQuery, all_units: int, restrict: Condition | None = None
) -> Plan:
    """The plan of a query among the units that `restrict`, a condition on the table `units`, lets through."""
    return _Planning(connection, all_units, restrict).plan(query)


def is_demand(clause: Clause) -> bool:
    """Whether a unit that does not hold the clause, or that holds it in spite of its minus, is no result."""
    return clause.sign is not Sign.SHOULD or clause.kind is not Kind.WORD


class _Planning:
    def __init__(self, connection: sqlite3.Connection, all_units: int, restrict: Condition | None) -> None:
        self._connection = connection
        self._all_units = all_units
        self._restrict = restrict
        self._units: dict[str, int] = {}
        self._weights: defaultdict[str, float] = defaultdict(float)
        self._spellings: dict[str, str] = {}
        self._items: list[Item] = []
        self._corrections: dict[str, tuple[Replacement, ...]] = {}

    def plan(self, query: LexicalQuery) -> Plan:
        wanted = [clause for clause in query.clauses if clause.sign is not Sign.NOT]
        self._units = units_with(
            self._connection, (term for clause in wanted for term in (*clause.terms, *clause.compounds))
        )
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
        return Plan(
            items=tuple(used),
            required=tuple(self._constraint(clause) for clause in wanted if clause.sign is Sign.MUST),
            demanded=tuple(self._constraint(clause) for clause in wanted if is_demand(clause)),
            excluded=tuple(self._constraint(clause) for clause in query.clauses if clause.sign is Sign.NOT),
            corrections=self._corrections,
            unused_items=len(self._items) - len(used),
            plain_words=len(self._spellings),
        )

    def _weigh(self, clause: Clause) -> None:
        if clause.kind is Kind.PREFIX:
            self._items.append(self._prefix(clause.words[0]))
        elif clause.kind is Kind.PHRASE:
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
        """Whether a unit that the search may see holds the term. A frequent one is trusted to be: to look for it in
        vain would take long."""
        if self._restrict is None or self._units[term] > MAX_UNITS_LOOKED_AT:
            return True
        # The condition is Clew's own text; every value is a parameter.
        statement = f"""
            SELECT 1 FROM lexical CROSS JOIN units ON units.number = lexical.rowid
            WHERE lexical MATCH ? AND ({self._restrict.sql}) LIMIT 1
            """  # noqa: S608
        values = (quoted(term), *self._restrict.parameters)
        return self._connection.execute(statement, values).fetchone() is not None

    def _correct(self, word: str) -> None:
        if word not in self._corrections and len(self._corrections) < MAX_CORRECTED_WORDS:
            found = replacements(self._connection, word)
            if found:
                self._corrections[word] = found
                self._units.update(units_with(self._connection, (replacement.term for replacement in found)))

    def _item(self, label: str, term: str, weight: float) -> Item:
        units = self._units[term]
        return Item(label, quoted(term), (f" {term} ",), weight, units, rarity(units, self._all_units))

    def _phrase(self, clause: Clause) -> list[Item]:
        terms = clause.terms
        if any(term not in self._units for term in terms):
            return []
        telling = {stem(word) for word in content_words(clause)} or set(terms)
        units = min(self._units[term] for term in terms)
        weight = sum(rarity(self._units[term], self._all_units) for term in telling)
        return [Item(clause.text, quoted(*terms), (f" {' '.join(terms)} ",), 1.0, units, weight)]

    def _prefix(self, beginning: str) -> Item:
        terms = terms_beginning(self._connection, beginning)
        others = [term for term in terms if not term.startswith(beginning)]
        units = min(sum(terms.values()), self._all_units)
        expression = either([f"{quoted(beginning)} *", *(quoted(term) for term in others)])
        needles = (f" {beginning}", *(f" {term} " for term in others))
        return Item(f"{beginning}*", expression, needles, 1.0, units, rarity(units, self._all_units))

    def _constraint(self, clause: Clause) -> str:
        if clause.kind is Kind.PREFIX:
            return self._prefix(clause.words[0]).expression
        terms = [quoted(*clause.terms)]
        if clause.whole:
            terms.append(quoted(clause.whole))
        corrected = self._corrections.get(clause.words[0], ()) if len(clause.words) == 1 else ()
        return either([*terms, *(quoted(replacement.term) for replacement in corrected)])


def terms_beginning(connection: sqlite3.Connection, beginning: str) -> dict[str, int]:
    """The most frequent terms that begin so, or of which a spelling does, with the number of units each is in."""
    after = beginning[:-1] + chr(ord(beginning[-1]) + 1)
    found = connection.execute(
        """
        SELECT term, units FROM lexical_terms WHERE term IN (
            SELECT term FROM lexical_terms WHERE term >= ?1 AND term < ?2
            UNION SELECT term FROM lexical_words WHERE word >= ?1 AND word < ?2
        ) ORDER BY units DESC, term LIMIT ?3
        """,
        (beginning, after, MAX_PREFIX_TERMS),
    )
    return dict(found.fetchall())


def quoted(*terms: str) -> str:
    """The terms, side by side, as FTS5 reads them. Terms hold no quotes, whatever the text was."""
    return f'"{" ".join(terms)}"'


def either(expressions: Iterable[str]) -> str:
    return f"({' OR '.join(expressions)})"


def all_of(expressions: Sequence[str]) -> str:
    return f"({' AND '.join(expressions)})"
