"""Candidates by words out of SQLite's full-text index.

The cost of FTS5 is one look at each match, so a query with frequent terms is anchored at its rarer ones as long as they
leave enough to choose from.
"""

from collections.abc import Sequence
from itertools import accumulate

import msgspec

from clew.search.lexical.expression import AllOf, Beginning, Either, Expression, Phrase, Without, all_of, either
from clew.search.lexical.plan import Item, Plan
from clew.search.units import Condition
from clew.store.sqlite.connections import Connection

_FREQUENT_ITEMS = 4
_AT_ONCE = 500


def as_fts(expression: Expression) -> str:
    """The expression as FTS5 reads it. Terms hold no quotes, whatever the text was."""
    match expression:
        case Phrase(terms):
            return f'"{" ".join(terms)}"'
        case Beginning(start):
            return f'"{start}" *'
        case Either(parts):
            return f"({' OR '.join(map(as_fts, parts))})"
        case AllOf(parts):
            return f"({' AND '.join(map(as_fts, parts))})"
        case Without(wanted, unwanted):
            return f"{as_fts(wanted)} NOT {as_fts(unwanted)}"


def candidates(
    connection: Connection,
    plan: Plan,
    restrict: Condition | None,
    *,
    wanted: int,
    enough: int,
    matches: int,
    title_weight: int,
) -> list[int]:
    """The units worth ranking for a plan, up to `wanted`; with fewer than `enough` anchored matches, all matches are
    looked at, however many they are."""
    anchored = _anchored(plan.items, matches)
    found = _ranked(connection, _constrained(anchored, plan), restrict, wanted, title_weight)
    if len(found) < enough and anchored != (everything := either(item.expression for item in plan.items)):
        more = _ranked(connection, _constrained(everything, plan), restrict, wanted, title_weight)
        found = list(dict.fromkeys((*found, *more)))
    return found


def among(connection: Connection, expression: Expression, units: Sequence[int]) -> set[int]:
    """Those of the units that hold what an expression asks for."""
    found: set[int] = set()
    for start in range(0, len(units), _AT_ONCE):
        batch = units[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(batch))
        statement = f"SELECT rowid FROM lexical WHERE lexical MATCH ? AND rowid IN ({marks})"  # noqa: S608
        found.update(number for (number,) in connection.execute(statement, (as_fts(expression), *batch)))
    return found


def is_visible(connection: Connection, term: str, restrict: Condition) -> bool:
    """Whether a unit that the condition lets through holds a term."""
    # The condition is Clew's own text; every value is a parameter.
    statement = f"""
        SELECT 1 FROM lexical CROSS JOIN indexed_units AS units ON units.number = lexical.rowid
        WHERE lexical MATCH ? AND ({restrict.sql}) LIMIT 1
        """  # noqa: S608
    values = (as_fts(Phrase((term,))), *restrict.parameters)
    return connection.execute(statement, values).fetchone() is not None


def _ranked(
    connection: Connection, expression: Expression, restrict: Condition | None, wanted: int, title_weight: int
) -> list[int]:
    join, condition = "", ""
    if restrict is not None:
        # CROSS JOIN keeps the full-text index in the outer loop: one look at the unit for each match.
        join, condition = "CROSS JOIN indexed_units AS units ON units.number = lexical.rowid", f"AND ({restrict.sql})"
    # The parts of the statement that vary are Clew's own text; every value is a parameter.
    # All units in one row: each row that is fetched waits for Python's lock, which other searches want as well.
    statement = f"""
        SELECT json_group_array(unit) FROM (
            SELECT lexical.rowid AS unit, bm25(lexical, 1.0, ?, 1.0) AS badness FROM lexical {join}
            WHERE lexical MATCH ? {condition} ORDER BY badness, unit LIMIT ?
        )
        """  # noqa: S608
    values = (float(title_weight), as_fts(expression), *(restrict.parameters if restrict else ()), wanted)
    (listed,) = connection.execute(statement, values).fetchone()
    return msgspec.json.decode(listed, type=list[int])


def _anchored(items: Sequence[Item], matches: int) -> Expression:
    """An expression for the units worth ranking: all that hold an item, or only those that hold one of the rarer items.

    The items are sorted, the rarest first. If their matches are too many, as many items as stay within half of that
    number are anchors, one at least; some of the others take part in the ranking. The anchors are then looked at twice,
    hence the half. If not even the rarest stays within, a unit has to hold another item too.
    """
    expressions = [item.expression for item in items]
    seen = list(accumulate(item.units for item in items))
    if seen[-1] <= matches:
        return either(expressions)
    anchors = max(1, sum(total <= matches // 2 for total in seen))
    frequent = expressions[anchors : anchors + _FREQUENT_ITEMS]
    if not frequent:
        return either(expressions)
    second = frequent if seen[0] > matches // 2 else expressions[:anchors] + frequent
    return all_of([either(expressions[:anchors]), either(second)])


def _constrained(expression: Expression, plan: Plan) -> Expression:
    required = all_of([expression, *plan.required])
    return Without(required, either(plan.excluded)) if plan.excluded else required
