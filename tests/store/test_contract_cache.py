"""The parse cache and the store's settings."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.store.factory import StoreFactory

from clew.errors import InvalidArgument
from clew.store.interface import CachedFile, Store

# Verifies: REQ-o00002-F


def cached(path: str, *, reader: str = "elspais/1", payload: bytes = b"\x00\xff parsed") -> CachedFile:
    return CachedFile(path, reader, 12, 1_700_000_000_123_456_789, "sha256:00", payload)


def test_what_is_cached_is_found_by_its_reader(store_factory: StoreFactory) -> None:
    files = [cached("spec/a.md"), cached("spec/b.md", payload=b"")]
    store_factory.open().cache_files([*files, cached("spec/a.md", reader="elspais/2")])
    other = store_factory.open()
    assert other.cached_files("elspais/1") == {file.path: file for file in files}
    assert list(other.cached_files("elspais/2")) == ["spec/a.md"]
    assert other.cached_files("markers/1") == {}


def test_a_new_entry_replaces_the_old_one(store: Store) -> None:
    store.cache_files([cached("a.md", payload=b"old"), cached("b.md")])
    store.cache_files([cached("a.md", payload=b"new")])
    assert {path: file.payload for path, file in store.cached_files("elspais/1").items()} == {
        "a.md": b"new",
        "b.md": cached("b.md").payload,
    }


def test_entries_are_forgotten_by_reader_and_path(store: Store) -> None:
    store.cache_files([cached("a.md"), cached("b.md"), cached("a.md", reader="elspais/2")])
    store.cache_files(
        [cached("c.md"), cached("b.md", payload=b"new")],
        forget=[("elspais/1", "a.md"), ("elspais/1", "b.md"), ("elspais/1", "never there")],
    )
    assert {path: file.payload for path, file in store.cached_files("elspais/1").items()} == {
        "b.md": b"new",
        "c.md": cached("c.md").payload,
    }
    assert list(store.cached_files("elspais/2")) == ["a.md"]


def test_caching_leaves_no_events(store: Store) -> None:
    store.cache_files([cached("a.md")])
    assert store.events() == []


def test_odd_files_can_be_cached(store: Store) -> None:
    files = [
        cached("not-utf8-\udcff.md"),
        cached("line\nbreak.md"),
        cached("x" * 4000),
        CachedFile("far-future.md", "elspais/1", 0, 2**64, "", b""),
        CachedFile("before-1970.md", "elspais/1", 0, -1, "", b""),
    ]
    store.cache_files(files)
    assert store.cached_files("elspais/1") == {file.path: file for file in files}


def test_a_failure_while_entries_are_made_writes_none_of_them(store: Store) -> None:
    def failing() -> Iterator[CachedFile]:
        yield cached("a.md")
        raise OSError("the third file vanished")

    with pytest.raises(OSError, match="vanished"):
        store.cache_files(failing())
    with pytest.raises(InvalidArgument):
        store.cache_files([cached("a.md"), cached("b.md", reader="")])
    assert store.cached_files("elspais/1") == {}


def test_entries_may_be_made_by_reading_the_store(store: Store) -> None:
    store.cache_files([cached("a.md")])
    store.cache_files(cached(f"copy of {path}") for path in store.cached_files("elspais/1"))
    assert sorted(store.cached_files("elspais/1")) == ["a.md", "copy of a.md"]


def test_the_first_default_of_a_setting_is_kept(store_factory: StoreFactory) -> None:
    assert store_factory.open().setting("key", b"\x00first") == b"\x00first"
    assert store_factory.open().setting("key", b"second") == b"\x00first"
    assert store_factory.open().setting("other", b"") == b""


@pytest.mark.parametrize("default", ["text", None, 7])
def test_a_setting_is_bytes(store: Store, default: Any) -> None:
    with pytest.raises(InvalidArgument, match="key"):
        store.setting("key", default)
    assert store.setting("key", b"good") == b"good"


def test_entries_of_readers_that_nobody_uses_any_more_are_forgotten(store_factory: StoreFactory) -> None:
    store = store_factory.open()
    store.cache_files([cached("a.md", reader="elspais/1"), cached("a.md", reader="tests/1")])
    store.cache_files([cached("a.md", reader="elspais/2")], only=["elspais/2", "tests/1"])
    assert set(store.cached_files("elspais/1")) == set()
    assert set(store.cached_files("elspais/2")) == set(store.cached_files("tests/1")) == {"a.md"}
