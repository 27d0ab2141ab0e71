"""Damaged vectors are found out, never searched, and written again from the index."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.search.vector_spaces import FILE, Space, opened

from clew.derived import vector_file
from clew.errors import StoreCorrupt

DIMENSIONS, COUNT = 16, 600
NUMBERS = range(1, COUNT + 1)
HEADER = 4096
VECTORS = np.random.default_rng(3).normal(size=(COUNT, DIMENSIONS)).astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with opened(tmp_path, DIMENSIONS, COUNT) as space:
        space.put(NUMBERS, VECTORS)
        space.vectors.fold()
    return tmp_path


@pytest.fixture
def space(folder: Path) -> Iterator[Space]:
    with opened(folder, DIMENSIONS) as made:
        yield made


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(content)


def zero_a_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8192:12288] = bytes(4096)
    path.write_bytes(content)


def swap_two_rows(path: Path) -> None:
    content = path.read_bytes()
    size = DIMENSIONS * 4
    rows = [content[at : at + size] for at in (HEADER + 10 * size, HEADER + 11 * size)]
    path.write_bytes(content[: HEADER + 10 * size] + rows[1] + rows[0] + content[HEADER + 12 * size :])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "one bit of the first vector": lambda path: flip(path, HEADER + 2),
    "one bit in the middle": lambda path: flip(path, HEADER + COUNT * DIMENSIONS * 2),
    "one bit of the last vector": lambda path: flip(path, HEADER + COUNT * DIMENSIONS * 4 - 1),
    "a page of zeros": zero_a_page,
    "two rows in each other's place": swap_two_rows,
    "one bit of a number": lambda path: flip(path, path.stat().st_size - 4),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:9000]),
    "one bit of the header": lambda path: flip(path, 30),
    "an empty file": lambda path: path.write_bytes(b""),
    "another file": lambda path: path.write_bytes(b"{}\n12345678" * 1000),
}


# Verifies: REQ-d00035-E
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_found_and_the_file_is_written_again_from_the_index(
    space: Space, damage: Callable[[Path], object]
) -> None:
    damage(space.folder / FILE)
    with pytest.raises(StoreCorrupt) as caught:
        space.search(np.ones(DIMENSIONS), 3)
    assert str(space.folder) in caught.value.message
    assert "clew index" in caught.value.hint
    with pytest.raises(StoreCorrupt):
        space.get([1])
    space.vectors.fold()
    assert space.units() == list(NUMBERS)
    assert np.array_equal(space.get(NUMBERS)[1], VECTORS)
    with opened(space.folder, DIMENSIONS) as other:
        assert other.view().filed == COUNT
        other.view().check()


# Verifies: REQ-d00035-E
def test_a_file_that_is_gone_or_of_another_format_is_not_missed(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    (space.folder / FILE).unlink()
    assert np.array_equal(space.get(NUMBERS)[1], VECTORS)
    monkeypatch.setattr(vector_file, "FORMAT", vector_file.FORMAT + 1)
    with opened(space.folder, DIMENSIONS) as other:
        other.vectors.fold()
    monkeypatch.undo()
    with opened(space.folder, DIMENSIONS) as again:
        assert np.array_equal(again.get(NUMBERS)[1], VECTORS)


# Verifies: REQ-d00035-E
def test_a_file_that_is_cut_off_while_it_is_open_is_an_error_and_not_the_end(space: Space) -> None:
    space.search(np.ones(DIMENSIONS), 3)
    with (space.folder / FILE).open("r+b") as file:
        file.truncate(4096)
    with pytest.raises(StoreCorrupt):
        space.search(np.ones(DIMENSIONS), 3)


# Verifies: REQ-d00035-E
def test_remains_of_a_stopped_writer_count_for_nothing(space: Space) -> None:
    left = space.folder / f".{FILE}.abc.new"
    left.write_bytes(b"half a file")
    assert space.units() == list(NUMBERS)
    space.vectors.fold()
    assert not left.exists()


# Verifies: REQ-d00035-E
def test_rows_of_the_index_that_hold_no_vectors_are_dropped(space: Space) -> None:
    with space.index.writing() as connection:
        connection.execute("UPDATE embeddings SET vectors = x'00ff' WHERE number = 7")
    (space.folder / FILE).unlink()
    with pytest.raises(StoreCorrupt):
        space.search(np.ones(DIMENSIONS), 3)
    space.vectors.drop_malformed()
    space.vectors.fold()
    assert space.units() == [number for number in NUMBERS if number != 7]


# Verifies: REQ-d00035-E
def test_a_file_that_cannot_be_written_leaves_the_vectors_in_the_index(space: Space) -> None:
    (space.folder / FILE).unlink()
    (space.folder / FILE).mkdir()
    (space.folder / FILE / "in the way").touch()
    space.vectors.fold()
    assert list(space.folder.glob(".*.new")) == []
    (space.folder / FILE / "in the way").unlink()
    (space.folder / FILE).rmdir()
    assert space.units() == list(NUMBERS)
