"""Finding and reading files without leaving the project."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clew.errors import FormatError, NotFound, OutsideProject
from clew.workspace.files import read_bytes, resolve, time_of
from clew.workspace.find import Selection, scan


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
def test_folders_and_links_that_lead_out_of_the_project_are_named_and_not_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "project"
    write(outside, "secret.py")
    write(root, "src/inside.py")
    (root / "src" / "file_link.py").symlink_to(outside / "secret.py")
    (root / "src" / "folder_link").symlink_to(outside)
    (root / "src" / "unwanted.txt").symlink_to(outside / "secret.py")
    (root / "linked").symlink_to(outside)
    folders = ("../outside", "../*/x", str(outside), "linked", "src", str(root / "src"))
    tree = scan(root, Selection(folders=folders, patterns=("*.py",)))
    assert [entry.path for entry in tree.files] == ["src/inside.py"]
    named = {"../*/x", "../outside", "linked", "src/file_link.py", "src/folder_link", str(outside)}
    assert set(tree.outside) == named
    assert tree.missing == ()
    with pytest.raises(OutsideProject):
        resolve(root, "a\0b")


# Verifies: REQ-d00004-A
def test_a_gitignore_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "rules", "*.py\n")
    write(tmp_path, "project/src/a.py")
    (tmp_path / "project" / ".gitignore").symlink_to(tmp_path / "rules")
    assert found(tmp_path / "project", gitignore=True) == ["src/a.py"]


# Verifies: REQ-d00004-B
def test_a_gitignore_is_read_byte_for_byte_as_git_reads_it(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbffirst.py\r\nb\xff.py\nodd\x0bname.py\n")
    for name in (b"first.py", b"b\xff.py", b"odd\x0bname.py", b"name.py"):
        Path(os.fsdecode(os.fsencode(tmp_path / "src") + b"/" + name)).touch()
    assert found(tmp_path, gitignore=True) == ["src/name.py"]


def test_missing_folders_are_named_unless_nobody_named_them(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    selection = Selection(folders=("nowhere", "a.py", "x/*/y"), patterns=("*",))
    assert scan(tmp_path, selection).missing == ("a.py", "nowhere", "x/*/y")
    assert scan(tmp_path, Selection(folders=("nowhere",), patterns=("*",), assumed=True)).missing == ()


# Verifies: REQ-d00004-C
@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_listed_is_named_and_noticed_when_it_opens(tmp_path: Path) -> None:
    write(tmp_path, "src/closed/a.py")
    write(tmp_path, "src/b.py")
    closed = tmp_path / "src" / "closed"
    closed.chmod(0)
    try:
        tree = scan(tmp_path, Selection(folders=("src",), patterns=("*.py",)))
    finally:
        closed.chmod(0o755)
    assert [entry.path for entry in tree.files] == ["src/b.py"]
    assert tree.unreadable == ("src/closed",)
    assert time_of(tmp_path, "src/closed") != tree.marks["src/closed"]


@contextmanager
def nested(root: Path, names: list[str], file: str) -> Iterator[None]:
    """A file below folders that may be deeper than a path can be long, and than the clearing of old runs can follow."""
    folder = os.open(root, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=folder)
        folder = _entered(folder, name)
    os.close(os.open(file, os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    try:
        yield
    finally:
        _clear(folder, names, file)


def _entered(folder: int, name: str) -> int:
    other = os.open(name, os.O_RDONLY, dir_fd=folder)
    os.close(folder)
    return other


def _clear(folder: int, names: list[str], file: str) -> None:
    os.unlink(file, dir_fd=folder)
    for name in reversed(names):
        folder = _entered(folder, "..")
        os.rmdir(name, dir_fd=folder)
    os.close(folder)


# Verifies: REQ-d00004-C
@pytest.mark.skipif(os.name != "posix", reason="needs folders deeper than a path may be long")
def test_a_folder_too_deep_to_be_listed_is_named_and_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py")
    with nested(tmp_path / "src", ["d" * 250] * 17, "b.py"):
        tree = scan(tmp_path, Selection(folders=("src",), patterns=("*.py",)))
    assert [entry.path for entry in tree.files] == ["src/a.py"]
    (deepest,) = tree.unreadable
    assert deepest.startswith("src/ddd")


@pytest.mark.skipif(os.name != "posix", reason="needs a path longer than Windows takes")
def test_a_tree_deeper_than_python_recurses_is_walked(tmp_path: Path) -> None:
    with nested(tmp_path, ["src", *["d"] * 1010], "a.py"):
        assert found(tmp_path) == [f"src{'/d' * 1010}/a.py"]


# Verifies: REQ-p00003-B
def test_a_glob_names_every_folder_it_matches(tmp_path: Path) -> None:
    for path in ("a/tests/x.py", "b/tests/deep/y.py", "b/src/tests/z.py", "c/t.py", "node_modules/tests/n.py"):
        write(tmp_path, f"packages/{path}")
    write(tmp_path, "packages/[id]/tests/w.py")
    one_level = ["packages/[id]/tests/w.py", "packages/a/tests/x.py", "packages/b/tests/deep/y.py"]
    assert found(tmp_path, folders=("packages/*/tests",)) == one_level
    assert found(tmp_path, folders=("./packages//**/tests/",)) == sorted([*one_level, "packages/b/src/tests/z.py"])
    assert found(tmp_path, folders=("packages/[id]/tests",)) == ["packages/[id]/tests/w.py"]
    assert found(tmp_path, folders=("packages/[ab]/tests/**",)) == one_level[1:]
    assert found(tmp_path, folders=("**/tests",), skip=("/packages/*/tests",)) == ["packages/b/src/tests/z.py"]


def test_a_folder_that_a_glob_will_match_is_noticed_when_it_appears(tmp_path: Path) -> None:
    write(tmp_path, "packages/a/tests/x.py")
    marks = scan(tmp_path, Selection(folders=("packages/*/tests",), patterns=("*.py",))).marks
    assert {"packages", "packages/a", "packages/a/tests"} <= marks.keys()


# Verifies: REQ-p00003-B
def test_globs_find_files_outside_of_the_folders_and_whatever_the_patterns(tmp_path: Path) -> None:
    for path in ("src/a.py", "lib/b.py", "lib/deep/er/c.py", "lib/d.txt", "top.sh", "lib/top.sh", "lib/skip/e.py"):
        write(tmp_path, path)
    write(tmp_path, ".gitignore", "b.py\n")
    globs = ("lib/**/*.py", "*.sh", "./lib/d.*")
    everything = ["lib/b.py", "lib/d.txt", "lib/deep/er/c.py", "src/a.py", "top.sh"]
    assert found(tmp_path, globs=globs, skip=("skip",)) == everything
    assert found(tmp_path, globs=globs, skip=("skip",), gitignore=True) == everything[1:]
    assert found(tmp_path, folders=(), globs=("lib/deep/**",)) == ["lib/deep/er/c.py"]
    assert scan(tmp_path, Selection(folders=(), patterns=(), globs=("../*.py",))).outside == ("../*.py",)


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
