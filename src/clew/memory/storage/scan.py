"""Search by words without an index: each text is looked at. For a memory whose index cannot be asked now."""

from collections.abc import Iterable, Iterator
from itertools import islice

from clew.search.lexical.expression import Beginning, Expression, Phrase, either, is_held, phrase
from clew.search.lexical.plan import MAX_ITEMS, rarity
from clew.search.lexical.query import Clause, ClauseKind, Sign, content_words, is_searchable, parse_query
from clew.search.question import Question, RankedUnit
from clew.search.rank.fuse import SignalScore
from clew.search.units import Unit
from clew.text.stem import stem
from clew.text.words import split

_MOST_FOUND = 200
"""As many as a search with an index ranks."""
_SHORT = 3
"""Stems so short may begin otherwise than their words: `dying` has the stem `die`."""

Item = Phrase | Beginning


class WordScan:
    """Finds memories by the words of a question, with its signs, quotes and stars; misspelt words are not corrected.
    Visibility follows from its scope and filters."""

    def __init__(self, question: Question) -> None:
        self._scope, self._filters = question.scope, question.filters
        clauses = parse_query(question.text).clauses
        wanted = [clause for clause in clauses if clause.sign is not Sign.NOT and is_searchable(clause)]
        self._items = tuple(islice(dict.fromkeys(item for clause in wanted for item in _items(clause)), MAX_ITEMS))
        self._required = tuple(_whole(clause) for clause in clauses if clause.sign is Sign.MUST)
        self._excluded = tuple(_whole(clause) for clause in clauses if clause.sign is Sign.NOT)
        self._beginnings = tuple({_beginning(item) for item in self._items})
        self._seen = 0
        self._held: dict[str, frozenset[Item]] = {}

    def look_at(self, units: Iterable[Unit]) -> None:
        for unit in units:
            if not self._may_see(unit):
                continue
            self._seen += 1
            if not self._may_hold(f"{unit.title} {unit.body}"):
                continue
            said = _UnitText(unit)
            held = frozenset(item for item in self._items if said.holds(item))
            if held and all(map(said.holds, self._required)) and not any(map(said.holds, self._excluded)):
                self._held[unit.id] = held

    def _may_hold(self, text: str) -> bool:
        """True if a text contains the beginning of a wanted word: other texts need not be split into words."""
        if not text.isascii():
            return True
        folded = text.lower()
        return any(beginning in folded for beginning in self._beginnings)

    def ranked(self) -> list[RankedUnit]:
        """The best first: the more wanted words a unit has, and the rarer these are, the better."""
        counts = {item: sum(item in held for held in self._held.values()) for item in self._items}
        worth = {item: rarity(count, self._seen) for item, count in counts.items()}
        scores = {id: sum(worth[item] for item in held) for id, held in self._held.items()}
        best = sorted(scores, key=lambda id: (-scores[id], id))[:_MOST_FOUND]
        return [
            RankedUnit(id, scores[id], (SignalScore("lexical", rank, scores[id], scores[id]),))
            for rank, id in enumerate(best, start=1)
        ]

    def _may_see(self, unit: Unit) -> bool:
        agents, tags = self._scope.agents, self._filters.tags
        return (
            unit.part in self._scope.parts
            and (agents is None or unit.agent in agents)
            and (tags is None or not set(tags).isdisjoint(unit.tags))
        )


class _UnitText:
    """The text of a unit as an index stores it."""

    def __init__(self, unit: Unit) -> None:
        title, body = split(unit.title), split(unit.body)
        compounds = (*title.compounds, *body.compounds)
        self._terms = (*(_stream(map(stem, part.words)) for part in (title, body)), _stream(compounds))
        self._words = (*self._terms, _stream(title.words), _stream(body.words))

    def holds(self, expression: Expression) -> bool:
        # A beginning may be that of a word as it is spelt.
        return is_held(expression, self._words if isinstance(expression, Beginning) else self._terms)


def _stream(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "


def _items(clause: Clause) -> Iterator[Item]:
    """The texts that a unit may contain for a wanted clause."""
    if clause.kind is ClauseKind.PREFIX:
        yield Beginning(clause.words[0])
    elif clause.kind is ClauseKind.PHRASE:
        yield phrase(*clause.terms)
    else:
        words = content_words(clause) or (clause.words if clause.sign is Sign.MUST else ())
        yield from (phrase(term) for term in (*map(stem, words), *clause.compounds))


def _whole(clause: Clause) -> Expression:
    """The text that a unit has to contain, or must not, for a clause with a sign."""
    if clause.kind is ClauseKind.PREFIX:
        return Beginning(clause.words[0])
    return either([phrase(*clause.terms), *([phrase(clause.whole)] if clause.whole else [])])


def _beginning(item: Item) -> str:
    """The beginning of every text that contains an item. The words of a compound may have something between them."""
    if isinstance(item, Beginning):
        return item.start[0]
    first = item.terms[0]
    return first[0] if len(first) <= _SHORT else first[:-1]
