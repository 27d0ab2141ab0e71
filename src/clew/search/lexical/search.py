"""Search by words: the units with the words, phrases and beginnings of a query, ranked.

A query takes two steps. The index finds candidates, by its rarer terms above all; they are then ranked with all terms.
What a search may see is part of the statement that finds the candidates; nothing is filtered afterwards.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from clew.errors import InvalidArgument
from clew.search.lexical.packing import UnitTerms
from clew.search.lexical.plan import Correction, Planning, QueryPlan
from clew.search.lexical.query import LexicalQuery, Sign
from clew.search.lexical.ranking import Bm25Settings, Scorer, Stream, Streams
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    from clew.search.reading import IndexReader

EMPTY_QUERY = "The query has no words."
ONLY_STOP_WORDS = "The query holds only words that occur everywhere; put them in quotes to search for them as a phrase."
ONLY_EXCLUSIONS = "The query only says what to leave out; name a word to search for."
NOTHING_FOUND = "No unit that this search may see holds what the query asks for."

CANDIDATES = 200
_ENOUGH = 50
"""With fewer anchored matches than this, all matches are looked at, however many they are."""
_MAX_CHARACTERS_RANKED = 4_000_000


class Effort(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a search, as data."""

    candidates: int = CANDIDATES
    """The number of units that are ranked with all terms."""
    matches: int = 40_000
    """The number of matches, of all terms together, that are looked at; if there are more, those of the rarer terms."""


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
    """The reason if nothing was found because of the query."""
    notes: tuple[str, ...] = ()


class LexicalSearch:
    """Search by words in one state of an index."""

    def __init__(
        self,
        reading: "IndexReader",
        *,
        ranking: Bm25Settings | None = None,
        effort: Effort | None = None,
        streams: Streams | None = None,
    ) -> None:
        """`streams` is a cache for this very index, in which no number is ever used again."""
        self._reading = reading
        self._streams = streams or Streams(0)
        self._ranking = ranking or Bm25Settings()
        self._effort = effort or Effort()

    def search(self, query: LexicalQuery, *, limit: int, restrict: Condition | None = None) -> LexicalResult:
        """The best units for `query` among those that fulfil `restrict`, a condition on the table `units`."""
        if limit < 1:
            raise InvalidArgument(f"A search cannot be limited to {limit} results.", hint="Ask for at least one.")
        if reason := nothing_to_search(query):
            return LexicalResult(reason=reason)
        totals = self._reading.totals()
        plan = Planning(self._reading, totals.units, restrict).plan(query)
        notes = _notes(query, plan)
        scorer = Scorer(self._ranking, self._reading, self._candidates(plan, restrict, limit), self._texts)
        if not scorer.score(plan.items):
            return LexicalResult(reason=NOTHING_FOUND, notes=notes)
        settings = self._ranking
        learns = (
            settings.feedback_share > 0
            and plan.plain_words >= settings.feedback_from_words
            and query.named_share <= settings.feedback_named_share
        )
        learnt = scorer.learn(plan.items) if learns else []
        ranked = scorer.ranked()
        seen = self._texts([each for each, _, _ in ranked]) if plan.corrections else []
        return LexicalResult(
            hits=tuple([LexicalHit(each.unit, round(score, 6), matched) for each, score, matched in ranked[:limit]]),
            corrections=_corrections(plan, seen),
            learnt=tuple(item.label for item in learnt),
            notes=notes,
        )

    def _texts(self, streams: Sequence[Stream]) -> list[UnitTerms]:
        return self._streams.rows_of(self._reading, streams)

    def _candidates(self, plan: QueryPlan, restrict: Condition | None, limit: int) -> list[Stream]:
        if not plan.items:
            return []
        units = self._reading.candidates(
            plan,
            restrict,
            wanted=max(self._effort.candidates, limit),
            enough=max(_ENOUGH, limit),
            matches=self._effort.matches,
            title_weight=self._ranking.title_weight,
        )
        found: list[Stream] = []
        left = _MAX_CHARACTERS_RANKED
        for streams in self._streams.of(self._reading, units):
            left -= sum(stream.characters for stream in streams)
            found += streams
            if left < 0:
                break
        while left < 0 and len(found) > 1:
            left += found.pop().characters
        return found


def nothing_to_search(query: LexicalQuery) -> str | None:
    """The reason why a query finds nothing by itself; None if it can find something."""
    if not query.clauses:
        return EMPTY_QUERY
    if all(clause.sign is Sign.NOT for clause in query.clauses):
        return ONLY_EXCLUSIONS
    return ONLY_STOP_WORDS if query.has_only_stop_words else None


def _notes(query: LexicalQuery, plan: QueryPlan) -> tuple[str, ...]:
    notes = []
    if query.cut:
        notes.append("The query was too long; only its beginning was read.")
    if plan.unused_items:
        notes.append(f"The query holds too many different words; {plan.unused_items} that say the least were not used.")
    return tuple(notes)


def _corrections(plan: QueryPlan, rows: Sequence[UnitTerms]) -> tuple[Correction, ...]:
    """The corrections that lead to a visible unit: others would reveal words that the caller may not know."""
    texts = [row.title + row.body + row.compounds for row in rows]
    shown = []
    for word, found in plan.corrections.items():
        seen = [each.word for each in found if any(f" {each.term} " in text for text in texts)]
        if seen:
            shown.append(Correction(word, tuple(seen)))
    return tuple(shown)
