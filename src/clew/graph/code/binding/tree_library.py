"""Containers of languages with declared types: the values that iterating over them and indexing them give."""

MODULES = {
    "?go": '''
from typing import Generic, Iterator, TypeVar
T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
class tuple(Generic[T]): ...
class __list__(Generic[T]):
    def __getitem__(self, i) -> T: ...
class __table__(Generic[K, V]):
    def __iter__(self) -> Iterator[K]: ...
    def __getitem__(self, k: K) -> V: ...
class __channel__(Generic[T]):
    def __iter__(self) -> Iterator[T]: ...
''',
}  # fmt: skip
