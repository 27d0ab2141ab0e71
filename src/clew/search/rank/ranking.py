"""From a question to a ranking: every signal of the recipe is asked, their rankings become one, links are followed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from clew.cache import Cache
from clew.search.dense.search import DenseSearch
from clew.search.lexical.plan import Correction, all_of, either, is_demand, make_plan
from clew.search.lexical.query import LexicalQuery, Sign, parse_query
from clew.search.lexical.ranking import Bm25Settings
from clew.search.lexical.search import NOTHING_FOUND, LexicalIndex, LexicalResult, nothing_to_search
from clew.search.lexical.streams import Streams
from clew.search.lexical.tables import totals
from clew.search.question import Question, RankedUnit
from clew.search.rank.agreement import agree, asks_around
from clew.search.rank.fuse import Fused, expand, fuse
from clew.search.rank.neighbourhood import Adjacency, Neighbourhood
from clew.search.rank.pagerank import personalised_pagerank, seeds_from
from clew.search.rank.recipes import Expansion, Recipe
from clew.search.units import Condition, compile_condition
from clew.store.sqlite.connections import Connection

if TYPE_CHECKING:
    from clew.store.sqlite.connections import Connection

MAX_DENSE_CHARACTERS = 4_000
_RANKINGS_KEPT = 32

_AT_ONCE = 500


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    fused: tuple[Fused[int], ...]
    matched: dict[int, tuple[str, ...]]
    corrections: tuple[Correction, ...] = ()
    reason: str | None = None
    notes: tuple[str, ...] = ()


class Kept(msgspec.Struct, frozen=True):
    """A ranking by ids, which outlive the numbers of an index that is made anew."""

    state: str
    """Of the index, when the ranking was made."""
    units: tuple[RankedUnit, ...]
    matched: dict[str, tuple[str, ...]]
    corrections: tuple[Correction, ...]
    reason: str | None
    notes: tuple[str, ...]
    by_adjacency: bool
    """Whether somebody's own links were walked: the next to ask may have others."""


class Rankings:
    """The last few rankings, so that page two is page two even while units and vectors come in."""

    def __init__(self) -> None:
        self._kept: Cache[bytes, Kept] = Cache(_RANKINGS_KEPT)

    def get(self, question: Mapping[str, Any]) -> Kept | None:
        return self._kept.get(_key(question))

    def keep(self, question: Mapping[str, Any], kept: Kept) -> None:
        self._kept.put(_key(question), kept)


def _key(question: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(question, order="deterministic")


def rank(
    connection: "Connection",
    streams: Streams,
    dense: DenseSearch,
    question: Question,
    recipe: Recipe,
    adjacency: Adjacency | None = None,
    check: Callable[[], None] = lambda: None,
) -> Ranked:
    """The ranking of everything the recipe's signals find. `check` is called between steps and may raise."""
    condition = compile_condition(question.scope, question.filters)
    query = parse_query(question.text)
    depths = {signal.name: signal.depth for signal in recipe.signals}
    if reason := nothing_to_search(query):
        return Ranked(fused=(), matched={}, reason=reason)
    # Where all units may be seen, nobody has to look at each.
    restrict = None if dense.visible.is_everything(connection, condition) else condition
    words = LexicalResult()
    if "lexical" in depths:
        learning = LexicalIndex(connection, ranking=Bm25Settings.learning(recipe.feedback), streams=streams)
        words = learning.search(query, limit=depths["lexical"], restrict=restrict)
    check()
    rankings: dict[str, tuple[tuple[int, float], ...]] = {}
    notes = list(words.notes)
    if "lexical" in depths:
        rankings["lexical"] = tuple((hit.unit, hit.score) for hit in words.hits)
    if "dense" in depths:
        found = dense.rank(connection, meaning(query, question.text), condition, depths["dense"])
        kept = obeying(connection, query, [number for number, _ in found.hits], restrict)
        rankings["dense"] = tuple(hit for hit in found.hits if hit[0] in kept)
        notes += [found.note] if found.note else []
        check()
    fused = fuse(rankings, recipe)
    if recipe.agreement is not None and asks_around(query, recipe.agreement):
        vectors = dense.vectors_of(connection, [result.id for result in fused[: recipe.agreement.among]])
        fused = agree(fused, vectors, recipe.agreement)
    if recipe.expansion is not None and fused:
        around = Neighbourhood(connection, restrict, adjacency)
        fused = _expanded(fused, recipe.expansion, around, question.text)
    return Ranked(
        fused=fused,
        matched={hit.unit: hit.matched for hit in words.hits},
        corrections=words.corrections,
        reason=None if fused else NOTHING_FOUND,
        notes=tuple(notes),
    )


def _expanded(
    fused: tuple[Fused[int], ...], expansion: Expansion, around: Neighbourhood, text: str
) -> tuple[Fused[int], ...]:
    """The ranking after a walk along the links of its best, which starts from what the query names as well."""
    best = [result.id for result in fused]
    seeds = seeds_from(best, expansion.seeds, around.named_in(text), expansion.named)
    around.load(seeds)
    walked = personalised_pagerank(
        seeds, around.neighbours, alpha=expansion.alpha, eps=expansion.eps, max_edges=expansion.max_edges
    )
    return expand(fused, walked.scores, expansion.weight)


def meaning(query: LexicalQuery, text: str) -> str:
    """What of a query has a meaning: not what it excludes."""
    if any(clause.sign is Sign.NOT for clause in query.clauses):
        text = " ".join(clause.text for clause in query.clauses if clause.sign is not Sign.NOT)
    return text[:MAX_DENSE_CHARACTERS]


def obeying(
    connection: Connection, query: LexicalQuery, units: Sequence[int], restrict: Condition | None = None
) -> set[int]:
    """Those of the units that hold what the query demands (`+word`, `"a phrase"`, `start*`) and nothing that it
    excludes (`-word`). A search by words obeys by itself. What a search by meaning found is checked here, by the same
    expressions, so that a demand means the same to every signal."""
    left = set(units)
    if not left or not any(is_demand(clause) for clause in query.clauses):
        return left
    plan = make_plan(connection, query, totals(connection).units, restrict)
    if plan.demanded:
        left &= _matching(connection, all_of(plan.demanded), units)
    if plan.excluded and left:
        left -= _matching(connection, either(plan.excluded), units)
    return left


def _matching(connection: Connection, expression: str, units: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for batch in _batches(units):
        marks = ", ".join("?" * len(batch))
        statement = f"SELECT rowid FROM lexical WHERE lexical MATCH ? AND rowid IN ({marks})"  # noqa: S608
        found.update(number for (number,) in connection.execute(statement, (expression, *batch)))
    return found


def _batches(units: Sequence[int]) -> Iterable[Sequence[int]]:
    return (units[start : start + _AT_ONCE] for start in range(0, len(units), _AT_ONCE))
