"""Candidates by words, from lists of postings.

Each list is read from its heaviest end: all of a rare term, the heaviest of a frequent one. They are added up here, in
arrays, which takes half the time of doing so in the database. Where a list was not read to its end, and too few of the
best are left that the search may see, it is read again with the condition.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clew.search.database.values import array, numbers_in
from clew.search.lexical.expression import AllOf, Beginning, Either, Expression, Phrase, Without
from clew.search.lexical.plan import PlannedTerm, QueryPlan
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.database.reading import DatabaseIndexReader

    Postings = NDArray[np.int64]

_POSTINGS = 1_500
"""Read of one term at most. Further ones weigh little: of a term so frequent, the heaviest are those that hold it often
or are short."""
_POSTINGS_RESTRICTED = 20_000
_BITS_OF_IMPACT = 16
"""Unit and impact come as one number, the impact in its last bits."""


class _Term(NamedTuple):
    number: int
    weight: float
    units: int
    """The number of units that hold it."""


class _Test(NamedTuple):
    """A condition on a candidate, in SQL over the tables `streams` and `units`."""

    tables: tuple[tuple[str, str], ...]
    """Each with its column for the number of a unit."""
    sql: str
    values: tuple[Any, ...]


def candidates(
    reading: "DatabaseIndexReader",
    plan: QueryPlan,
    restrict: Condition | None,
    *,
    wanted: int,
    enough: int,
    matches: int,
) -> list[int]:
    """The units with the largest sums of weighted impacts, among those that fulfil plan and condition."""
    terms = _terms(reading, plan.items)
    if not terms:
        return []
    test = _test(reading, plan, restrict)
    most = max(1, min(_POSTINGS, matches // 2))
    best = _added_up(_lists(reading, terms, most), terms, None if test else wanted)
    found = best if test is None else _fulfilling(reading, test, best, wanted)
    if len(found) < enough and any(term.units > most for term in terms):
        more = _added_up(_lists(reading, terms, _POSTINGS_RESTRICTED, test), terms, wanted)
        found = list(dict.fromkeys((*found, *more)))
    return found


def _terms(reading: "DatabaseIndexReader", items: Sequence[PlannedTerm]) -> list[_Term]:
    """The terms of the items with their weights."""
    weights: dict[str, float] = {}
    beginnings: list[str] = []
    for item in items:
        for expression in _leaves(item.expression):
            if isinstance(expression, Beginning):
                beginnings.append(expression.start)
            for term in expression.terms if isinstance(expression, Phrase) else ():
                weights[term] = weights.get(term, 0.0) + item.weight * item.rarity
    for start in beginnings:
        for term in reading.terms_beginning(start, 64):
            weights.setdefault(term, 1.0)
    known = reading.terms_of(weights)
    return [_Term(number, weight, units) for term, weight in weights.items() for number, units in known[term]]


def _lists(
    reading: "DatabaseIndexReader", terms: Sequence[_Term], most: int, test: _Test | None = None
) -> "list[Postings]":
    """The heaviest postings of each term, among the units that fulfil a test."""
    joins, where = "", ""
    if test is not None:
        joins = " ".join(f"JOIN {table} ON {table}.{column} = postings.unit" for table, column in test.tables)
        where = f"AND {test.sql}"
    # The parts of the statement that vary are Clew's own text; every value is a parameter.
    find = f"""
        SELECT ARRAY(
            SELECT postings.unit << {_BITS_OF_IMPACT} | postings.impact FROM postings {joins}
            WHERE postings.term = asked.term {where}
            ORDER BY postings.term DESC, postings.impact DESC, postings.unit DESC LIMIT %s
        ) FROM unnest(%s::int[]) WITH ORDINALITY AS asked (term, place) ORDER BY asked.place
        """  # noqa: S608
    numbers = [term.number for term in terms]
    if test is None:
        return [numbers_in(found) for (found,) in reading.ask(find, (str(most), array(numbers)))]
    return reading.lists_of_numbers(find, (*test.values, most, numbers))


def _added_up(lists: "Sequence[Postings]", terms: Sequence[_Term], wanted: int | None) -> list[int]:
    """The units of some lists, largest sums first; of equal sums, the lower number first."""
    import numpy as np

    postings = np.concatenate(lists)
    units, which = np.unique(postings >> _BITS_OF_IMPACT, return_inverse=True)
    weights = np.repeat([term.weight for term in terms], [*map(len, lists)])
    sums = np.bincount(which, (postings & ((1 << _BITS_OF_IMPACT) - 1)) * weights, len(units))
    if wanted is not None and wanted < len(units):
        # Only the best are put in order.
        best = np.flatnonzero(sums >= np.partition(sums, -wanted)[-wanted])
        units, sums = units[best], sums[best]
    found: list[int] = units[np.argsort(-sums, kind="stable")][:wanted].tolist()
    return found


def _test(reading: "DatabaseIndexReader", plan: QueryPlan, restrict: Condition | None) -> _Test | None:
    """The condition that combines plan and scope; None if every unit fulfils it."""
    parts = [constraint(each) for each in plan.required]
    parts += [(f"NOT {sql}", values) for sql, values in map(constraint, plan.excluded)]
    tables = [("streams", "unit")] if parts else []
    if restrict is not None:
        parts.append(reading.compiled(restrict))
        tables.append(("units", "number"))
    sql, values = _joined(" AND ", parts)
    return _Test(tuple(tables), sql, values) if parts else None


def _fulfilling(reading: "DatabaseIndexReader", test: _Test, units: Sequence[int], wanted: int) -> list[int]:
    """The first of some units that fulfil a test."""
    (table, column), *others = test.tables
    joins = " ".join(f"JOIN {other} ON {other}.{number} = {table}.{column}" for other, number in others)
    find = f"SELECT {table}.{column} FROM {table} {joins} WHERE {table}.{column} = ANY(%s) AND {test.sql}"  # noqa: S608
    found: list[int] = []
    start, count = 0, 2 * wanted
    while start < len(units) and len(found) < wanted:
        some = units[start : start + count]
        fit = {number for (number,) in reading.rows(find, (list(some), *test.values))}
        found += [unit for unit in some if unit in fit]
        # Where few of the best do, few of the others will.
        start, count = start + count, 4 * count
    return found[:wanted]


def constraint(expression: Expression) -> tuple[str, tuple[Any, ...]]:
    """The condition on `streams` for an expression."""
    match expression:
        case Phrase(terms):
            return _held(f" {' '.join(terms)} ")
        case Beginning(start):
            return _held(f" {start}")
        case Either(parts):
            return _joined(" OR ", [constraint(part) for part in parts])
        case AllOf(parts):
            return _joined(" AND ", [constraint(part) for part in parts])
        case Without(wanted, unwanted):
            (sql, values), (other, more) = constraint(wanted), constraint(unwanted)
            return f"({sql} AND NOT {other})", (*values, *more)


def _leaves(expression: Expression) -> Iterable[Expression]:
    match expression:
        case Either(parts) | AllOf(parts):
            return (leaf for part in parts for leaf in _leaves(part))
        case Without(wanted, _):
            return _leaves(wanted)
    return (expression,)


def _held(needle: str) -> tuple[str, tuple[str, ...]]:
    any_of = " OR ".join(f"strpos(streams.{stream}, %s) > 0" for stream in ("body", "title", "compounds"))
    return f"({any_of})", (needle,) * 3


def _joined(word: str, parts: Sequence[tuple[str, tuple[Any, ...]]]) -> tuple[str, tuple[Any, ...]]:
    return f"({word.join(sql for sql, _ in parts)})", tuple(value for _, values in parts for value in values)
