"""Ranking recipes: each describes, as data, one way to rank.

A recipe says which signals are asked and how deep, how their rankings become one, whether the links of what was found
are followed, and how much of one document may be in the answer. It has a name and a version, travels as JSON, and is
refused with a reason when it could not work. `fuse` carries it out.
"""

import math
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from enum import StrEnum
from typing import Literal

import msgspec

from clew.errors import InvalidArgument, NotFound
from clew.text.hashing import content_hash

SIGNALS = ("lexical", "dense")
"""The signals the engine has."""
MOST_BESIDE = 8
"""Units before or after a result that are looked at, at most."""


class Fusion(StrEnum):
    RRF = "rrf"
    """Reciprocal ranks: weight / (rrf_k + rank), added up. Deaf to scores, so it needs no scale."""
    WEIGHTED_SCORES = "weighted_scores"
    """Scores, brought to one scale and added up by weight."""


class Normalisation(StrEnum):
    """Functions that map the scores of one signal to a scale from 0."""

    MIN_MAX = "min_max"
    Z = "z"
    ARCTAN = "arctan"


class Signal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    weight: float = 1.0
    depth: int = 200
    """The number of its best results that take part."""
    floor: float | None = None
    """The lowest score the signal can give, where there is one; otherwise the lowest it gave counts as nothing."""
    unfound: float | None = None
    """The score of what it does not find, where that is known. A ranking that ends before those of the other signals
    goes on with it, so that one of few finds stands out as far as it does."""
    matches: int = 40_000
    """The number of units with one of the words that may be looked at; if there are more, only those with the rarer
    words are."""


class Expansion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Follow the links of the best results by personalised PageRank, and rank again with the results of the walk."""

    kind: Literal["pagerank"] = "pagerank"
    alpha: float = 0.4
    """The probability that the walk returns to its start."""
    eps: float = 5e-3
    """The smallest part of the walk that is still followed, per edge."""
    seeds: int = 20
    """The number of best results that the walk starts from."""
    named: float = 1.0
    """The weight of units that the query itself names as starts of the walk, relative to the results."""
    weight: float = 1.5
    """The worth of the walk's best node, relative to the best result before it."""
    max_edges: int = 20_000
    from_share: float = 0.0
    """Only where at least this share of the texts mentions the title of another, as a sample of them shows: elsewhere
    links between texts lead nowhere. 0 follows them always."""


class Feedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rank by terms of the first results too: the words of the query keep 1 - weight of a score, the terms get weight.

    It is for queries about a subject. One that names things, or says too little, is left as it is.
    """

    documents: int = 8
    terms: int = 12
    weight: float = 0.5


class Agreement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Similar results support each other: a share of each score is that of its nearest results.

    It is for queries about a subject, which several results answer. A query that names a thing wants that very thing.
    """

    neighbours: int = 5
    """The number of nearest results that count, unless there are too few results to tell which are near."""
    share: float = 0.3
    """The share of a score that comes from them."""
    among: int = 200
    """The number of best results that take part."""
    from_words: int = 3
    """A query of fewer telling words says too little about its subject."""
    named_share: float = 0.15
    """A query of which more than this names something is after that thing."""


class Surroundings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Weights for the neighbours of a result in its session or document, for its speaker and for its time.

    A turn of a conversation says little without those around it: the answer holds the words of no question. All weights
    are in the unit of the fused score, which for `z` is a standard deviation.
    """

    before: tuple[float, ...] = ()
    """The share of its score that the unit before passes on, then the one before that, ..."""
    after: tuple[float, ...] = ()
    within: Literal["session", "document"] = "session"
    among: int = 400
    """The number of best results that pass on a share."""
    own_speaker: float = 0.0
    """The bonus if the query names the speaker."""
    roles: dict[str, float] = {}
    """The bonus for a speaker in this role."""
    month: float = 0.0
    """The bonus for the month or year that the query names."""
    time_words: float = 0.0
    """The bonus for a text with a time, if the query asks for one."""
    length: float = 0.0
    """The bonus for being e times as long."""


class Diversity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    max_per_document: int | None = None
    novelty: float = 0.0
    """0 ranks by relevance alone, 1 by difference from what is above alone."""


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    version: int
    signals: tuple[Signal, ...]
    fusion: Fusion = Fusion.RRF
    rrf_k: float = 60.0
    normalisation: Normalisation = Normalisation.MIN_MAX
    expansion: Expansion | None = None
    feedback: Feedback | None = None
    agreement: Agreement | None = None
    surroundings: Surroundings | None = None
    diversity: Diversity = Diversity()

    @property
    def fingerprint(self) -> str:
        """Changes with every value of the recipe, so that pages continue only a ranking of the same recipe."""
        return content_hash(msgspec.json.encode(self), size=8)


def from_json(text: str | bytes, signals: Iterable[str] = SIGNALS) -> Recipe:
    """The recipe in `text`, checked."""
    try:
        recipe = msgspec.json.decode(text, type=Recipe)
    except msgspec.DecodeError as error:
        raise InvalidArgument(
            f"This is not a recipe: {error}.", hint="Compare it with one of the built-in recipes."
        ) from None
    return checked(recipe, signals)


def checked(recipe: Recipe, signals: Iterable[str] = SIGNALS) -> Recipe:
    """The same recipe, or an error that names the first value that breaks a rule."""
    for field, value, fits, rule in _rules(recipe, tuple(signals)):
        if not fits:
            raise InvalidArgument(
                f"Recipe {recipe.name!r}: {field} is {value!r}, but must be {rule}.",
                hint="Change that value; nothing was registered.",
            )
    return recipe


_Rule = tuple[str, object, bool, str]


def _rules(recipe: Recipe, signals: tuple[str, ...]) -> Iterator[_Rule]:
    names = [signal.name for signal in recipe.signals]
    yield "name", recipe.name, bool(recipe.name.strip()), "a name"
    yield "version", recipe.version, recipe.version >= 1, "1 or more"
    yield "signals", names, 0 < len(names) == len(set(names)), "at least one signal, each of them once"
    for place, signal in enumerate(recipe.signals):
        yield from _signal_rules(f"signals[{place}]", signal, signals)
    yield "signals", names, any(signal.weight > 0 for signal in recipe.signals), "signals of which one has weight"
    yield "rrf_k", recipe.rrf_k, 0 <= recipe.rrf_k < math.inf, "a number from 0 up"
    if recipe.expansion is not None:
        yield from _expansion_rules(recipe.expansion)
    if recipe.feedback is not None:
        yield from _feedback_rules(recipe.feedback)
    if recipe.agreement is not None:
        yield from _agreement_rules(recipe.agreement)
    if recipe.surroundings is not None:
        yield from _surroundings_rules(recipe.surroundings)
    limit, novelty = recipe.diversity.max_per_document, recipe.diversity.novelty
    yield "diversity.max_per_document", limit, limit is None or limit >= 1, "1 or more, or null for any number"
    yield "diversity.novelty", novelty, 0 <= novelty <= 1, "between 0 and 1"


def _signal_rules(field: str, signal: Signal, signals: tuple[str, ...]) -> Iterator[_Rule]:
    yield f"{field}.name", signal.name, signal.name in signals, f"one of {', '.join(signals)}"
    yield f"{field}.weight", signal.weight, 0 <= signal.weight < math.inf, "a number from 0 up"
    yield f"{field}.depth", signal.depth, signal.depth >= 1, "1 or more"
    yield f"{field}.matches", signal.matches, signal.matches >= 1, "1 or more"
    for name, score in (("floor", signal.floor), ("unfound", signal.unfound)):
        yield f"{field}.{name}", score, score is None or math.isfinite(score), "a number, or null"


def _expansion_rules(expansion: Expansion) -> Iterator[_Rule]:
    yield "expansion.alpha", expansion.alpha, 0 < expansion.alpha <= 1, "above 0 and at most 1"
    yield "expansion.eps", expansion.eps, 0 < expansion.eps < 1, "above 0 and below 1"
    yield "expansion.seeds", expansion.seeds, expansion.seeds >= 1, "1 or more"
    yield "expansion.named", expansion.named, 0 <= expansion.named < math.inf, "a number from 0 up"
    yield "expansion.weight", expansion.weight, 0 <= expansion.weight < math.inf, "a number from 0 up"
    yield "expansion.max_edges", expansion.max_edges, expansion.max_edges >= 1, "1 or more"
    yield "expansion.from_share", expansion.from_share, 0 <= expansion.from_share <= 1, "between 0 and 1"


def _feedback_rules(feedback: Feedback) -> Iterator[_Rule]:
    yield "feedback.documents", feedback.documents, feedback.documents >= 1, "1 or more"
    yield "feedback.terms", feedback.terms, feedback.terms >= 1, "1 or more"
    yield "feedback.weight", feedback.weight, 0 <= feedback.weight < 1, "from 0 to below 1"


def _agreement_rules(agreement: Agreement) -> Iterator[_Rule]:
    yield "agreement.neighbours", agreement.neighbours, agreement.neighbours >= 1, "1 or more"
    yield "agreement.share", agreement.share, 0 <= agreement.share <= 1, "between 0 and 1"
    yield "agreement.among", agreement.among, agreement.among >= 1, "1 or more"
    yield "agreement.from_words", agreement.from_words, agreement.from_words >= 0, "0 or more"
    yield "agreement.named_share", agreement.named_share, 0 <= agreement.named_share <= 1, "between 0 and 1"


def _surroundings_rules(around: Surroundings) -> Iterator[_Rule]:
    for side, shares in (("before", around.before), ("after", around.after)):
        fits = len(shares) <= MOST_BESIDE and all(0 <= share < 1 for share in shares)
        yield f"surroundings.{side}", shares, fits, f"at most {MOST_BESIDE} numbers from 0 to below 1"
    yield "surroundings.among", around.among, around.among >= 1, "1 or more"
    named = {name: getattr(around, name) for name in ("own_speaker", "month", "time_words", "length")}
    for name, weight in (*named.items(), *((f"roles.{role}", weight) for role, weight in around.roles.items())):
        yield f"surroundings.{name}", weight, 0 <= weight < math.inf, "a number from 0 up"


class Recipes:
    """Recipes by name."""

    def __init__(self, recipes: Iterable[Recipe], signals: Iterable[str] = SIGNALS) -> None:
        self._signals = tuple(signals)
        self._by_name: dict[str, Recipe] = {}
        for recipe in recipes:
            if recipe.name in self._by_name:
                raise InvalidArgument(
                    f"Two recipes are called {recipe.name!r}, but names of recipes are unique.",
                    hint="Rename one of them.",
                )
            self._by_name[recipe.name] = checked(recipe, self._signals)

    def __iter__(self) -> Iterator[Recipe]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> Recipe:
        recipe = self._by_name.get(name)
        if recipe is None:
            near = get_close_matches(name, self._by_name, 1)
            raise NotFound(
                f"No recipe is called {name!r}.",
                hint=f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(self._by_name)}.",
            )
        return recipe


_BOTH = Recipe(
    "default",
    3,
    (Signal("lexical", unfound=0.0), Signal("dense")),
    fusion=Fusion.WEIGHTED_SCORES,
    normalisation=Normalisation.Z,
    feedback=Feedback(),
    agreement=Agreement(),
)
_ALIKE = Recipe(
    "alike",
    3,
    (Signal("lexical", depth=40, unfound=0.0, matches=2_000), Signal("dense", depth=40)),
    fusion=Fusion.WEIGHTED_SCORES,
    normalisation=Normalisation.Z,
)
_TURNS = Recipe(
    "conversation",
    1,
    (Signal("lexical", depth=100, unfound=0.0), Signal("dense", depth=100)),
    fusion=Fusion.WEIGHTED_SCORES,
    normalisation=Normalisation.Z,
    surroundings=Surroundings(
        before=(0.4, 0.2), after=(0.3, 0.15), own_speaker=1.0, month=0.5, time_words=1.0, length=0.6
    ),
)

FOR_QUESTIONS = ("default", "linked")
"""Recipes for questions about documents."""
BUILT_IN = Recipes(
    (
        _BOTH,
        msgspec.structs.replace(_BOTH, name="linked", expansion=Expansion()),
        _ALIKE,
        _TURNS,
        msgspec.structs.replace(
            _TURNS,
            name="assistant",
            signals=_BOTH.signals,
            surroundings=Surroundings(after=(0.6,), roles={"user": 1.0}),
        ),
        msgspec.structs.replace(_BOTH, name="auto", version=1, expansion=Expansion(from_share=0.2)),
        Recipe("lexical", 2, (Signal("lexical"),), feedback=Feedback()),
        Recipe("dense", 1, (Signal("dense"),)),
    )
)
"""`default` for questions, `linked` for those whose answer lies behind a link, `auto`
for that one of the two which suits the texts, `alike` for the texts most like a given
one, `conversation` for what people said to each other, `assistant` for what a user and an assistant said, and each
signal alone.

`conversation` and `assistant` look at what is beside a result, and have neither feedback nor agreement: on
conversations these cost time and find nothing. `make bench-memory` has the figures.

Both signals weigh the same. Their scores are counted in standard deviations, because ranks say nothing of how far the
first result is ahead: with reciprocal ranks, what only one signal can find comes out far lower. Words that stand
nowhere score 0, so the one unit with a rare word is far above the rest. The figures lie in the middle of wide ranges in
which results hardly differ.
"""
