"""Search by words without an index: each text is looked at. For a memory whose index cannot be asked now."""

from collections.abc import Iterable

from clew.search.lexical.plan import is_demand, rarity
from clew.search.lexical.query import Clause, Kind, Sign, is_searchable, parse_query
from clew.search.question import Question, RankedUnit
from clew.search.rank.fuse import Contribution
from clew.search.units import Unit
from clew.text.words import terms

_MOST_FOUND = 200
"""As many as a search with an index ranks."""


class WordScan:
    """Looks for the words of a question, and obeys its signs and quotes. What it may see follows from its scope and
    filters."""

    def __init__(self, question: Question) -> None:
        self._scope, self._filters = question.scope, question.filters
        clauses = parse_query(question.text).clauses
        self._demands = tuple(clause for clause in clauses if is_demand(clause))
        wanted = (clause for clause in clauses if clause.sign is not Sign.NOT and is_searchable(clause))
        self._needles = tuple(dict.fromkeys(needle for clause in wanted for needle in _needles(clause)))
        self._seen = 0
        self._held: dict[str, frozenset[str]] = {}

    def look_at(self, units: Iterable[Unit]) -> None:
        for unit in units:
            if not self._may_see(unit):
                continue
            self._seen += 1
            said = f" {' '.join(terms(unit.title))} \n {' '.join(terms(unit.body))} "
            held = frozenset(needle for needle in self._needles if needle in said)
            if held and all(_is_obeyed(clause, said) for clause in self._demands):
                self._held[unit.id] = held

    def ranked(self) -> list[RankedUnit]:
        """The best first: the more words a unit holds and the fewer others hold them, the better."""
        counts = {needle: sum(needle in held for held in self._held.values()) for needle in self._needles}
        worth = {needle: rarity(count, self._seen) for needle, count in counts.items()}
        scores = {id: sum(worth[needle] for needle in held) for id, held in self._held.items()}
        best = sorted(scores, key=lambda id: (-scores[id], id))[:_MOST_FOUND]
        return [
            RankedUnit(id, scores[id], (Contribution("lexical", rank, scores[id], scores[id]),))
            for rank, id in enumerate(best, start=1)
        ]

    def _may_see(self, unit: Unit) -> bool:
        agents, tags = self._scope.agents, self._filters.tags
        return (
            unit.part in self._scope.parts
            and (agents is None or unit.agent in agents)
            and (tags is None or not set(tags).isdisjoint(unit.tags))
        )


def _needles(clause: Clause) -> tuple[str, ...]:
    """What stands in the terms of a text that holds the clause, or a word of it."""
    if clause.kind is Kind.PREFIX:
        return (f" {' '.join(clause.words)}",)
    if clause.kind is Kind.PHRASE:
        return (f" {' '.join(clause.terms)} ",)
    return tuple(f" {term} " for term in clause.terms)


def _is_obeyed(clause: Clause, said: str) -> bool:
    holds = all(needle in said for needle in _needles(clause))
    return holds is not (clause.sign is Sign.NOT)
