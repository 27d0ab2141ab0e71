"""Search by words without an index: each text is looked at. For a memory whose index cannot be asked now."""

from collections.abc import Iterable
from math import log

from clew.search.question import Question, RankedUnit
from clew.search.rank.fuse import Contribution
from clew.search.units import Unit
from clew.text.keywords import keywords
from clew.text.words import terms

_MOST_FOUND = 200
_MOST_TERMS = 64


class WordScan:
    """Looks for the words of a question. What it may see follows from its scope and filters."""

    def __init__(self, question: Question) -> None:
        self._scope, self._filters = question.scope, question.filters
        words = keywords(question.words or question.text)
        self._terms = frozenset([term for word in words for term in terms(word)][:_MOST_TERMS])
        self._seen = 0
        self._held: dict[str, frozenset[str]] = {}

    def look_at(self, units: Iterable[Unit]) -> None:
        for unit in units:
            if not self._may_see(unit):
                continue
            self._seen += 1
            if held := self._terms.intersection(terms(f"{unit.title}\n{unit.body}")):
                self._held[unit.id] = held

    def ranked(self) -> list[RankedUnit]:
        """The best first: the more words a unit holds and the fewer others hold them, the better."""
        counts = {term: sum(term in held for held in self._held.values()) for term in self._terms}
        scores = {id: sum(log(1 + self._seen / counts[term]) for term in held) for id, held in self._held.items()}
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
