"""What a query demands of a unit, whichever signal found it: `+word`, `"a phrase"`, `start*`, and not `-word`.

A search by words obeys by itself. A search by meaning knows no such thing, so what it found is checked here, by the
same expressions: a demand means the same to every signal, with all the forms and corrections of its words.
"""

from collections.abc import Iterable, Sequence

from clew.search.lexical_plan import all_of, either, is_demand, make_plan
from clew.search.lexical_query import LexicalQuery
from clew.search.lexical_tables import totals
from clew.search.units import Condition
from clew.store.sqlite.connections import Connection

_AT_ONCE = 500


def obeying(
    connection: Connection, query: LexicalQuery, units: Sequence[int], restrict: Condition | None = None
) -> set[int]:
    """Those of the units that hold what the query demands and nothing that it excludes."""
    left = set(units)
    if not left or not any(is_demand(clause) for clause in query.clauses):
        return left
    plan = make_plan(connection, query, totals(connection).units, restrict)
    if plan.demanded:
        left &= _matching(connection, all_of(plan.demanded), units)
    if plan.excluded and left:
        left -= _matching(connection, either(plan.excluded), units)
    return left


def _matching(connection: Connection, expression: str, units: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for batch in _batches(units):
        marks = ", ".join("?" * len(batch))
        statement = f"SELECT rowid FROM lexical WHERE lexical MATCH ? AND rowid IN ({marks})"  # noqa: S608
        found.update(number for (number,) in connection.execute(statement, (expression, *batch)))
    return found


def _batches(units: Sequence[int]) -> Iterable[Sequence[int]]:
    return (units[start : start + _AT_ONCE] for start in range(0, len(units), _AT_ONCE))
