"""Damaged vectors are found out, never searched, and can be made anew."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from clew.errors import StoreCorrupt, StoreError, StoreTooNew
from clew.search.dense import files as vectors_files
from clew.search.dense.vectors import VectorSpace

DIMENSIONS, COUNT = 16, 5000


def vectors() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(COUNT, DIMENSIONS)).astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    VectorSpace(tmp_path / "space", "embedder", DIMENSIONS).put(range(COUNT), vectors())
    return tmp_path / "space"


def only(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def use(folder: Path) -> VectorSpace:
    space = VectorSpace(folder, "embedder", DIMENSIONS)
    space.search(np.ones(DIMENSIONS), 3)
    return space


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0x10
    path.write_bytes(content)


def zero_a_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[8192:12288] = bytes(4096)
    path.write_bytes(content)


def swap_two_rows(path: Path) -> None:
    rows = np.fromfile(path, np.float32).reshape(-1, DIMENSIONS)
    rows[[10, 11]] = rows[[11, 10]]
    rows.tofile(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "one bit of the first vector": lambda folder: flip(only(folder, "vectors-*"), 2),
    "one bit in the middle": lambda folder: flip(only(folder, "vectors-*"), COUNT * DIMENSIONS * 2),
    "one bit of the last vector": lambda folder: flip(only(folder, "vectors-*"), COUNT * DIMENSIONS * 4 - 1),
    "a page of zeros": lambda folder: zero_a_page(only(folder, "vectors-*")),
    "two rows in each other's place": lambda folder: swap_two_rows(only(folder, "vectors-*")),
    "vectors cut off": lambda folder: only(folder, "vectors-*").write_bytes(bytes(1000)),
    "no vectors": lambda folder: only(folder, "vectors-*").unlink(),
    "one bit of the journal": lambda folder: flip(only(folder, "journal-*"), 100),
    "journal cut off": lambda folder: only(folder, "journal-*").write_bytes(bytes(8)),
    "no journal": lambda folder: only(folder, "journal-*").unlink(),
    "one bit of the manifest": lambda folder: flip(folder / "manifest", 30),
    "an empty manifest": lambda folder: (folder / "manifest").write_bytes(b""),
    "another file as the manifest": lambda folder: (folder / "manifest").write_bytes(b"{}\n12345678"),
}


# Verifies: REQ-d00035-E
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_found_and_the_space_can_be_rebuilt(folder: Path, damage: Callable[[Path], object]) -> None:
    damage(folder)
    with pytest.raises(StoreCorrupt) as caught:
        use(folder)
    assert str(folder) in caught.value.message
    assert "clew index" in caught.value.hint
    rebuilt = VectorSpace.rebuild(folder, "embedder", DIMENSIONS, [(range(COUNT), vectors())])
    assert len(rebuilt) == len(use(folder)) == COUNT


# Verifies: REQ-d00035-E
def test_a_search_among_few_units_finds_damage_to_these(folder: Path) -> None:
    flip(only(folder, "vectors-*"), 0)
    space = VectorSpace(folder, "embedder", DIMENSIONS)
    assert len(space.search(np.ones(DIMENSIONS), 3, [4000, 4001])[0]) == 2
    with pytest.raises(StoreCorrupt):
        space.search(np.ones(DIMENSIONS), 3, [0, 1])
    with pytest.raises(StoreCorrupt):
        space.check()


# Verifies: REQ-d00035-E
def test_damaged_rows_are_not_copied_into_a_new_file(folder: Path) -> None:
    space = VectorSpace(folder, "embedder", DIMENSIONS)
    flip(only(folder, "vectors-*"), 5)
    with pytest.raises(StoreCorrupt):
        space.compact()
    with pytest.raises(StoreCorrupt):
        use(folder)


# Verifies: REQ-d00035-E
def test_a_file_that_is_cut_off_while_it_is_open_is_an_error_and_not_the_end(folder: Path) -> None:
    space = use(folder)
    with only(folder, "vectors-*").open("r+b") as file:
        file.truncate(4096)
    with pytest.raises(StoreCorrupt):
        space.search(np.ones(DIMENSIONS), 3)


# Verifies: REQ-d00035-E
def test_remains_of_a_stopped_writer_count_for_nothing(folder: Path) -> None:
    for pattern in ("vectors-*", "journal-*"):
        with only(folder, pattern).open("ab") as file:
            file.write(b"\xff" * 777)
    (folder / "manifest.new").write_bytes(b"half a manif")
    (folder / "vectors-7.f32").write_bytes(b"from a compaction that did not finish")
    space = use(folder)
    assert len(space) == COUNT
    space.put([COUNT], np.ones((1, DIMENSIONS)))
    assert use(folder).search(np.ones(DIMENSIONS), 1)[0].tolist() == [COUNT]
    space.compact()
    assert not (folder / "vectors-7.f32").exists()
    assert len(use(folder)) == COUNT + 1


# Verifies: REQ-d00035-E
def test_a_space_of_a_newer_clew_is_left_alone(folder: Path) -> None:
    from msgspec.structs import replace

    from clew.search.dense.files import read_manifest, write_manifest

    manifest = read_manifest(folder)
    assert manifest is not None
    write_manifest(folder, replace(manifest, format=manifest.format + 1))
    with pytest.raises(StoreTooNew):
        use(folder)


# Verifies: REQ-d00035-E
def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreError, match="file"):
        VectorSpace(tmp_path / "file" / "space", "embedder", DIMENSIONS)


# Verifies: REQ-d00035-E
def test_a_folder_of_an_earlier_format_gets_the_new_one_with_its_next_entries(folder: Path) -> None:
    made = vectors_files.read_manifest(folder)
    assert made is not None
    vectors_files.write_manifest(folder, msgspec.structs.replace(made, format=1))
    space = use(folder)
    space.put([7, 7], vectors()[:2])
    after = vectors_files.read_manifest(folder)
    assert after is not None
    assert after.format == vectors_files.FORMAT
    again = VectorSpace(folder, "embedder", DIMENSIONS)
    both = vectors()[:2]
    for vector in both:
        assert np.isclose(again.search(vector, 1, [7])[1][0], (both @ vector).max(), rtol=1e-5)
