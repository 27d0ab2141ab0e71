"""Finding memories: one ranking, of which search shows all and injection only the best.

What is current comes first; what cites something that changed comes after it, and what was superseded last. Both are
shown and marked, because a reader may want to know what was believed before.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Literal

import msgspec

from clew.memory.model import Memory, MemoryKind, MemoryLinkKind
from clew.memory.places import CiteState, Places
from clew.memory.scope import EVERYTHING, MemoryFilters
from clew.memory.storage.library import MemoryReader
from clew.memory.storage.units import EPISODES, PART, MemoryUnits, RankedMemory
from clew.memory.views import MemoryHit, Signals, Validity, shown_as
from clew.search.lexical.query import Clause, ClauseKind, Sign, parse_query
from clew.text.keywords import stems
from clew.text.words import split
from clew.workspace.git import api as git

_ORDER: dict[Validity, int] = {"current": 0, "stale": 1, "superseded": 2}
_DECIMALS = 4
_CHANGED_LOOKED_AT = 500
"""Memories that were written again since the time that is asked for, at most."""
_COMPARED = 20
"""Of those, the ones with most words of the query, which are compared by meaning: an earlier wording has no vector. The
others are found by their words."""
_LONGEST_COMPARED = 4_000


class RecalledMemory(msgspec.Struct, frozen=True):
    """A memory with what made it a result."""

    memory: Memory
    found: RankedMemory
    score: float
    """As it was ranked, or as something made it afterwards."""
    cosine: float | None
    """None where the memory has no vector yet."""
    similarity: float
    standing: Validity
    superseded_by: str | None
    cites: tuple[CiteState, ...]


class _Scored(msgspec.Struct, frozen=True):
    """A memory that was found, with how much it is like the question."""

    found: RankedMemory
    memory: Memory
    cosine: float | None
    similarity: float
    score: float


class _Past(msgspec.Struct, frozen=True):
    """The memories that were written again since the time that is asked for."""

    memories: dict[str, Memory]
    """As they were then."""
    reworded: tuple[str, ...]
    """Memories whose text was another one then. The search index knows only the present texts."""
    notes: tuple[str, ...]


class Recall:
    def __init__(self, library: MemoryReader, units: MemoryUnits, places: Callable[[], Places]) -> None:
        self._library = library
        self._units = units
        self._places = places

    def rank(
        self,
        query: str,
        limit: int,
        filters: MemoryFilters = EVERYTHING,
        *,
        tags: tuple[str, ...] | None = None,
        min_similarity: float = 0.0,
        about: str | None = None,
        recipe: str = "default",
        check: Callable[[], None] = lambda: None,
    ) -> tuple[list[RecalledMemory], tuple[str, ...]]:
        """The memories that answer a query best, and what limits the answer. With `about`, only those that cite it."""
        found, notes = self._units.rank(
            query, self._library.viewer, tags=tags, parts=_parts(filters), recipe=recipe, check=check
        )
        past = self._past(filters, [each.id for each in found])
        among = None if about is None else frozenset(self.ids_at(about))
        if among is not None:
            # What is at a place belongs there, whatever the words of the question are.
            known = {each.id for each in found}
            found = [each for each in found if each.id in among]
            found += [RankedMemory(id) for id in sorted(among - known)]

        def is_wanted(memory: Memory) -> bool:
            return tags is None or not set(tags).isdisjoint(memory.tags)

        by_meaning = any(each.dense is not None for each in found)
        found = [each for each in found if each.id not in past.reworded]
        best: list[_Scored] = []
        # As many as are wanted are looked at, and more only where some of them may not be seen.
        for start in range(0, len(found), limit):
            if len(best) >= limit:
                break
            some = found[start : start + limit]
            memories = self._library.get_many((each.id for each in some), filters) | past.memories
            seen = [(each, memories[each.id]) for each in some if each.id in memories and is_wanted(memories[each.id])]
            scored = self._scored(query, seen, by_meaning=by_meaning)
            best += [each for each in scored if each.similarity >= min_similarity]
        reworded = [past.memories[id] for id in past.reworded if among is None or id in among]
        others = self._scored_then(query, filter(is_wanted, reworded), by_meaning=by_meaning)
        best = _ordered_in(best[:limit], [each for each in others if each.similarity >= min_similarity])
        return self._ordered(best[:limit], filters), (*notes, *past.notes)

    # Implements: REQ-d00305-D
    def _past(self, filters: MemoryFilters, found: Sequence[str]) -> _Past:
        if filters.as_of is None:
            return _Past({}, (), ())
        changed = dict.fromkeys(self._library.index.rewritten(filters.as_of, self._library.viewer, filters))
        # What answers now is looked at first, and then what was changed last.
        wanted = [*dict.fromkeys((*(id for id in found if id in changed), *changed))]
        states = self._library.at(wanted[:_CHANGED_LOOKED_AT], filters.as_of)
        left = len(wanted) - _CHANGED_LOOKED_AT
        note = f"Of the memories that were changed since {filters.as_of}, {left} are known only as they are now."
        reworded = tuple(id for id, (then, now) in states.items() if _found_by(then) != _found_by(now))
        return _Past({id: then for id, (then, _) in states.items()}, reworded, (note,) if left > 0 else ())

    def _scored_then(self, query: str, memories: Iterable[Memory], *, by_meaning: bool) -> "list[_Scored]":
        """Memories by the words that they had, the one most like the query first."""
        shares = [(_similarity(query, memory, None), memory) for memory in memories]
        shares.sort(key=lambda each: -each[0])
        compared = self._compared(query, [memory for _, memory in shares[:_COMPARED]]) if by_meaning else []
        # The others share no more words with the query than any of these, so they are taken for no more like it.
        most = min((each.similarity for each in compared), default=1.0)
        by_words = [
            _Scored(RankedMemory(memory.id), memory, None, min(share, most), 0.0)
            for share, memory in shares[len(compared) :]
            if share
        ]
        return sorted(compared, key=lambda each: -each.similarity) + by_words

    def _compared(self, query: str, memories: Sequence[Memory]) -> "list[_Scored]":
        """Memories by meaning; none without an encoder."""
        texts = [f"{memory.own_title}\n{memory.text[:_LONGEST_COMPARED]}".strip() for memory in memories]
        vectors = self._units.vectors([query, *texts]) if texts else None
        if vectors is None:
            return []
        return [
            _Scored(RankedMemory(memory.id), memory, cosine, _similarity(query, memory, cosine), 0.0)
            for memory, cosine in zip(memories, map(float, vectors[1:] @ vectors[0]), strict=True)
        ]

    def held(self) -> AbstractContextManager[None]:
        """All that is recalled inside the block is of one state of the memory."""
        return self._library.index.held()

    def beside(self, ids: Sequence[str], without: Collection[str] = ()) -> dict[str, str]:
        """The texts just before and after each memory in its session, except unwanted ones."""
        links = self._library.index.links(ids, (MemoryLinkKind.NEXT,)) if ids else []
        ends = {end for link in links for end in (link.source, link.target)}
        texts = {id: memory.text for id, memory in self._library.get_many(ends - set(without)).items()}
        found: dict[str, list[str]] = {id: [] for id in ids}
        for link in links:
            for id, other in ((link.source, link.target), (link.target, link.source)):
                if id in found and other in texts:
                    found[id].append(texts[other])
        return {id: "\n".join(several) for id, several in found.items()}

    def rarities(self, terms: Iterable[str]) -> dict[str, float]:
        """The weight of each of some terms; the same for all if there is no search index."""
        return self._units.rarities(terms)

    def ids_at(self, place: str) -> list[str]:
        """The memories that cite a place, or something inside it."""
        nodes, prefixes = self._places().nodes_at(place)
        return self._library.index.citing(nodes, prefixes, self._library.viewer)

    def standing_of(
        self, memories: Iterable[Memory]
    ) -> list[tuple[Memory, Validity, str | None, tuple[CiteState, ...]]]:
        """Each memory with its validity."""
        several = list(memories)
        return self._standings(several, self._successors(memory.id for memory in several))

    def _standings(
        self, memories: Iterable[Memory], successors: Mapping[str, str], *, then: bool = False
    ) -> list[tuple[Memory, Validity, str | None, tuple[CiteState, ...]]]:
        """`then` is for memories that were current at the time that is asked for; what replaced them is named."""
        places = self._places()
        found: list[tuple[Memory, Validity, str | None, tuple[CiteState, ...]]] = []
        for memory in memories:
            cites = tuple(places.state(cite) for cite in memory.cites)
            successor = successors.get(memory.id)
            is_old = not then and (successor is not None or memory.retired_at is not None)
            is_stale = any(cite.state in ("changed", "gone") for cite in cites)
            standing: Validity = "superseded" if is_old else "stale" if is_stale else "current"
            found.append((memory, standing, successor, cites))
        return found

    def _scored(
        self,
        query: str,
        found: Sequence[tuple[RankedMemory, Memory]],
        *,
        by_meaning: bool,
    ) -> "list[_Scored]":
        # What was found by its words alone has a vector as well, mostly.
        by_words = [each.id for each, _ in found if each.dense is None]
        unknown = self._units.likeness(query, by_words) if by_meaning and by_words else {}
        cosines = (unknown.get(each.id) if each.dense is None else each.dense for each, _ in found)
        return [
            _Scored(each, memory, cosine, _similarity(query, memory, cosine), each.score)
            for (each, memory), cosine in zip(found, cosines, strict=True)
        ]

    def _ordered(self, best: "list[_Scored]", filters: MemoryFilters) -> list[RecalledMemory]:
        there = {each.memory.id for each in best}
        successors = self._successors(there)
        if filters == EVERYTHING and (missing := set(successors.values()) - there):
            # What replaced a result is a result too, whatever its words are: it takes the place of the weakest. It is
            # the last in its line, so nothing replaced it.
            added = self._library.get_many(sorted(missing))
            best = best[: max(len(best) - len(added), 1)]
            best += [_Scored(RankedMemory(id), memory, None, 0.0, 0.0) for id, memory in added.items()]
        then = filters.as_of is not None
        states = self._standings((each.memory for each in best), successors, then=then)
        ranked = [
            RecalledMemory(memory, each.found, each.score, each.cosine, each.similarity, standing, successor, cites)
            for each, (memory, standing, successor, cites) in zip(best, states, strict=True)
        ]
        return sorted(ranked, key=lambda each: _ORDER[each.standing])

    def _successors(self, ids: Iterable[str]) -> dict[str, str]:
        """The memory that supersedes each of these, followed to the last one that may be seen."""
        found: dict[str, str] = {}
        index, viewer = self._library.index, self._library.viewer
        for id in index.replacing(list(ids)):
            last, met = id, {id}
            while True:
                seen = index.visible(index.replacing([last]).get(last, ()), viewer)
                following = next((each for each in seen if each not in met), None)
                if following is None:
                    break
                last = following
                met.add(last)
            if last != id:
                found[id] = last
        return found


def _parts(filters: MemoryFilters) -> tuple[str, ...]:
    """The parts of the index in which to search."""
    if MemoryKind.EPISODE.value not in filters.kinds:
        return (PART,)
    return (EPISODES,) if len(filters.kinds) == 1 else (PART, EPISODES)


def _found_by(memory: Memory) -> tuple[str, str, frozenset[str]]:
    """The texts by which a search finds a memory: the index knows only the current ones."""
    return memory.title, memory.text, frozenset(memory.tags)


def _ordered_in(ranked: "Sequence[_Scored]", others: "Sequence[_Scored]") -> "list[_Scored]":
    """Results that the engine ranked, with others inserted before the first that is less similar to the question. They
    get the score of their place."""
    mixed = list(ranked)
    for other in others:
        at = next((at for at, each in enumerate(mixed) if each.similarity < other.similarity), len(mixed))
        score = mixed[min(at, len(mixed) - 1)].score if mixed else other.similarity
        mixed.insert(at, msgspec.structs.replace(other, score=score))
    return mixed


def _similarity(query: str, memory: Memory, cosine: float | None) -> float:
    if cosine is not None:
        return max(cosine, 0.0)
    return shared_words(query, memory)


def shared_words(query: str, memory: Memory) -> float:
    """The share of a query's keywords that a memory has; of its clauses where one is the beginning of a word, or where
    all are as short as CI, which is no keyword."""
    text = f"{memory.title} {memory.text}"
    asked, clauses = stems(query), _clauses(query)
    if asked and not any(clause.kind is ClauseKind.PREFIX for clause in clauses):
        return len(asked & stems(text)) / len(asked)
    said = split(text)
    words = frozenset((*said.words, *said.compounds))
    held = sum(_is_held(clause, words) for clause in clauses)
    return held / len(clauses) if clauses else 0.0


def _is_held(clause: Clause, words: frozenset[str]) -> bool:
    if clause.kind is ClauseKind.PREFIX:
        return any(word.startswith(clause.words[0]) for word in words)
    return words.issuperset(clause.words)


@lru_cache(maxsize=64)
def _clauses(query: str) -> tuple[Clause, ...]:
    return tuple(clause for clause in parse_query(query).clauses if clause.sign is not Sign.NOT)


class Branches:
    """The state of the branches on which memories were made; git is asked when one is another than the current."""

    def __init__(self, library: MemoryReader) -> None:
        self._root = library.home.root
        self._current: str | None = None
        self._known: tuple[frozenset[str], frozenset[str]] | None = None
        self._asked = False

    def state(self, branch: str | None) -> Literal["current", "other", "merged", "deleted", "unknown"]:
        if branch is None:
            return "unknown"
        if not self._asked:
            self._current, self._asked = git.branch(self._root), True
        if branch == self._current:
            return "current"
        if self._known is None:
            self._known = git.branches(self._root), git.branches(self._root, "--merged=HEAD")
        there, merged = self._known
        return "deleted" if branch not in there else "merged" if branch in merged else "other"


def hit_of(ranked: RecalledMemory, branches: Branches, *, with_content: bool) -> MemoryHit:
    memory = ranked.memory
    return shown_as(
        MemoryHit,
        memory,
        similarity=round(ranked.similarity, _DECIMALS),
        score=round(ranked.score, _DECIMALS),
        signals=Signals(_rounded(ranked.found.lexical), _rounded(ranked.found.dense)),
        standing=ranked.standing,
        superseded_by=ranked.superseded_by,
        cites=ranked.cites,
        branch_state=branches.state(memory.scope.branch),
        content=memory.text if with_content else None,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)
