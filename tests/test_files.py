"""Finding and reading files without leaving the project."""

import os
from pathlib import Path

import pytest

from clew.errors import FormatError, NotFound, OutsideProject
from clew.files import Selection, read_bytes, resolve, scan


def write(root: Path, path: str, text: str = "x\n") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def found(root: Path, **selection: object) -> list[str]:
    defaults: dict[str, object] = {"folders": ("src",), "patterns": ("*.py",)}
    return [entry.path for entry in scan(root, Selection(**{**defaults, **selection})).files]  # type: ignore[arg-type]


def test_files_are_found_sorted_by_path_with_patterns_and_skips(tmp_path: Path) -> None:
    for path in ("src/b.py", "src/a.py", "src/sub/c.py", "src/skip/d.py", "src/e.txt", "other/f.py"):
        write(tmp_path, path)
    assert found(tmp_path, skip=("skip",)) == ["src/a.py", "src/b.py", "src/sub/c.py"]
    assert found(tmp_path, patterns=("src/sub/*.py",)) == ["src/sub/c.py"]
    assert found(tmp_path, folders=("src", "src/sub")) == ["src/a.py", "src/b.py", "src/skip/d.py", "src/sub/c.py"]


def test_a_missing_folder_holds_no_files(tmp_path: Path) -> None:
    assert found(tmp_path, folders=("nowhere",)) == []


# Verifies: REQ-d00004-B
def test_every_gitignore_on_the_way_is_respected(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", "*.gen.py\nbuild/\n!keep.gen.py\n")
    write(tmp_path, "src/.gitignore", "local.py\n")
    write(tmp_path, "src/deep/.gitignore", "!local.py\n")
    for path in ("a.py", "x.gen.py", "keep.gen.py", "local.py", "deep/local.py", "build/z.py"):
        write(tmp_path, f"src/{path}")
    assert found(tmp_path, gitignore=True) == ["src/a.py", "src/deep/local.py", "src/keep.gen.py"]


# Verifies: REQ-d00004-A
def test_links_that_leave_the_project_are_neither_found_nor_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    root = tmp_path / "project"
    write(outside, "secret.py", "secret")
    write(root, "src/inside.py")
    (root / "src" / "file_link.py").symlink_to(outside / "secret.py")
    (root / "src" / "folder_link").symlink_to(outside)
    (root / "src" / "inner_link.py").symlink_to(root / "src" / "inside.py")
    (root / "src" / "loop").symlink_to(root / "src")
    assert found(root) == ["src/inner_link.py", "src/inside.py"]
    for path in ("src/file_link.py", "src/folder_link/secret.py", "../outside/secret.py", str(outside / "secret.py")):
        with pytest.raises(OutsideProject):
            read_bytes(root, path, limit=1000)
    assert read_bytes(root, "src/inner_link.py", limit=1000) == b"x\n"


# Verifies: REQ-d00004-A
def test_a_configured_folder_outside_the_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with pytest.raises(OutsideProject):
        scan(tmp_path / "project", Selection(folders=("../elsewhere",), patterns=("*",)))
    with pytest.raises(OutsideProject):
        resolve(tmp_path / "project", "a\0b")


# Verifies: REQ-d00004-C
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    write(tmp_path, "large.md", "x" * 100)
    with pytest.raises(FormatError) as large:
        read_bytes(tmp_path, "large.md", limit=99)
    assert "100 bytes" in large.value.message
    assert "max_file_bytes" in large.value.hint
    with pytest.raises(NotFound):
        read_bytes(tmp_path, "absent.md", limit=99)
    with pytest.raises(FormatError):
        read_bytes(tmp_path, ".", limit=10**9)


def test_marks_change_when_a_file_is_added(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py")
    selection = Selection(folders=("src", "later"), patterns=("*.py",))
    os.utime(tmp_path / "src", ns=(1, 1))
    before = scan(tmp_path, selection).marks
    assert before["later"] == 0
    write(tmp_path, "src/b.py")
    write(tmp_path, "later/c.py")
    after = scan(tmp_path, selection).marks
    assert before["src"] != after["src"]
    assert after["later"] != 0
