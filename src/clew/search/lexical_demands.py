"""What a query demands of a unit, whichever signal found it: `+word`, `"a phrase"`, `start*`, and not `-word`.

A search by words obeys by itself. A search by meaning knows no such thing, so what it found is checked here.
"""

from collections.abc import Iterable, Sequence

from clew.search.lexical_plan import all_of, either, quoted
from clew.search.lexical_query import Clause, Kind, LexicalQuery, Sign
from clew.store.sqlite.connections import Connection

_AT_ONCE = 500


def obeying(connection: Connection, query: LexicalQuery, units: Sequence[int]) -> set[int]:
    """Those of the units that hold what the query demands and nothing that it excludes."""
    left = set(units)
    wanted = [clause for clause in query.clauses if clause.sign is Sign.MUST or _is_marked(clause)]
    if wanted:
        left &= _matching(connection, all_of([_expression(clause) for clause in wanted]), units)
    unwanted = [clause for clause in query.clauses if clause.sign is Sign.NOT]
    if unwanted and left:
        left -= _matching(connection, either(_expression(clause) for clause in unwanted), units)
    return left


def _is_marked(clause: Clause) -> bool:
    """Whoever writes quotes or a star asks for the very words."""
    return clause.sign is Sign.SHOULD and clause.kind is not Kind.WORD


def _expression(clause: Clause) -> str:
    if clause.kind is Kind.PREFIX:
        return f"{quoted(clause.words[0])} *"
    return either([quoted(*clause.terms), *([quoted(clause.whole)] if clause.whole else [])])


def _matching(connection: Connection, expression: str, units: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for batch in _batches(units):
        marks = ", ".join("?" * len(batch))
        statement = f"SELECT rowid FROM lexical WHERE lexical MATCH ? AND rowid IN ({marks})"  # noqa: S608
        found.update(number for (number,) in connection.execute(statement, (expression, *batch)))
    return found


def _batches(units: Sequence[int]) -> Iterable[Sequence[int]]:
    return (units[start : start + _AT_ONCE] for start in range(0, len(units), _AT_ONCE))
