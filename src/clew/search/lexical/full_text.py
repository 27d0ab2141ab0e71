"""Search by words in SQLite's full-text index.

The cost of FTS5 is one look at each match, so a query with frequent terms is anchored at its rarer ones as long as they
leave enough to choose from.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import accumulate

import msgspec

from clew.search.lexical import tables
from clew.search.lexical.expression import AllOf, Beginning, Either, Expression, Phrase, Without, all_of, either
from clew.search.lexical.packing import UnitTerms
from clew.search.lexical.plan import PlannedTerm, QueryPlan
from clew.search.lexical.tables import IndexTotals, Spelling
from clew.store.sql.conditions import Condition
from clew.store.sqlite.connections import SqliteConnection

_FREQUENT_ITEMS = 4
_AT_ONCE = 500
_SPELLED = """
    SELECT lexical_terms.term, lexical_terms.units, lexical_terms.term AS word FROM lexical_terms
    WHERE lexical_terms.term IN (SELECT value FROM json_each(?1))
    UNION ALL
    SELECT lexical_terms.term, lexical_terms.units, lexical_words.word FROM lexical_words
    JOIN lexical_terms USING (term)
    WHERE lexical_words.word IN (SELECT value FROM json_each(?1))
"""
_SPELLED_FROM = """
    SELECT term, units, term AS word FROM lexical_terms
    WHERE term >= ?1 AND term < ?2 AND length(term) BETWEEN ?3 AND ?4
    UNION ALL
    SELECT lexical_terms.term, lexical_terms.units, lexical_words.word FROM lexical_words
    JOIN lexical_terms USING (term)
    WHERE lexical_words.word >= ?1 AND lexical_words.word < ?2 AND length(lexical_words.word) BETWEEN ?3 AND ?4
    LIMIT ?5
"""
_TERMS_BEGINNING = """
    SELECT term, units FROM lexical_terms WHERE term IN (
        SELECT term FROM lexical_terms WHERE term >= ?1 AND term < ?2
        UNION SELECT term FROM lexical_words WHERE word >= ?1 AND word < ?2
    ) ORDER BY units DESC, term LIMIT ?3
"""


def as_fts(expression: Expression) -> str:
    """The expression in the syntax of FTS5. Terms never contain quotes."""
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


class FullTextReader:
    """Statements of a search by words, to the tables of one SQLite file."""

    streams_at_once = 50
    streams_kept = 24_000_000

    def __init__(self, connection: SqliteConnection) -> None:
        self.connection = connection

    def totals(self) -> IndexTotals:
        return tables.totals(self.connection)

    def units_with(self, terms: Iterable[str]) -> dict[str, int]:
        # One statement for all of them: asking for each takes several times as long.
        find = "SELECT term, units FROM lexical_terms WHERE term IN (SELECT value FROM json_each(?))"
        return dict(self.connection.execute(find, (json.dumps(list(terms)),)).fetchall())

    def terms_spelled(self, words: Iterable[str]) -> list[Spelling]:
        return self.connection.execute(_SPELLED, (in_json(sorted(words)),)).fetchall()

    def spellings_beginning(self, beginning: str, shortest: int, longest: int, most: int) -> list[Spelling]:
        values = (beginning, _after(beginning), shortest, longest, most)
        return self.connection.execute(_SPELLED_FROM, values).fetchall()

    def terms_beginning(self, beginning: str, most: int) -> dict[str, int]:
        return dict(self.connection.execute(_TERMS_BEGINNING, (beginning, _after(beginning), most)).fetchall())

    def is_visible(self, term: str, restrict: Condition) -> bool:
        return self._is_held(as_fts(Phrase((term,))), restrict)

    def has_name(self, name: str, restrict: Condition | None) -> bool:
        forms = tables.forms_of(name)
        if forms is None:
            return True
        endings = (
            "SELECT term FROM lexical_terms WHERE term >= ?1 AND term < ?1 || char(1114111) AND length(term) <= ?2"
        )
        last = [term for (term,) in self.connection.execute(endings, (forms.common, forms.longest))]
        phrases = [*(Phrase((*forms.start, term)) for term in last), *(Phrase((each,)) for each in forms.compounds)]
        return bool(phrases) and self._is_held(" OR ".join(map(as_fts, phrases)), restrict)

    def _is_held(self, expression: str, restrict: Condition | None) -> bool:
        join, condition, values = _restricted(restrict)
        # The condition is Clew's own text; every value is a parameter.
        statement = f"SELECT 1 FROM lexical {join} WHERE lexical MATCH ? {condition} LIMIT 1"  # noqa: S608
        return self.connection.execute(statement, (expression, *values)).fetchone() is not None

    def candidates(
        self,
        plan: QueryPlan,
        restrict: Condition | None,
        *,
        wanted: int,
        enough: int,
        matches: int,
        title_weight: int,
    ) -> list[int]:
        """The units worth ranking for a plan, up to `wanted`; if fewer than `enough` match the rare terms, all
        matches."""
        anchored = _anchored(plan.items, matches)
        found = self._ranked(_constrained(anchored, plan), restrict, wanted, title_weight)
        if len(found) < enough and anchored != (everything := either(item.expression for item in plan.items)):
            more = self._ranked(_constrained(everything, plan), restrict, wanted, title_weight)
            found = list(dict.fromkeys((*found, *more)))
        return found

    def _ranked(self, expression: Expression, restrict: Condition | None, wanted: int, title_weight: int) -> list[int]:
        join, condition, values = _restricted(restrict)
        # The parts of the statement that vary are Clew's own text; every value is a parameter.
        # All units in one row: each row that is fetched waits for Python's lock, which other searches want as well.
        statement = f"""
            SELECT json_group_array(unit) FROM (
                SELECT lexical.rowid AS unit, bm25(lexical, 1.0, ?, 1.0) AS badness FROM lexical {join}
                WHERE lexical MATCH ? {condition} ORDER BY badness, unit LIMIT ?
            )
            """  # noqa: S608
        found = self.connection.execute(statement, (float(title_weight), as_fts(expression), *values, wanted))
        return msgspec.json.decode(found.fetchone()[0], type=list[int])

    def streams(self, units: Iterable[int]) -> list[UnitTerms]:
        return tables.streams(self.connection, units)

    def numbered_streams(self, units: Sequence[int]) -> tuple[()]:
        """None: the texts are at hand, and numbers would take as much space again."""
        return ()

    def term_numbers(self, terms: Iterable[str]) -> dict[str, Sequence[int]]:
        return {}

    def matching(self, expression: Expression, units: Sequence[int]) -> set[int]:
        found: set[int] = set()
        for start in range(0, len(units), _AT_ONCE):
            batch = units[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(batch))
            statement = f"SELECT rowid FROM lexical WHERE lexical MATCH ? AND rowid IN ({marks})"  # noqa: S608
            found.update(number for (number,) in self.connection.execute(statement, (as_fts(expression), *batch)))
        return found


def _restricted(restrict: Condition | None) -> tuple[str, str, tuple[str, ...]]:
    """Join, condition and values for matches that a search may see."""
    if restrict is None:
        return "", "", ()
    # CROSS JOIN keeps the full-text index in the outer loop: one look at the unit for each match.
    join = "CROSS JOIN indexed_units AS units ON units.number = lexical.rowid"
    return join, f"AND ({restrict.sql})", restrict.parameters


def _after(beginning: str) -> str:
    """The first text after all with this beginning."""
    return beginning[:-1] + chr(ord(beginning[-1]) + 1)


def in_json(values: Sequence[object]) -> str:
    """Many values as one parameter, for `json_each`."""
    return msgspec.json.encode(values).decode()


def _anchored(items: Sequence[PlannedTerm], matches: int) -> Expression:
    """An expression for the units worth ranking: those with any item, or only those with one of the rarer items.

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


def _constrained(expression: Expression, plan: QueryPlan) -> Expression:
    required = all_of([expression, *plan.required])
    return Without(required, either(plan.excluded)) if plan.excluded else required
