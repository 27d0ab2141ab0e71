"""The questions of a search to an index in a database."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from clew.cache import Cache
from clew.search.database.postings import candidates, constraint
from clew.search.database.tables import COUNTS_BEFORE, SHARED, TERM_NUMBERS
from clew.search.database.values import array, numbers_in, texts
from clew.search.lexical.expression import Expression, Phrase, is_held
from clew.search.lexical.packing import UnitTerms
from clew.search.lexical.plan import QueryPlan
from clew.search.lexical.ranking import Stream
from clew.search.lexical.tables import IndexTotals, Spelling, forms_of
from clew.search.rank.mentions import MAX_BEARERS
from clew.search.reading import UnitFacts
from clew.search.units import Unit
from clew.store.postgres.pipeline import Answer, PreparedStatement, StatementCall, ask, prepared
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psycopg import Connection

STATE = PreparedStatement(
    b"clew_search_state",
    f"""
    SELECT number, series || '-' || pg_relation_filenode('spaces'), version, vectors, units, words
    FROM spaces WHERE number IN ({SHARED}, $1) ORDER BY 1
    """,  # noqa: S608
)
"""A table that was put back from a backup has another file: what was known of its numbers counts no more, since they go
to other texts."""
_DATA = msgspec.msgpack.Decoder(Unit)
_TEXTS = msgspec.json.Decoder(list[str])
_LAST = chr(0x10FFFF)


TermNumbers = Sequence[tuple[int, int]]
Terms = Cache[str, tuple[tuple[str, int], TermNumbers]]
"""By the term, with the state of the index for which they hold: what was written since is another one."""


class DatabaseIndexReader:
    streams_at_once = 200
    streams_kept = 80_000_000
    """The terms of 100,000 texts of 80 words, as numbers."""

    def __init__(
        self, connection: "Connection[Any]", space: int, terms: Terms | None = None, *, has_numbers: bool = False
    ) -> None:
        """`terms` is a cache of answers about terms. `has_numbers` says whether the tables have the column for the
        numbers of a unit's terms."""
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

    def ask(self, statement: str, values: Sequence[str | bytes]) -> list[tuple[bytes | None, ...]]:
        """The rows of a statement, as PostgreSQL sends them: the short way for statements of every search."""
        (done,) = ask(self.connection, StatementCall(prepared(statement), values, binary=True))
        return done.values

    def lists_of_numbers(self, statement: str, values: Sequence[Any]) -> "list[NDArray[Any]]":
        """A list of numbers of each row, not taken apart one by one: there may be many thousands."""
        result = self.connection.cursor(binary=True).execute(statement, values).pgresult
        return [numbers_in(result.get_value(row, 0)) for row in range(result.ntuples)] if result is not None else []

    # Units

    def state(self) -> tuple[str, int, int, int, int]:
        """The index, how often units and vectors were written, and how many units and words there are: asked once."""
        if self._state is None:
            (state,) = ask(self.connection, StatementCall(STATE, (str(self.space),)))
            self.begin(state.rows)
        assert self._state is not None  # noqa: S101
        return self._state

    def begin(self, rows: Answer) -> None:
        """Receive the state that was asked for with the beginning of the transaction."""
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
        ((found, ids),) = self.ask(find, (array(numbers),))
        return dict(zip(numbers_in(found).tolist(), _TEXTS.decode(ids or b"[]"), strict=True))

    def documents_of(self, numbers: Iterable[int]) -> dict[int, str | None]:
        return dict(self.rows("SELECT number, document FROM units WHERE number = ANY(%s)", (list(numbers),)))

    def numbers_of(self, ids: Iterable[str]) -> dict[str, int]:
        wanted = list(ids)
        find = "SELECT id, number FROM units WHERE space = ANY(%s) AND id = ANY(%s)"
        found = dict(self.rows(find, (self.spaces, wanted)))
        return {id: found[id] for id in wanted if id in found}

    # Words

    def totals(self) -> IndexTotals:
        return IndexTotals(*self.state()[3:])

    def units_with(self, terms: Iterable[str]) -> dict[str, int]:
        return {term: sum(units for _, units in own) for term, own in self.terms_of(terms).items() if own}

    def terms_of(self, terms: Iterable[str]) -> dict[str, TermNumbers]:
        """The numbers of some terms, one for each space that has the term, with the number of units there."""
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
            ((names, numbers, units),) = self.ask(find, (array(self.spaces), texts(asked)))
            found: dict[str, list[tuple[int, int]]] = {term: [] for term in asked}
            columns = _TEXTS.decode(names or b"[]"), numbers_in(numbers).tolist(), numbers_in(units).tolist()
            for term, number, held in zip(*columns, strict=True):
                found[term].append((number, held))
            self._terms |= found
            self._kept_terms.put_many({term: (state, numbers) for term, numbers in found.items()})
        return {term: self._terms[term] for term in wanted}

    def terms_spelled(self, words: Iterable[str]) -> list[Spelling]:
        find = """
            SELECT term, sum(units)::bigint, term FROM terms
            WHERE space = ANY(%(spaces)s) AND term = ANY(%(words)s) GROUP BY term
            UNION ALL
            SELECT terms.term, sum(units)::bigint, word FROM words JOIN terms USING (term)
            WHERE space = ANY(%(spaces)s) AND word = ANY(%(words)s) GROUP BY terms.term, word
            """
        return self.connection.execute(find, {"spaces": self.spaces, "words": sorted(words)}).fetchall()

    def spellings_beginning(self, beginning: str, shortest: int, longest: int, most: int) -> list[Spelling]:
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

    def has_name(self, name: str, restrict: Condition | None) -> bool:
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
        holds, values = constraint(phrase)
        sql, more = ("true", ()) if restrict is None else self.compiled(restrict)
        join = "" if restrict is None else "JOIN units ON units.number = streams.unit"
        find = f"SELECT 1 FROM streams {join} WHERE {holds} AND {sql} LIMIT 1"  # noqa: S608
        return bool(self.rows(find, (*values, *more)))

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
        return candidates(self, plan, restrict, wanted=wanted, enough=enough, matches=matches)

    def streams(self, units: Iterable[int]) -> list[UnitTerms]:
        # No term holds the end of a line (`lexical/packing.py`).
        find = r"""
            SELECT array_agg(unit), string_agg(title || E'\n' || body || E'\n' || compounds, E'\n')
            FROM streams WHERE unit = ANY(%s)
            """
        ((found, joined),) = self.ask(find, (array(dict.fromkeys(units)),))
        parts = (joined or b"").decode().split("\n")
        return list(map(UnitTerms, numbers_in(found).tolist(), parts[::3], parts[1::3], parts[2::3]))

    def numbered_streams(self, units: Sequence[int]) -> list[Stream]:
        import numpy as np

        if not self._has_numbers:
            return []
        find = """
            SELECT array_agg(unit), array_agg(octet_length(terms)), string_agg(terms, '')
            FROM streams WHERE unit = ANY(%s) AND terms IS NOT NULL
            """
        ((found, lengths, sent),) = self.ask(find, (array(units),))
        numbers = np.frombuffer(sent or b"", TERM_NUMBERS)
        streams: list[Stream] = []
        end = 0
        for unit, size in zip(numbers_in(found).tolist(), numbers_in(lengths).tolist(), strict=True):
            start, end = end, end + size // numbers.itemsize
            in_title, words, characters = numbers[start : start + COUNTS_BEFORE].tolist()
            # A copy: one stream that is kept does not keep all others.
            keys = numbers[start + COUNTS_BEFORE : end].copy()
            streams.append(Stream(unit, words, characters, in_title, keys, None))
        return streams

    def term_numbers(self, terms: Iterable[str]) -> dict[str, list[int]]:
        return {term: [number for number, _ in own] for term, own in self.terms_of(terms).items()}

    def matching(self, expression: Expression, units: Sequence[int]) -> set[int]:
        return {row.unit for row in self.streams(units) if is_held(expression, row[1:])}

    # What is beside, and what is named

    def neighbours(
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

    def facts(self, numbers: Sequence[int]) -> dict[int, UnitFacts]:
        find = "SELECT number, speaker, role, time, characters FROM units WHERE number = ANY(%s)"
        return {number: UnitFacts(*fact) for number, *fact in self.rows(find, (list(numbers),))}

    def bodies(self, numbers: Sequence[int]) -> dict[int, str]:
        return dict(self.rows("SELECT number, body FROM unit_bodies WHERE number = ANY(%s)", (list(numbers),)))

    def sample(self, condition: Condition, count: int) -> list[int]:
        return [number for (number,) in self.rows(*self.sampling(condition, count))]

    def sampling(self, condition: Condition, count: int) -> tuple[str, tuple[Any, ...]]:
        """The query for a sample, space by space, in the order of the index `units_by_sample`."""
        spaces = " UNION ALL ".join(
            f"""
            (SELECT number, md5(id) AS hash, id FROM units WHERE space = {space:d} AND {translated(condition.sql)}
            ORDER BY space, md5(id), id LIMIT %s)
            """  # noqa: S608
            for space in self.spaces
        )
        find = f"SELECT number FROM ({spaces}) AS first ORDER BY hash, id LIMIT %s"  # noqa: S608
        return find, (*(*condition.parameters, count) * len(self.spaces), count)

    def title_beginnings(self, beginnings: Sequence[str]) -> list[str]:
        find = """
            SELECT value FROM unnest(%s::text[]) AS asked (value) WHERE EXISTS (
                SELECT 1 FROM unit_titles WHERE key >= value COLLATE "C" AND key < (value || '!') COLLATE "C"
                    AND space = ANY(%s)
            )
            """
        return [value for (value,) in self.rows(find, (list(beginnings), self.spaces))]

    def units_titled(self, keys: Sequence[str], restrict: Condition | None) -> Mapping[str, Sequence[int]]:
        sql, values = ("units.space = ANY(%s)", (self.spaces,)) if restrict is None else self.compiled(restrict)
        find = f"""
            SELECT value, ARRAY(
                SELECT units.number FROM unit_titles JOIN units USING (number)
                WHERE unit_titles.key = value COLLATE "C" AND {sql} LIMIT {MAX_BEARERS + 1}
            ) FROM unnest(%s::text[]) AS asked (value)
            WHERE EXISTS (SELECT 1 FROM unit_titles WHERE key = value COLLATE "C" AND space = ANY(%s))
            """  # noqa: S608
        return dict(self.rows(find, (*values, list(keys), self.spaces)))


def encoded(unit: Unit) -> bytes:
    """A unit without its text, as it is stored."""
    return msgspec.msgpack.encode(msgspec.structs.replace(unit, body=""))


def decoded(data: bytes, body: str) -> Unit:
    return msgspec.structs.replace(_DATA.decode(data), body=body)


@lru_cache(maxsize=256)
def translated(sql: str) -> str:
    """A condition of `units.compile_condition` in the dialect of PostgreSQL. It is Clew's own text, without values."""
    return sql.replace("+unit", "unit").replace("?", "%s")
