"""The questions of a search to an index in a database.

Candidates by words are summed up from lists of postings, of which each is read from its heaviest end: all of a rare
term, the heaviest of a frequent one. Where a list was not read to its end, and too few candidates are left of those
that the search may see, it is read again with the condition.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from clew.cache import Cache
from clew.search.database.tables import COUNTS_BEFORE, SHARED, TERM_NUMBERS
from clew.search.lexical.expression import AllOf, Beginning, Either, Expression, Phrase, Without, is_held
from clew.search.lexical.packing import Row
from clew.search.lexical.plan import Item, Plan
from clew.search.lexical.ranking import Stream
from clew.search.lexical.tables import Totals, forms_of
from clew.search.rank.mentions import MAX_BEARERS
from clew.search.reading import Fact, Spelt
from clew.search.units import Condition, Unit
from clew.store.postgres.together import Answer, Asked, Prepared, ask, prepared

if TYPE_CHECKING:
    from psycopg import Connection

_POSTINGS = 1_500
"""Read of one term at most. Further ones weigh little: of a term so frequent, the heaviest are those that hold it often
or are short."""
_POSTINGS_RESTRICTED = 20_000
STATE = Prepared(
    b"clew_search_state",
    f"""
    SELECT number, series || '-' || pg_relation_filenode('spaces'), version, vectors, units, words
    FROM spaces WHERE number IN ({SHARED}, $1) ORDER BY 1
    """,  # noqa: S608
)
"""A table that was put back from a backup has another file: what was known of its numbers counts no more, since they go
to other texts."""
N = TypeVar("N", int, float)
_DATA = msgspec.msgpack.Decoder(Unit)
_TEXTS = msgspec.json.Decoder(list[str])
_LAST = chr(0x10FFFF)


TermNumbers = Sequence[tuple[int, int]]
Terms = Cache[str, tuple[tuple[str, int], TermNumbers]]
"""By the term, with the state of the index for which they hold: what was written since is another one."""


class DatabaseReading:
    streams_at_once = 200
    streams_kept = 80_000_000
    """The terms of 100,000 texts of 80 words, as numbers."""

    def __init__(
        self, connection: "Connection[Any]", space: int, terms: Terms | None = None, *, has_numbers: bool = False
    ) -> None:
        """`terms` are what earlier searches asked about terms. `has_numbers` says whether the tables have the column
        for the numbers of a unit's terms."""
        self.connection = connection
        self.space = space
        self.spaces = [SHARED, space]
        self._state: tuple[str, int, int, int, int] | None = None
        self._parts: dict[str, int] | None = None
        self._has_numbers = has_numbers
        self._kept_terms: Terms = Cache(0) if terms is None else terms
        self._terms: dict[str, TermNumbers] = {}
        """The numbers of the terms that were asked for, and in how many units each is."""
        self.embedded: list[int] = []
        """The spaces that have vectors; known with the state."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement, values).fetchall()

    def ask(self, statement: str, values: Sequence[str | bytes]) -> tuple[str | None, ...]:
        """The one row that a statement finds, as texts: the short way for what every search asks."""
        (done,) = ask(self.connection, Asked(prepared(statement), values))
        return done.rows[0]

    # Units

    def state(self) -> tuple[str, int, int, int, int]:
        """The index, how often units and vectors were written, and how many units and words there are: asked once."""
        if self._state is None:
            (state,) = ask(self.connection, Asked(STATE, (str(self.space),)))
            self.begin(state.rows)
        assert self._state is not None  # noqa: S101
        return self._state

    def begin(self, rows: Answer) -> None:
        """Take the state that was asked for together with the beginning of the transaction."""
        counts = [[int(value or 0) for value in (row[0], *row[2:])] for row in rows]
        self.embedded = [space for space, _, vectors, _, _ in counts if vectors]
        versions, vectors, units, words = (sum(row[column] for row in counts) for column in range(1, 5))
        self._state = "-".join(row[1] or "" for row in rows), versions, vectors, units, words

    def writes(self) -> tuple[str, int]:
        return self.state()[:2]

    def parts(self) -> dict[str, int]:
        find = (
            "SELECT part, sum(units)::bigint FROM unit_parts WHERE space = ANY(%s) AND units > 0 GROUP BY 1 ORDER BY 1"
        )
        return dict(self.rows(find, (self.spaces,)))

    def allowed(self, condition: Condition, among: Sequence[int]) -> list[int]:
        sql, values = self.compiled(condition)
        statement = f"SELECT number FROM units WHERE number = ANY(%s) AND {sql} ORDER BY number"  # noqa: S608
        return [number for (number,) in self.rows(statement, (list(among), *values))]

    def compiled(self, condition: Condition) -> tuple[str, tuple[Any, ...]]:
        """A condition as PostgreSQL reads it, among the spaces that this work tree sees."""
        return f"(units.space = ANY(%s) AND {translated(condition.sql)})", (self.spaces, *condition.parameters)

    def units_of(self, numbers: Iterable[int]) -> dict[int, Unit]:
        wanted = list(dict.fromkeys(numbers))
        rows = self.rows("SELECT number, data, body FROM unit_bodies WHERE number = ANY(%s)", (wanted,))
        found = {number: decoded(data, body) for number, data, body in rows}
        return {number: found[number] for number in wanted if number in found}

    def ids_of(self, numbers: Iterable[int]) -> dict[int, str]:
        find = "SELECT array_agg(number), json_agg(id) FROM units WHERE number = ANY(%s)"
        found, ids = self.ask(find, (array(numbers),))
        return dict(zip(numbers_in(found, int), _TEXTS.decode(ids or "[]"), strict=True))

    def documents_of(self, numbers: Iterable[int]) -> dict[int, str | None]:
        return dict(self.rows("SELECT number, document FROM units WHERE number = ANY(%s)", (list(numbers),)))

    def numbers_of(self, ids: Iterable[str]) -> dict[str, int]:
        wanted = list(ids)
        find = "SELECT id, number FROM units WHERE space = ANY(%s) AND id = ANY(%s)"
        found = dict(self.rows(find, (self.spaces, wanted)))
        return {id: found[id] for id in wanted if id in found}

    # Words

    def totals(self) -> Totals:
        return Totals(*self.state()[3:])

    def units_with(self, terms: Iterable[str]) -> dict[str, int]:
        wanted = list(dict.fromkeys(terms))
        asked = [term for term in wanted if term not in self._terms]
        state = self.writes()
        kept = self._kept_terms.get_many(asked)
        self._terms |= {term: numbers for term, (held, numbers) in kept.items() if held == state}
        if asked := [term for term in asked if term not in self._terms]:
            find = """
                SELECT json_agg(term), array_agg(number), array_agg(units) FROM terms
                WHERE space = ANY(%s) AND term = ANY(%s)
                """
            rows = self.ask(find, (array(self.spaces), _texts(asked)))
            found: dict[str, list[tuple[int, int]]] = {term: [] for term in asked}
            columns = _TEXTS.decode(rows[0] or "[]"), numbers_in(rows[1], int), numbers_in(rows[2], int)
            for term, number, units in zip(*columns, strict=True):
                found[term].append((number, units))
            self._terms |= found
            self._kept_terms.put_many({term: (state, numbers) for term, numbers in found.items()})
        return {term: sum(units for _, units in own) for term in wanted if (own := self._terms[term])}

    def spelt(self, words: Iterable[str]) -> list[Spelt]:
        find = """
            SELECT term, sum(units)::bigint, term FROM terms
            WHERE space = ANY(%(spaces)s) AND term = ANY(%(words)s) GROUP BY term
            UNION ALL
            SELECT terms.term, sum(units)::bigint, word FROM words JOIN terms USING (term)
            WHERE space = ANY(%(spaces)s) AND word = ANY(%(words)s) GROUP BY terms.term, word
            """
        return self.connection.execute(find, {"spaces": self.spaces, "words": sorted(words)}).fetchall()

    def spelt_alike(self, beginning: str, shortest: int, longest: int, most: int) -> list[Spelt]:
        find = """
            SELECT term, sum(units)::bigint, term FROM terms
            WHERE space = ANY(%(spaces)s) AND term >= %(first)s AND term < %(last)s
                AND length(term) BETWEEN %(shortest)s AND %(longest)s GROUP BY term
            UNION ALL
            SELECT terms.term, sum(units)::bigint, word FROM words JOIN terms USING (term)
            WHERE space = ANY(%(spaces)s) AND word >= %(first)s AND word < %(last)s
                AND length(word) BETWEEN %(shortest)s AND %(longest)s GROUP BY terms.term, word
            LIMIT %(most)s
            """
        values = {
            "spaces": self.spaces,
            "first": beginning,
            "last": beginning + _LAST,
            "shortest": shortest,
            "longest": longest,
            "most": most,
        }
        return self.connection.execute(find, values).fetchall()

    def terms_beginning(self, beginning: str, most: int) -> dict[str, int]:
        find = """
            SELECT term, sum(units)::bigint AS held FROM terms WHERE space = ANY(%(spaces)s) AND term IN (
                SELECT term FROM terms WHERE term >= %(first)s AND term < %(last)s
                UNION SELECT term FROM words WHERE word >= %(first)s AND word < %(last)s
            ) GROUP BY term ORDER BY held DESC, term LIMIT %(most)s
            """
        values = {"spaces": self.spaces, "first": beginning, "last": beginning + _LAST, "most": most}
        return dict(self.connection.execute(find, values).fetchall())

    def is_visible(self, term: str, restrict: Condition) -> bool:
        sql, values = self.compiled(restrict)
        find = f"""
            SELECT 1 FROM terms JOIN postings ON postings.term = terms.number JOIN units ON units.number = postings.unit
            WHERE terms.space = ANY(%s) AND terms.term = %s AND {sql} LIMIT 1
            """  # noqa: S608
        return bool(self.rows(find, (self.spaces, term, *values)))

    def holds(self, name: str, restrict: Condition | None) -> bool:
        forms = forms_of(name)
        if forms is None:
            return True
        ending = """
            SELECT DISTINCT term FROM terms WHERE space = ANY(%s) AND term >= %s AND term < %s AND length(term) <= %s
            """
        values = (self.spaces, forms.common, forms.common + _LAST, forms.longest)
        phrases = [Phrase((*forms.start, term)) for (term,) in self.rows(ending, values)]
        wanted = [*phrases, *(Phrase((compound,)) for compound in forms.compounds)]
        return any(self._exists(each, restrict) for each in wanted)

    def _exists(self, phrase: Phrase, restrict: Condition | None) -> bool:
        constraint, values = self._constraint(phrase)
        sql, more = ("true", ()) if restrict is None else self.compiled(restrict)
        join = "" if restrict is None else "JOIN units ON units.number = streams.unit"
        find = f"SELECT 1 FROM streams {join} WHERE {constraint} AND {sql} LIMIT 1"  # noqa: S608
        return bool(self.rows(find, (*values, *more)))

    def candidates(
        self,
        plan: Plan,
        restrict: Condition | None,
        *,
        wanted: int,
        enough: int,
        matches: int,
        title_weight: int,
    ) -> list[int]:
        numbered = self._numbered(plan.items)
        if not numbered:
            return []
        most = max(1, min(_POSTINGS, matches // 2))
        found = self._summed(numbered, plan, restrict, wanted, most)
        is_cut = any(units > most for _, _, units in numbered)
        if len(found) < enough and is_cut:
            more = self._summed(numbered, plan, restrict, wanted, _POSTINGS_RESTRICTED, early=True)
            found = list(dict.fromkeys((*found, *more)))
        return found

    def _numbered(self, items: Sequence[Item]) -> list[tuple[int, float, int]]:
        """The numbers of the terms of the items, what each weighs, and in how many units it is."""
        weights: dict[str, float] = {}
        beginnings: list[str] = []
        for item in items:
            for expression in _leaves(item.expression):
                if isinstance(expression, Beginning):
                    beginnings.append(expression.start)
                for term in expression.terms if isinstance(expression, Phrase) else ():
                    weights[term] = weights.get(term, 0.0) + item.weight * item.rarity
        for start in beginnings:
            for term in self.terms_beginning(start, 64):
                weights.setdefault(term, 1.0)
        self.units_with(weights)
        return [(number, weight, units) for term, weight in weights.items() for number, units in self._terms[term]]

    def _summed(
        self,
        numbered: Sequence[tuple[int, float, int]],
        plan: Plan,
        restrict: Condition | None,
        wanted: int,
        most: int,
        *,
        early: bool = False,
    ) -> list[int]:
        """The units with the largest sums of weighted impacts, of those that fulfil plan and condition. `early` applies
        both before a list is cut off, rather than after."""
        constraint, values = self._required(plan)
        sql, more = ("true", ()) if restrict is None else self.compiled(restrict)
        tests = [each for each in (constraint, sql if restrict is not None else None) if each]
        joins = ("JOIN streams ON streams.unit = {0}" if constraint else "") + (
            " JOIN units ON units.number = {0}" if restrict is not None else ""
        )
        where = f"AND {' AND '.join(tests)}" if tests else ""
        of_list, of_sum = (where, "") if early else ("", where.replace("AND", "WHERE", 1))
        list_join, sum_join = (joins.format("postings.unit"), "") if early else ("", joins.format("summed.unit"))
        # Of what is tested one by one, the best come first; otherwise only the best are sorted.
        in_order = "ORDER BY score DESC, unit" if of_sum else ""
        conditions = (*values, *more)
        # The parts of the statement that vary are Clew's own text; every value is a parameter.
        statement = f"""
            SELECT array_agg(unit) FROM (
                SELECT summed.unit FROM (
                    SELECT unit, sum(impact * weight) AS score
                    FROM unnest(%s::int[], %s::float8[]) AS asked (term, weight) CROSS JOIN LATERAL (
                        SELECT postings.unit, postings.impact FROM postings {list_join}
                        WHERE postings.term = asked.term {of_list}
                        ORDER BY postings.term DESC, postings.impact DESC, postings.unit DESC LIMIT %s
                    ) AS listed GROUP BY unit {in_order}
                ) AS summed {sum_join} {of_sum} ORDER BY score DESC, summed.unit LIMIT %s
            ) AS best
            """  # noqa: S608
        before = ([number for number, _, _ in numbered], [weight for _, weight, _ in numbered])
        if not tests:
            (found,) = self.ask(statement, (array(before[0]), array(before[1]), str(most), str(wanted)))
            return numbers_in(found, int)
        given = (*before, *conditions, most, wanted) if early else (*before, most, *conditions, wanted)
        ((units,),) = self.rows(statement, given)
        return units or []

    def _required(self, plan: Plan) -> tuple[str, tuple[Any, ...]]:
        """What a unit has to hold for a plan, as a condition on `streams`; empty where anything will do."""
        parts = [self._constraint(each) for each in plan.required]
        parts += [(f"NOT {sql}", values) for sql, values in map(self._constraint, plan.excluded)]
        return " AND ".join(sql for sql, _ in parts), tuple(value for _, values in parts for value in values)

    def _constraint(self, expression: Expression) -> tuple[str, tuple[Any, ...]]:
        match expression:
            case Phrase(terms):
                return _held(f" {' '.join(terms)} ")
            case Beginning(start):
                return _held(f" {start}")
            case Either(parts):
                return _joined(" OR ", [self._constraint(part) for part in parts])
            case AllOf(parts):
                return _joined(" AND ", [self._constraint(part) for part in parts])
            case Without(wanted, unwanted):
                (sql, values), (other, more) = self._constraint(wanted), self._constraint(unwanted)
                return f"({sql} AND NOT {other})", (*values, *more)

    def streams(self, units: Iterable[int]) -> list[Row]:
        # No term holds the end of a line (`lexical/packing.py`).
        find = r"""
            SELECT array_agg(unit), string_agg(title || E'\n' || body || E'\n' || compounds, E'\n')
            FROM streams WHERE unit = ANY(%s)
            """
        found, joined = self.ask(find, (array(dict.fromkeys(units)),))
        parts = (joined or "").split("\n")
        return list(map(Row, numbers_in(found, int), parts[::3], parts[1::3], parts[2::3]))

    def numbered_streams(self, units: Sequence[int]) -> list[Stream]:
        import numpy as np

        if not self._has_numbers:
            return []
        find = """
            SELECT array_agg(unit), array_agg(octet_length(terms)), string_agg(terms, '')
            FROM streams WHERE unit = ANY(%s) AND terms IS NOT NULL
            """
        found, lengths, sent = self.ask(find, (array(units),))
        numbers = np.frombuffer(bytes.fromhex((sent or "")[2:]), TERM_NUMBERS)
        streams: list[Stream] = []
        end = 0
        for unit, size in zip(numbers_in(found, int), numbers_in(lengths, int), strict=True):
            start, end = end, end + size // numbers.itemsize
            in_title, words, characters = numbers[start : start + COUNTS_BEFORE].tolist()
            # A copy: one stream that is kept does not keep all others.
            keys = numbers[start + COUNTS_BEFORE : end].copy()
            streams.append(Stream(unit, words, characters, in_title, keys, None))
        return streams

    def term_numbers(self, terms: Iterable[str]) -> dict[str, list[int]]:
        wanted = list(terms)
        self.units_with(wanted)
        return {term: [number for number, _ in self._terms[term]] for term in wanted}

    def holding(self, expression: Expression, units: Sequence[int]) -> set[int]:
        return {row.unit for row in self.streams(units) if is_held(expression, row[1:])}

    # What stands beside, and what is named

    def beside(
        self, numbers: Sequence[int], within: str, *, before: bool, count: int, restrict: Condition | None
    ) -> list[tuple[int, tuple[int | None, ...]]]:
        sign, order = ("<", "DESC") if before else (">", "ASC")
        sql, values = ("units.space = ANY(%s)", (self.spaces,)) if restrict is None else self.compiled(restrict)
        statement = f"""
            SELECT own.number, ARRAY(
                SELECT units.number FROM units
                WHERE units.{within} = own.{within} AND units.place {sign} own.place AND {sql}
                ORDER BY units.place {order} LIMIT %s
            ) FROM units AS own WHERE own.number = ANY(%s)
            """  # noqa: S608
        found = self.rows(statement, (*values, count, list(numbers)))
        return [(number, (*beside, *[None] * (count - len(beside)))) for number, beside in found]

    def facts(self, numbers: Sequence[int]) -> dict[int, Fact]:
        find = "SELECT number, speaker, role, time, characters FROM units WHERE number = ANY(%s)"
        return {number: Fact(*fact) for number, *fact in self.rows(find, (list(numbers),))}

    def bodies(self, numbers: Sequence[int]) -> dict[int, str]:
        return dict(self.rows("SELECT number, body FROM unit_bodies WHERE number = ANY(%s)", (list(numbers),)))

    def sample(self, condition: Condition, count: int) -> list[int]:
        return [number for (number,) in self.rows(*self.sampling(condition, count))]

    def sampling(self, condition: Condition, count: int) -> tuple[str, tuple[Any, ...]]:
        """The question for a sample. Each space for itself, as the index `units_by_sample` holds them in order."""
        spaces = " UNION ALL ".join(
            f"""
            (SELECT number, md5(id) AS hash, id FROM units WHERE space = {space:d} AND {translated(condition.sql)}
            ORDER BY space, md5(id), id LIMIT %s)
            """  # noqa: S608
            for space in self.spaces
        )
        find = f"SELECT number FROM ({spaces}) AS first ORDER BY hash, id LIMIT %s"  # noqa: S608
        return find, (*(*condition.parameters, count) * len(self.spaces), count)

    def begun(self, beginnings: Sequence[str]) -> list[str]:
        find = """
            SELECT value FROM unnest(%s::text[]) AS asked (value) WHERE EXISTS (
                SELECT 1 FROM unit_titles WHERE key >= value COLLATE "C" AND key < (value || '!') COLLATE "C"
                    AND space = ANY(%s)
            )
            """
        return [value for (value,) in self.rows(find, (list(beginnings), self.spaces))]

    def borne(self, keys: Sequence[str], restrict: Condition | None) -> Mapping[str, Sequence[int]]:
        sql, values = ("units.space = ANY(%s)", (self.spaces,)) if restrict is None else self.compiled(restrict)
        find = f"""
            SELECT value, ARRAY(
                SELECT units.number FROM unit_titles JOIN units USING (number)
                WHERE unit_titles.key = value COLLATE "C" AND {sql} LIMIT {MAX_BEARERS + 1}
            ) FROM unnest(%s::text[]) AS asked (value)
            WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key = value COLLATE "C" AND space = ANY(%s))
            """  # noqa: S608
        return dict(self.rows(find, (*values, list(keys), self.spaces)))


def array(numbers: Iterable[float]) -> str:
    """Numbers as PostgreSQL reads an array of them, each with all its digits."""
    return f"{{{','.join(map(repr, numbers))}}}"


def _texts(texts: Iterable[str]) -> str:
    """Texts as PostgreSQL reads an array of them."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"


def numbers_in(array: str | None, kind: Callable[[str], N]) -> list[N]:
    """The numbers of an array as PostgreSQL writes it; an aggregate of no rows is null."""
    return [] if array is None else list(map(kind, array[1:-1].split(",")))


def encoded(unit: Unit) -> bytes:
    """A unit as it is kept beside its text."""
    return msgspec.msgpack.encode(msgspec.structs.replace(unit, body=""))


def decoded(data: bytes, body: str) -> Unit:
    return msgspec.structs.replace(_DATA.decode(data), body=body)


@lru_cache(maxsize=256)
def translated(sql: str) -> str:
    """A condition of `units.compile_condition` in the dialect of PostgreSQL. It is Clew's own text, without values."""
    return sql.replace("+unit", "unit").replace("?", "%s")


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
