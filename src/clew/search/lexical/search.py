"""Search by words: which units hold the words, phrases and beginnings of a query, ranked.

A query takes two steps. FTS5 finds candidates: its cost is one look at each match, so a query with frequent terms is
anchored at its rarer ones as long as they leave enough to choose from. The candidates are then ranked with all terms.
What a search may see is part of the statement that finds the candidates; nothing is filtered afterwards.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate

import msgspec

from clew.errors import InvalidArgument
from clew.search.lexical import tables as lexical_tables
from clew.search.lexical.plan import Correction, Item, Plan, Planning, all_of, either
from clew.search.lexical.query import LexicalQuery, Sign
from clew.search.lexical.ranking import Bm25Settings, ScoredUnit, Scorer, Stream, Streams
from clew.search.units import Condition

EMPTY_QUERY = "The query holds no word."
ONLY_STOP_WORDS = "The query holds only words that occur everywhere; put them in quotes to search for them as a phrase."
ONLY_EXCLUSIONS = "The query only says what to leave out; name a word to search for."
NOTHING_FOUND = "No unit that this search may see holds what the query asks for."

CANDIDATES = 200
_FREQUENT_ITEMS = 4
_ENOUGH = 50
"""With fewer anchored matches than this, all matches are looked at, however many they are."""
_MAX_CHARACTERS_RANKED = 4_000_000


class Effort(msgspec.Struct, frozen=True, kw_only=True):
    """How much a search looks at, as data."""

    candidates: int = CANDIDATES
    """How many units are ranked with all terms."""
    matches: int = 40_000
    """How many matches of all terms together FTS5 may look at; with more, it looks at those of the rarer terms."""


class LexicalHit(msgspec.Struct, frozen=True, gc=False):
    unit: int
    score: float
    """The higher, the better; comparable within one result only."""
    matched: tuple[str, ...]
    """The parts of the query that the unit holds."""


class LexicalResult(msgspec.Struct, frozen=True, kw_only=True):
    hits: tuple[LexicalHit, ...] = ()
    corrections: tuple[Correction, ...] = ()
    learnt: tuple[str, ...] = ()
    """Terms of the best units that took part in the ranking beside those of the query."""
    reason: str | None = None
    """Why nothing was found, if it is the query's doing."""
    notes: tuple[str, ...] = ()


class LexicalIndex:
    """The lexical index in the database behind `connection`. Writes happen in the transaction of the caller."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        ranking: Bm25Settings | None = None,
        effort: Effort | None = None,
        streams: Streams | None = None,
    ) -> None:
        """`streams` are those of this very index, where somebody keeps them and no number is ever used again."""
        self._connection = connection
        self._streams = streams or Streams(characters=0)
        self._ranking = ranking or Bm25Settings()
        self._effort = effort or Effort()

    def put(self, units: Iterable[tuple[int, str, str]]) -> None:
        """Add the units (number, title, body), or replace those whose number is there already."""
        lexical_tables.put(self._connection, units)

    def remove(self, units: Iterable[int]) -> None:
        """Take the units out; numbers that are not there are passed over."""
        lexical_tables.remove(self._connection, units)

    def count(self) -> int:
        """The number of units in the index."""
        return lexical_tables.totals(self._connection).units

    def search(self, query: LexicalQuery, *, limit: int, restrict: Condition | None = None) -> LexicalResult:
        """The best units for `query` among those that `restrict`, a condition on the table `units`, lets through."""
        if limit < 1:
            raise InvalidArgument(f"A search cannot be limited to {limit} results.", hint="Ask for at least one.")
        if reason := nothing_to_search(query):
            return LexicalResult(reason=reason)
        totals = lexical_tables.totals(self._connection)
        plan = Planning(self._connection, totals.units, restrict).plan(query)
        notes = _notes(query, plan)
        scorer = Scorer(self._ranking, totals)
        ranked = scorer.rank(self._candidates(plan, restrict, limit), plan.items)
        if not ranked:
            return LexicalResult(reason=NOTHING_FOUND, notes=notes)
        settings = self._ranking
        learns = (
            settings.feedback_share > 0
            and plan.plain_words >= settings.feedback_from_words
            and query.named_share <= settings.feedback_named_share
        )
        held = partial(lexical_tables.units_with, self._connection)
        learnt = scorer.learn(ranked, plan.items, held) if learns else []
        ranked = scorer.rank_again(ranked, learnt) if learnt else ranked
        return LexicalResult(
            hits=tuple(LexicalHit(each.row.unit, round(each.score, 6), each.matched) for each in ranked[:limit]),
            corrections=_corrections(plan, ranked),
            learnt=tuple(item.label for item in learnt),
            notes=notes,
        )

    def _candidates(self, plan: Plan, restrict: Condition | None, limit: int) -> list[Stream]:
        if not plan.items:
            return []
        wanted = max(self._effort.candidates, limit)
        anchored = _anchored(plan.items, self._effort.matches)
        found = self._matching(_constrained(anchored, plan), restrict, wanted)
        if len(found) < max(_ENOUGH, limit) and anchored != (
            everything := either(item.expression for item in plan.items)
        ):
            known = {stream.row.unit for stream in found}
            more = self._matching(_constrained(everything, plan), restrict, wanted)
            found += [stream for stream in more if stream.row.unit not in known]
        return found

    def _matching(self, expression: str, restrict: Condition | None, wanted: int) -> list[Stream]:
        join, condition = "", ""
        if restrict is not None:
            # CROSS JOIN keeps the full-text index in the outer loop: one look at `units` for each match.
            join, condition = "CROSS JOIN units ON units.number = lexical.rowid", f"AND ({restrict.sql})"
        # The parts of the statement that vary are Clew's own text; every value is a parameter.
        # All units in one row: each row that is fetched waits for Python's lock, which other searches want as well.
        statement = f"""
            SELECT json_group_array(unit) FROM (
                SELECT lexical.rowid AS unit, bm25(lexical, ?, 1.0, 1.0) AS badness FROM lexical {join}
                WHERE lexical MATCH ? {condition} ORDER BY badness, unit LIMIT ?
            )
            """  # noqa: S608
        values = (float(self._ranking.title_weight), expression, *(restrict.parameters if restrict else ()), wanted)
        (listed,) = self._connection.execute(statement, values).fetchone()
        units: list[int] = msgspec.json.decode(listed, type=list[int])
        found: list[Stream] = []
        characters = 0
        for stream in self._streams.of(self._connection, units):
            characters += len(stream.row.body) + len(stream.row.title)
            if found and characters > _MAX_CHARACTERS_RANKED:
                break
            found.append(stream)
        return found


def nothing_to_search(query: LexicalQuery) -> str | None:
    """Why a query asks for nothing, if so."""
    if not query.clauses:
        return EMPTY_QUERY
    if all(clause.sign is Sign.NOT for clause in query.clauses):
        return ONLY_EXCLUSIONS
    return ONLY_STOP_WORDS if query.has_only_stop_words else None


def _notes(query: LexicalQuery, plan: Plan) -> tuple[str, ...]:
    notes = []
    if query.cut:
        notes.append("The query was too long; only its beginning was read.")
    if plan.unused_items:
        notes.append(f"The query holds too many different words; {plan.unused_items} that say the least were not used.")
    return tuple(notes)


def _anchored(items: Sequence[Item], matches: int) -> str:
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


def _constrained(expression: str, plan: Plan) -> str:
    required = all_of([expression, *plan.required])
    return f"{required} NOT {either(plan.excluded)}" if plan.excluded else required


def _corrections(plan: Plan, ranked: Sequence[ScoredUnit]) -> tuple[Correction, ...]:
    """The replacements that lead to a unit the caller may see: others would tell of words the caller may not know."""
    texts = [each.row.title + each.row.body + each.row.compounds for each in ranked] if plan.corrections else []
    shown = []
    for word, found in plan.corrections.items():
        seen = [each.word for each in found if any(f" {each.term} " in text for text in texts)]
        if seen:
            shown.append(Correction(word, tuple(seen)))
    return tuple(shown)
