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
        """Note the terms of a key; returns those that nothing held before."""
        postings, new = self._postings, []
        for term, value in terms.items():
            holders = postings.get(term)
            if holders is None:
                holders = postings[term] = {}
                new.append(term)
            holders[key] = value
        return new

    def remove(self, key: K, terms: Iterable[T]) -> list[T]:
        """Forget the terms of a key, all of which it holds; returns those that nothing holds any more."""
        postings, gone = self._postings, []
        for term in terms:
            holders = postings[term]
            del holders[key]
            if not holders:
                del postings[term]
                gone.append(term)
        return gone

    def holders(self, term: T) -> dict[K, V]:
        """The keys that hold a term, with their values. They follow the index: do not keep or change them."""
        return self._postings.get(term) or {}

    def items(self) -> ItemsView[T, dict[K, V]]:
        return self._postings.items()

    def __iter__(self) -> Iterator[T]:
        return iter(self._postings)


class InvertedSets(Generic[T, K]):
    """The same for keys without values. The holders of a term are a set in no order: two sets are intersected in half
    the time that the keys of two dicts take."""

    def __init__(self) -> None:
        self._postings: dict[T, set[K]] = {}

    def add(self, key: K, terms: Iterable[T]) -> list[T]:
        """Note the terms of a key; returns those that nothing held before."""
        postings, new = self._postings, []
        for term in terms:
            holders = postings.get(term)
            if holders is None:
                holders = postings[term] = set()
                new.append(term)
            holders.add(key)
        return new

    def remove(self, key: K, terms: Iterable[T]) -> list[T]:
        """Forget the terms of a key, all of which it holds; returns those that nothing holds any more."""
        postings, gone = self._postings, []
        for term in terms:
            holders = postings[term]
            holders.remove(key)
            if not holders:
                del postings[term]
                gone.append(term)
        return gone

    def holders(self, term: T) -> AbstractSet[K]:
        """The keys that hold a term. They follow the index: do not keep or change them."""
        return self._postings.get(term) or frozenset()

    def __iter__(self) -> Iterator[T]:
        return iter(self._postings)
