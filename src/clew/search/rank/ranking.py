"""From a question to a ranking: every signal of the recipe is asked, their rankings become one, links are followed.

Results that resemble each other vouch for each other. What several results have in common is likely to be what the
query is about. So a result's score becomes in part the mean score of the results nearest to it in vector space,
weighted by how near they are. Only results that were found already take part: it costs a few hundred vectors, not a
second search.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from clew.cache import Cache
from clew.operation.paging import KeptRankings
from clew.search.lexical.expression import all_of, either
from clew.search.lexical.plan import Correction, Planning, is_demand
from clew.search.lexical.query import LexicalQuery, Sign, content_words, parse_query
from clew.search.lexical.ranking import Bm25Settings, Streams
from clew.search.lexical.search import (
    CANDIDATES,
    NOTHING_FOUND,
    Effort,
    LexicalResult,
    LexicalSearch,
    nothing_to_search,
)
from clew.search.question import Question, RankedUnit
from clew.search.rank.fuse import Fused, SignalScore, expand, fuse, in_order
from clew.search.rank.neighbourhood import Adjacency, Neighbourhood
from clew.search.rank.pagerank import personalised_pagerank, seeds_from
from clew.search.rank.recipes import Agreement, Expansion, Feedback, Recipe, Signal
from clew.search.rank.surroundings import surround
from clew.search.units import WORDS_ONLY, Filters, Scope, compile_condition
from clew.store.sql.conditions import Condition

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.search.dense.search import VectorSearch
    from clew.search.reading import IndexReader

    Vector: TypeAlias = NDArray[np.float32]
    Vectors: TypeAlias = NDArray[np.float32]


Scores: TypeAlias = tuple[tuple[int, float], ...]
"""Units with their scores, best first."""
MAX_DENSE_CHARACTERS = 4_000
_RESULTS_KEPT = 80_000
"""Of all rankings together, at some 300 bytes each: two hundred rankings by words and meaning."""
_OVERHEAD = 100
"""The size of a ranking beside its results, counted in results."""


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    fused: tuple[Fused[int], ...]
    matched: dict[int, tuple[str, ...]]
    corrections: tuple[Correction, ...] = ()
    reason: str | None = None
    notes: tuple[str, ...] = ()
    failed: bool = False
    """True if the search by meaning failed."""


class KeptRanking(msgspec.Struct, frozen=True):
    """A ranking by ids, which outlive the numbers of an index that is rebuilt."""

    state: str
    """Of the index, when the ranking was made."""
    units: tuple[RankedUnit, ...]
    matched: dict[str, tuple[str, ...]]
    corrections: tuple[Correction, ...]
    reason: str | None
    notes: tuple[str, ...]
    lasts: bool
    """True if it answers the same question as long as the index is in this state. Where the search by meaning failed,
    or somebody's own links were walked, it is for further pages only."""


class Rankings(KeptRankings[bytes, KeptRanking]):
    """The last rankings of an index, by question. Nothing is ranked twice while no units and vectors come in."""

    def __init__(self, results: int = _RESULTS_KEPT) -> None:
        super().__init__(results, size_of=lambda kept: _OVERHEAD + len(kept.units))


USUAL = "usual"
"""The name of a substitute: the score by meaning of a text that has no vector yet."""

_encoded: Callable[[Mapping[str, Any]], bytes] = msgspec.json.Encoder(order="deterministic").encode


def key_of(identity: Mapping[str, Any], *, has_links: bool = False) -> bytes:
    """The cache key of a ranking. Callers with links of their own have other keys."""
    return hashlib.sha256(_encoded(identity)).digest() + bytes([has_links])


def rank(
    reading: "IndexReader",
    streams: Streams,
    dense: "VectorSearch",
    question: Question,
    recipe: Recipe,
    adjacency: Adjacency | None = None,
    check: Callable[[], None] = lambda: None,
) -> Ranked:
    """The ranking of everything the recipe's signals find. `check` is called between steps and may raise."""
    condition = compile_condition(question.scope, question.filters)
    query = parse_query(question.text if question.words is None else question.words)
    signals = {signal.name: signal for signal in recipe.signals}
    by_words, by_meaning = signals.get("lexical"), signals.get("dense")
    if question.words is None and (reason := nothing_to_search(query)):
        return Ranked(fused=(), matched={}, reason=reason)
    # Where all units may be seen, none has to be checked.
    restrict = None if dense.is_everything(reading, condition) else condition
    words = LexicalResult()
    if by_words is not None:
        effort = Effort(candidates=min(2 * by_words.depth, CANDIDATES), matches=by_words.matches)
        ranking = bm25_settings(recipe.feedback)
        learning = LexicalSearch(reading, ranking=ranking, effort=effort, streams=streams)
        words = learning.search(query, limit=by_words.depth, restrict=restrict)
    check()
    rankings: dict[str, Scores] = {}
    waiting: set[int] = set()
    failed = False
    notes = list(words.notes)
    if by_words is not None:
        rankings["lexical"] = tuple([(hit.unit, hit.score) for hit in words.hits])
    if by_meaning is not None:
        said = meaning(query, question.text) if question.words is None else question.text[:MAX_DENSE_CHARACTERS]
        numbers = [] if question.like is None else [*reading.numbers_of([question.like]).values()]
        own = dense.vectors_of(reading, numbers) if numbers else {}
        found = dense.rank(reading, said, condition, by_meaning.depth, next(iter(own.values()), None))
        kept = obeying(reading, query, [number for number, _ in found.hits], restrict)
        hits = tuple(hit for hit in found.hits if hit[0] in kept)
        rankings["dense"] = _by_windows(reading, dense, said, hits) if hits and question.by_windows else hits
        notes += [found.note] if found.note else []
        failed = found.failed
        check()
        indexed = dense.state(reading)
        if by_words is not None and rankings["dense"] and indexed.state == "indexing":
            candidates = _with_vectors(reading, [hit.unit for hit in words.hits], question.scope)
            waiting = set(candidates).difference(dense.vectors_of(reading, candidates))
            rankings["dense"] = _with_usual(rankings["dense"], candidates, waiting)
            recipe = _weighted(recipe, by_meaning, indexed.embedded / indexed.units, more=len(waiting))
    fused = fuse(rankings, recipe)
    if waiting:
        fused = tuple(_without_cosine(each) if each.id in waiting else each for each in fused)
    if recipe.agreement is not None and asks_around(query, recipe.agreement):
        vectors = dense.vectors_of(reading, [result.id for result in fused[: recipe.agreement.among]])
        fused = agree(fused, vectors, recipe.agreement)
    if recipe.surroundings is not None and fused:
        fused = surround(reading, fused, recipe.surroundings, question.text, restrict)
        check()
    if recipe.expansion is not None and fused:
        around = Neighbourhood(reading, restrict, adjacency)
        follow, note = _followed(reading, recipe.expansion, around, condition, adjacency)
        notes += [note] if note else []
        fused = _expanded(fused, recipe.expansion, around, question.text) if follow else fused
    return Ranked(
        fused=fused,
        matched={hit.unit: hit.matched for hit in words.hits},
        corrections=words.corrections,
        reason=None if fused else NOTHING_FOUND,
        failed=failed,
        notes=(*notes, *(_read_as(each) for each in words.corrections)),
    )


def bm25_settings(feedback: Feedback | None) -> Bm25Settings:
    """The ranking by words that a recipe asks for. Without feedback it learns nothing."""
    if feedback is None:
        return Bm25Settings(feedback_share=0.0)
    return Bm25Settings(
        feedback_units=feedback.documents, feedback_terms=feedback.terms, feedback_share=feedback.weight
    )


_BY_WORDS_ALONE = compile_condition(Scope(parts=tuple(sorted(WORDS_ONLY))), Filters())


def _with_vectors(reading: "IndexReader", units: Sequence[int], scope: Scope) -> Sequence[int]:
    """The units that have vectors, or will have them."""
    if WORDS_ONLY.isdisjoint(scope.parts):
        return units
    never = set(reading.allowed(_BY_WORDS_ALONE, units))
    return [each for each in units if each not in never]


def _by_windows(reading: "IndexReader", dense: "VectorSearch", said: str, hits: Scores) -> Scores:
    """A ranking by meaning in which the nearest window of a unit counts as much as the whole unit, because the mean of
    many windows hides the one that answers."""
    windows = dense.window_likeness(reading, said, [number for number, _ in hits])
    nearest = {number: float(own.max()) for number, own in windows.items()}
    near = [(number, (score + nearest.get(number, score)) / 2) for number, score in hits]
    return tuple(sorted(near, key=lambda hit: (-hit[1], hit[0])))


def _with_usual(ranking: Scores, candidates: Sequence[int], waiting: Collection[int]) -> Scores:
    """A ranking by meaning in which results of the search by words that have no vector yet get the usual similarity of
    such results; otherwise everything with a vector would come first."""
    scores = dict(ranking)
    known = [scores.get(each, ranking[-1][1]) for each in candidates if each not in waiting] or list(scores.values())
    usual = sum(known) / len(known)
    scores |= dict.fromkeys(waiting, usual)
    return tuple(sorted(scores.items(), key=lambda hit: (-hit[1], hit[0])))


def _without_cosine(result: Fused[int]) -> Fused[int]:
    """A result with the usual similarity, under a signal of its own, because no vectors were compared."""
    parts = [
        msgspec.structs.replace(each, signal=USUAL) if each.signal == "dense" else each for each in result.contributions
    ]
    return msgspec.structs.replace(result, contributions=tuple(parts))


def _weighted(recipe: Recipe, signal: Signal, share: float, more: int) -> Recipe:
    """The recipe with a share of one signal's weight, and room for `more` results of it."""
    changed = msgspec.structs.replace(signal, weight=signal.weight * share, depth=signal.depth + more)
    return msgspec.structs.replace(
        recipe, signals=tuple(changed if each is signal else each for each in recipe.signals)
    )


def _read_as(correction: Correction) -> str:
    meant = " or ".join(f"'{each}'" for each in correction.replacements)
    return f"Did you mean {meant}? '{correction.word}' stands nowhere, so that was searched for as well."


TITLES_DECIDED = "mention the title of another text."
"""Ends the note that says whether links were followed."""
_linked_shares: Cache[tuple[str, int, Condition], float] = Cache(64)
"""By index, its last write, and condition."""


def _followed(
    reading: "IndexReader",
    expansion: Expansion,
    around: Neighbourhood,
    condition: Condition,
    adjacency: Adjacency | None,
) -> tuple[bool, str | None]:
    """True if links are followed, and the reason if the texts decide that."""
    if expansion.from_share == 0 or adjacency is not None:
        return True, None
    key = (*reading.writes(), condition)
    share = _linked_shares.get_or_make(key, lambda: around.linked_share(condition))
    follow = share >= expansion.from_share
    how = "Links between texts were" if follow else "No links between texts were"
    return follow, f"{how} followed: of a sample, {share:.0%} {TITLES_DECIDED}"


def _expanded(
    fused: tuple[Fused[int], ...], expansion: Expansion, around: Neighbourhood, text: str
) -> tuple[Fused[int], ...]:
    """The ranking after a walk along the links of its best results, and of the units named in the query."""
    best = [result.id for result in fused]
    seeds = seeds_from(best, expansion.seeds, around.named_in(text), expansion.named)
    around.load(seeds)
    walked = personalised_pagerank(
        seeds, around.neighbours, alpha=expansion.alpha, eps=expansion.eps, max_edges=expansion.max_edges
    )
    return expand(fused, walked.scores, expansion.weight)


def meaning(query: LexicalQuery, text: str) -> str:
    """The text of a query that is compared by meaning: without its excluded parts."""
    if any(clause.sign is Sign.NOT for clause in query.clauses):
        text = " ".join(clause.text for clause in query.clauses if clause.sign is not Sign.NOT)
    return text[:MAX_DENSE_CHARACTERS]


def obeying(
    reading: "IndexReader", query: LexicalQuery, units: Sequence[int], restrict: Condition | None = None
) -> set[int]:
    """The units with everything that the query demands (`+word`, `"a phrase"`, `start*`) and nothing that it excludes
    (`-word`). A search by words checks this itself; results of a search by meaning are checked here, by the same
    expressions."""
    left = set(units)
    if not left or not any(is_demand(clause) for clause in query.clauses):
        return left
    plan = Planning(reading, reading.totals().units, restrict).plan(query)
    if plan.demanded:
        left &= reading.matching(all_of(plan.demanded), units)
    if plan.excluded and left:
        left -= reading.matching(either(plan.excluded), units)
    return left


AGREEMENT = "agreement"

_RESULTS_PER_NEIGHBOUR = 10
"""With fewer results, the nearest are not near: everything would vouch for everything."""
_BLOCK = 500_000
"""Multiplications at a time. Larger products are shared out to all processors, which on a busy machine takes many times
as long as doing so little on one."""


def asks_around(query: LexicalQuery, agreement: Agreement) -> bool:
    """True if the query is about a subject, and not about one named thing."""
    telling = {word for clause in query.clauses for word in content_words(clause)}
    return len(telling) >= agreement.from_words and query.named_share <= agreement.named_share


def agree(fused: Sequence[Fused[int]], vectors: "Mapping[int, Vector]", agreement: Agreement) -> tuple[Fused[int], ...]:
    """The ranking adjusted by the similarity of its best results to each other. A result without a vector keeps its
    score."""
    head = [result for result in fused[: agreement.among] if result.id in vectors]
    count = min(agreement.neighbours, len(head) // _RESULTS_PER_NEIGHBOUR)
    if count == 0 or agreement.share == 0:
        return tuple(fused)
    means = _means_of_nearest([vectors[result.id] for result in head], [result.score for result in head], count)
    order = sorted(zip([-mean for mean in means], [result.id for result in head], head, strict=True))
    share, rest = agreement.share, 1 - agreement.share
    changed = {
        id: Fused(
            id,
            rest * result.score - share * less,
            (
                *[SignalScore(part.signal, part.rank, part.score, rest * part.value) for part in result.contributions],
                SignalScore(AGREEMENT, rank, -less, -share * less),
            ),
        )
        for rank, (less, id, result) in enumerate(order, start=1)
    }
    return in_order([changed.get(result.id, result) for result in fused])


def _means_of_nearest(vectors: "Sequence[Vector]", scores: Sequence[float], count: int) -> list[float]:
    import numpy as np

    rows = np.concatenate(vectors).reshape(len(vectors), -1)
    block = max(1, _BLOCK // rows.size)
    likeness = np.zeros((len(rows), len(rows)), np.float32)
    for start in range(0, len(rows), block):
        # One is as like another as that is like it: half of the products do.
        likeness[start : start + block, start:] = rows[start : start + block] @ rows[start:].T
    likeness = np.maximum(np.triu(likeness), 0)
    likeness += likeness.T
    np.fill_diagonal(likeness, -1)
    nearest, weights = _largest(likeness, count)
    totals = weights.sum(axis=1)
    found = (weights * np.asarray(scores)[nearest]).sum(axis=1) / np.where(totals > 0, totals, 1)
    # What resembles nothing is left to itself.
    means: list[float] = np.where(totals > 0, found, np.asarray(scores)).tolist()
    return means


def _largest(likeness: "Vectors", count: int) -> "tuple[NDArray[np.intp], NDArray[np.float64]]":
    """The positions of the largest values of each row, and the values. Taking the largest a few times is ten times as
    fast as a partition."""
    import numpy as np

    rows = np.arange(len(likeness))
    left = likeness.copy()
    places = np.empty((len(rows), count), np.intp)
    for column in range(count):
        places[:, column] = left.argmax(axis=1)
        left[rows, places[:, column]] = -np.inf
    return places, likeness[rows[:, None], places].astype(np.float64)
