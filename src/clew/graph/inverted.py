"""The one inverted index beside the full-text index of SQLite: which keys hold a term, each with a value.

A key is whatever the caller indexes (an id, a number); the value is what he has to know about the term in it (a count,
a weight, or nothing). Holders come in the order they were added.
"""

from collections.abc import Hashable, ItemsView, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Inverted(Generic[T, K, V]):
    def __init__(self) -> None:
        self._postings: dict[T, dict[K, V]] = {}

    def add(self, key: K, terms: Mapping[T, V]) -> list[T]:
        """Note the terms of a key; returns the terms that are new to the index."""
        postings, new = self._postings, []
        for term, value in terms.items():
            holders = postings.get(term)
            if holders is None:
                holders = postings[term] = {}
                new.append(term)
            holders[key] = value
        return new

    def remove(self, key: K, terms: Iterable[T]) -> list[T]:
        """Forget the terms of a key, which has to be all its terms; returns the terms that no key has any more."""
        postings, gone = self._postings, []
        for term in terms:
            holders = postings[term]
            del holders[key]
            if not holders:
                del postings[term]
                gone.append(term)
        return gone

    def holders(self, term: T) -> dict[K, V]:
        """The keys that have a term, with their values: a live view, which must not be kept or changed."""
        return self._postings.get(term) or {}

    def items(self) -> ItemsView[T, dict[K, V]]:
        return self._postings.items()

    def __iter__(self) -> Iterator[T]:
        return iter(self._postings)


class InvertedSets(Generic[T, K]):
    """An inverted index without values. The keys of a term are an unordered set, because intersecting two sets takes
    half the time of intersecting the keys of two dicts."""

    def __init__(self) -> None:
        self._postings: dict[T, set[K]] = {}

    def add(self, key: K, terms: Iterable[T]) -> list[T]:
        """Note the terms of a key; returns the terms that are new to the index."""
        postings, new = self._postings, []
        for term in terms:
            holders = postings.get(term)
            if holders is None:
                holders = postings[term] = set()
                new.append(term)
            holders.add(key)
        return new

    def remove(self, key: K, terms: Iterable[T]) -> list[T]:
        """Forget the terms of a key, which has to be all its terms; returns the terms that no key has any more."""
        postings, gone = self._postings, []
        for term in terms:
            holders = postings[term]
            holders.remove(key)
            if not holders:
                del postings[term]
                gone.append(term)
        return gone

    def holders(self, term: T) -> AbstractSet[K]:
        """The keys that have a term: a live view, which must not be kept or changed."""
        return self._postings.get(term) or frozenset()

    def __iter__(self) -> Iterator[T]:
        return iter(self._postings)
