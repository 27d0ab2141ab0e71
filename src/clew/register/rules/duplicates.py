"""Requirements that say much the same, by the terms of the search engine."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from clew.formats.register.ids import sort_key
from clew.formats.register.model import Requirement, Status
from clew.register.rules.codes import RuleViolation, finding
from clew.search.lexical.similar import MOST_ALIKE, SimilarUnit, alike, like, similarity, terms_in
from clew.text.stem import stem
from clew.text.words import split

THRESHOLD = 0.65
_NAMED, _TERMS = 3, 6
_FEW = 20
"""So many changed requirements are compared one by one sooner than all of them are looked through."""

IGNORED = frozenset(
    stem(word)
    for word in ("the", "and", "for", "with", "that", "this", "shall", "must", "should", "will", "system", "cli")
)
"""Words of every requirement."""

RETIRED_DAYS = 60
"""The number of days for which a retired requirement is still compared."""


class Duplicate(NamedTuple):
    first: Requirement
    second: Requirement
    """The larger id of the two."""
    similarity: float


class DuplicateIndex:
    """The terms of requirements, and similar pairs of them. An update reads only what changed since the last one."""

    def __init__(self) -> None:
        import threading

        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self._texts: dict[str, str] = {}
        self._terms: dict[int, frozenset[str]] = {}
        """By number."""
        self._pairs: tuple[SimilarUnit, ...] = ()

    def duplicates(self, live: Iterable[Requirement]) -> list[Duplicate]:
        """Every pair of these requirements that says much the same."""
        requirements = {requirement.id: requirement for requirement in sorted(live, key=lambda each: sort_key(each.id))}
        with self._lock:
            self._update({id: text_of(each) for id, each in requirements.items()})
            by_number = {self._numbers[id]: each for id, each in requirements.items()}
            pairs = self._pairs
        return [_ordered(by_number[pair.one], by_number[pair.other], pair.similarity) for pair in pairs]

    def _update(self, texts: dict[str, str]) -> None:
        gone = {self._numbers[id] for id in self._texts if id not in texts}
        changed = [id for id, text in texts.items() if self._texts.get(id) != text]
        for id in changed:
            self._terms[self._numbers.setdefault(id, len(self._numbers))] = said(texts[id])
        for number in gone:
            self._terms.pop(number, None)
        self._texts = texts
        self._compare({self._numbers[id] for id in changed}, gone)

    def _compare(self, changed: set[int], gone: set[int]) -> None:
        if not changed and not gone:
            return
        crowded = Counter(pair.one for pair in self._pairs)
        if len(changed) > _FEW or any(count >= MOST_ALIKE for count in crowded.values()):
            # Of a crowd only some pairs are known, so that what is left of them says nothing about the rest.
            self._pairs = tuple(alike(self._terms, THRESHOLD))
            return
        kept = [pair for pair in self._pairs if not {pair.one, pair.other} & (changed | gone)]
        new = {pair for unit in changed for pair in like(unit, self._terms, THRESHOLD)}
        self._pairs = (*kept, *new)


def duplicates_among(live: Iterable[Requirement]) -> list[Duplicate]:
    """Similar requirements, for a single question: nothing is kept."""
    requirements = sorted(live, key=lambda each: sort_key(each.id))
    terms = dict(enumerate(said(text_of(each)) for each in requirements))
    pairs = alike(terms, THRESHOLD)
    return [_ordered(requirements[pair.one], requirements[pair.other], pair.similarity) for pair in pairs]


def _ordered(one: Requirement, other: Requirement, similarity: float) -> Duplicate:
    swapped = sort_key(other.id) < sort_key(one.id)
    return Duplicate(other, one, similarity) if swapped else Duplicate(one, other, similarity)


def check_duplicates(live: Iterable[Requirement], index: DuplicateIndex | None = None) -> list[RuleViolation]:
    """One finding for each requirement that has duplicates with larger ids: the nearest is explained, the others are
    named."""
    by_first: dict[str, list[Duplicate]] = {}
    for duplicate in duplicates_among(live) if index is None else index.duplicates(live):
        by_first.setdefault(duplicate.first.id, []).append(duplicate)
    return [finding("0020", id, _explained(duplicates)) for id, duplicates in by_first.items()]


def _explained(duplicates: list[Duplicate]) -> str:
    nearest, *others = sorted(duplicates, key=lambda duplicate: (-duplicate.similarity, sort_key(duplicate.second.id)))
    message = f"It says {percent(nearest.similarity)} the same as {nearest.second.id}: "
    message += compared(nearest.first, nearest.second)
    if others:
        named = ", ".join(f"{duplicate.second.id} ({percent(duplicate.similarity)})" for duplicate in others[:_NAMED])
        count = len(others) - _NAMED
        # Of a crowd only some are looked for.
        more = " and more" if len(duplicates) >= MOST_ALIKE else f" and {count} more" if count > 0 else ""
        message += f". Also alike: {named}{more}"
    return message + "."


def percent(similarity: float) -> str:
    return f"{round(similarity * 100)} %"


def compared(one: Requirement, two: Requirement) -> str:
    """The words that two requirements share, and those in which they differ."""
    words = _words(text_of(one)) | _words(text_of(two))
    first, second = said(text_of(one)), said(text_of(two))
    message = f"both speak of {_some(first & second, words)}"
    return message if first == second else f"{message}; they differ in {_some(first ^ second, words)}"


said = lru_cache(maxsize=1 << 14)(lambda text: terms_in(text, IGNORED))
"""The terms of a text, without those that every requirement has."""


def text_of(requirement: Requirement) -> str:
    return f"{requirement.title}\n{requirement.statement}"


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> dict[str, str]:
    """A word of the text for each term."""
    return {stem(word): word for word in split(text).words}


def _some(terms: frozenset[str], words: Mapping[str, str]) -> str:
    spoken = sorted(words.get(term, term) for term in terms)
    shown = ", ".join(spoken[:_TERMS])
    return f"{shown} and {len(spoken) - _TERMS} more" if len(spoken) > _TERMS else shown


def resemblances(new: Requirement, others: Iterable[Requirement]) -> tuple[str, ...]:
    """A warning if a live requirement, or one retired recently, says much the same: the nearest one."""
    from datetime import UTC, datetime, timedelta

    own = said(text_of(new))
    made = datetime.fromisoformat(f"{new.created[:19]}+00:00").astimezone(UTC)
    # In a form that sorts with the moments of a register.
    since = (made - timedelta(days=RETIRED_DAYS)).strftime("%Y-%m-%dT%H:%M:%S")
    nearest = max(
        (
            (similarity(own, said(text_of(each))), each)
            for each in others
            if each.id != new.id and (each.status is not Status.OBSOLETE or _last_change(each) >= since)
        ),
        key=lambda scored: (scored[0], sort_key(scored[1].id)),
        default=None,
    )
    if nearest is None or nearest[0] < THRESHOLD:
        return ()
    score, other = nearest
    state = f", which was retired on {_last_change(other)[:10]}" if other.status is Status.OBSOLETE else ""
    return (f"[statement] It says {percent(score)} the same as {other.id}{state}: {compared(new, other)}.",)


def _last_change(requirement: Requirement) -> str:
    return requirement.history[-1].at if requirement.history else requirement.updated
