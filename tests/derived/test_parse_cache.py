"""The cache of parsed files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.derived.parse_cache import CachedFile, ParseCache

# Verifies: REQ-o00002-F


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[ParseCache]:
    opened = ParseCache(tmp_path)
    yield opened
    opened.close()


def cached(path: str, *, reader: str = "elspais/1", payload: bytes = b"\x00\xff parsed") -> CachedFile:
    return CachedFile(path, reader, 12, 1_700_000_000_123_456_789, "sha256:00", payload)


def test_what_is_cached_is_found_by_its_reader(cache: ParseCache, tmp_path: Path) -> None:
    files = [cached("spec/a.md"), cached("spec/b.md", payload=b"")]
    cache.put([*files, cached("spec/a.md", reader="elspais/2")])
    other = ParseCache(tmp_path)
    assert other.files("elspais/1") == {file.path: file for file in files}
    assert list(other.files("elspais/2")) == ["spec/a.md"]
    assert other.files("markers/1") == {}


def test_a_new_entry_replaces_the_old_one(cache: ParseCache) -> None:
    cache.put([cached("a.md", payload=b"old"), cached("b.md")])
    cache.put([cached("a.md", payload=b"new")])
    assert {path: file.payload for path, file in cache.files("elspais/1").items()} == {
        "a.md": b"new",
        "b.md": cached("b.md").payload,
    }


def test_entries_are_forgotten_by_reader_and_path(cache: ParseCache) -> None:
    cache.put([cached("a.md"), cached("b.md"), cached("a.md", reader="elspais/2")])
    cache.put(
        [cached("c.md"), cached("b.md", payload=b"new")],
        forget=[("elspais/1", "a.md"), ("elspais/1", "b.md"), ("elspais/1", "never there")],
    )
    assert {path: file.payload for path, file in cache.files("elspais/1").items()} == {
        "b.md": b"new",
        "c.md": cached("c.md").payload,
    }
    assert list(cache.files("elspais/2")) == ["a.md"]


def test_odd_files_can_be_cached(cache: ParseCache) -> None:
    files = [
        cached("not-utf8-\udcff.md"),
        cached("line\nbreak.md"),
        cached("x" * 4000),
        CachedFile("far-future.md", "elspais/1", 0, 2**64, "", b""),
        CachedFile("before-1970.md", "elspais/1", 0, -1, "", b""),
    ]
    cache.put(files)
    assert cache.files("elspais/1") == {file.path: file for file in files}


def test_a_failure_while_entries_are_made_writes_none_of_them(cache: ParseCache) -> None:
    def failing() -> Iterator[CachedFile]:
        yield cached("a.md")
        raise OSError("the third file vanished")

    with pytest.raises(OSError, match="vanished"):
        cache.put(failing())
    assert cache.files("elspais/1") == {}


def test_entries_may_be_made_by_reading_the_cache(cache: ParseCache) -> None:
    cache.put([cached("a.md")])
    cache.put(cached(f"copy of {path}") for path in cache.files("elspais/1"))
    assert sorted(cache.files("elspais/1")) == ["a.md", "copy of a.md"]


def test_entries_of_readers_that_nobody_uses_any_more_are_forgotten(cache: ParseCache, tmp_path: Path) -> None:
    cache.put([cached("a.md", reader="elspais/1"), cached("a.md", reader="tests/1")])
    cache.put([cached("a.md", reader="elspais/2")], only=["elspais/2", "tests/1"])
    assert set(cache.files("elspais/1")) == set()
    assert set(cache.files("elspais/2")) == set(cache.files("tests/1")) == {"a.md"}
