"""A snapshot: the state of a project's folder as a tree of git objects, whether or not it was ever committed.

It is made beside the user's own index, in a temporary one: the last commit, and on top of it what differs in the
folder, byte for byte as it lies there. What git ignores is left out, unless it is asked for by name.
"""

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from clew.errors import Refused, Unavailable
from clew.workspace.git import api as git
from clew.workspace.git import parse
from clew.workspace.git.parse import TreeEntry
from clew.workspace.regular import ANY_BYTES, contents

LINK = "120000"
SUBMODULE = "160000"
_FILE, _PROGRAM = "100644", "100755"
_DIGITS = {"sha1": 40, "sha256": 64}


class ProjectWorkTree(msgspec.Struct, frozen=True):
    """A project's folder as part of a git work tree. Paths are those of the operating system, from the work tree."""

    top: Path
    prefix: str
    """The project's folder below it: empty, or with a slash at the end."""
    head: str | None
    """The last commit; None before the first."""
    branch: str | None
    """None where no branch is checked out."""
    digits: int = 40
    """Of the ids of objects."""

    def place(self, path: str) -> Path:
        return self.top / path

    def holds(self, path: str) -> bool:
        """True if a file exists at the path; a path through a linked folder is outside."""
        if not os.path.lexists(self.top / path):
            return False
        folders = path.split("/")[:-1]
        return not any((self.top / "/".join(folders[:depth])).is_symlink() for depth in range(1, len(folders) + 1))


class SavedTree(msgspec.Struct, frozen=True):
    tree: str
    staged: str | None
    """The tree of the user's index; None where nothing is staged, and while a merge is unfinished."""


def repository_of(root: Path) -> ProjectWorkTree:
    """The work tree that a project is in. Refused without one, or if it ignores the project."""
    try:
        answer = os.fsdecode(git.command(root, "rev-parse", "--show-object-format", "--show-toplevel", "--show-prefix"))
    except Unavailable as error:
        raise Refused(
            f"There is no git work tree for a safety branch here: {error.message}",
            hint="Run `git init`, or repeat the call without save_branch.",
        ) from error
    algorithm, top, prefix = answer.removesuffix("\n").split("\n", 2)
    found = ProjectWorkTree(Path(top), prefix, git.head(root), git.branch(root), _DIGITS[algorithm])
    if prefix and git.ignored(found.top, [prefix.rstrip("/")], also_tracked=True):
        raise Refused(
            f"The repository at '{top}' ignores the folder '{prefix}', so git tracks nothing of this project.",
            hint="Run `git init` in the project's folder, or repeat the call without save_branch.",
        )
    return found


def take(repository: ProjectWorkTree, also: Iterable[str] = ()) -> SavedTree:
    """A snapshot of the folder; `also` names files to include although git ignores them."""
    paths = dict.fromkeys((*_differing(repository), *_converted(repository), *also))
    with _private_index() as index:
        git.command(repository.top, "read-tree", repository.head or "--empty", environment=index)
        changes = b"".join(_entries(repository, paths))
        git.command(repository.top, "update-index", "-z", "--index-info", stdin=changes, environment=index)
        tree = git.command(repository.top, "write-tree", "--missing-ok", environment=index).decode().strip()
    return SavedTree(tree, _staged(repository))


def entries(repository: ProjectWorkTree, tree: str) -> dict[str, TreeEntry]:
    """The files of the project in a tree."""
    where = ["--", repository.prefix] if repository.prefix else []
    return parse.tree_entries(git.command(repository.top, "ls-tree", "-r", "-z", "--full-tree", tree, *where))


def ignored(repository: ProjectWorkTree, paths: Iterable[str]) -> frozenset[str]:
    """The paths that git ignores now."""
    return git.ignored(repository.top, paths, also_tracked=True)


def _differing(repository: ProjectWorkTree) -> Iterator[str]:
    """The files that differ from the last commit: staged, unstaged, or new and not ignored."""
    where = ["--", repository.prefix] if repository.prefix else []
    options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
    status = git.command(repository.top, "status", *options, *where)
    for entry in parse.names(status):
        # A folder in this list is a repository of its own.
        if not entry.endswith("/"):
            yield entry[3:]


def _converted(repository: ProjectWorkTree) -> Iterator[str]:
    """Files that are as committed to git, but not to the byte, because git converts line ends between the two."""
    if not _converts(repository):
        return
    where = ["--", repository.prefix] if repository.prefix else []
    for entry in parse.names(git.command(repository.top, "ls-files", "-z", "--eol", *where)):
        about, _, path = entry.partition("\t")
        ends = about.split()
        if len(ends) > 1 and ends[1] != "w/" and ends[0][2:] != ends[1][2:]:
            yield path


def _converts(repository: ProjectWorkTree) -> bool:
    top = repository.top
    if git.command(top, "config", "--get-regexp", r"^core\.(autocrlf|eol|attributesfile)$", says_no=1):
        return True
    if _own_file(top, "info/attributes").exists():
        return True
    everywhere = ("--cached", "--others", "--exclude-standard", "-z", "--", ":(glob)**/.gitattributes")
    return bool(git.command(top, "ls-files", *everywhere, patterns=True))


def _own_file(top: Path, name: str) -> Path:
    """A file of git's own, wherever it keeps it."""
    return top / os.fsdecode(git.command(top, "rev-parse", "--git-path", name)).removesuffix("\n")


@contextmanager
def _private_index() -> Iterator[Mapping[str, str]]:
    with tempfile.TemporaryDirectory(prefix="clew-") as folder:
        yield {"GIT_INDEX_FILE": str(Path(folder, "index"))}


def _staged(repository: ProjectWorkTree) -> str | None:
    """The tree of the user's index, from a copy: git itself would write into the original."""
    with _private_index() as index:
        try:
            Path(index["GIT_INDEX_FILE"]).write_bytes(contents(_own_file(repository.top, "index"), ANY_BYTES))
            tree = git.command(repository.top, "write-tree", "--missing-ok", environment=index).decode().strip()
        except (FileNotFoundError, Unavailable):
            return None
    committed = git.command(repository.top, "rev-parse", "HEAD^{tree}").decode().strip() if repository.head else None
    return tree if tree != committed else None


def _entries(repository: ProjectWorkTree, paths: Iterable[str]) -> Iterator[bytes]:
    """Lines for the index, removed files first, because a folder may take the path of a former file."""
    there: dict[str, str] = {}
    for path in paths:
        mode = _mode(repository.place(path)) if repository.holds(path) else None
        if mode is None:
            yield f"0 {'0' * repository.digits}\t".encode() + os.fsencode(path) + b"\0"
        else:
            there[path] = mode
    for path, id in _stored(repository, there).items():
        yield f"{there[path]} {id}\t".encode() + os.fsencode(path) + b"\0"


def _mode(place: Path) -> str | None:
    """Git's mode of a file; None for no file, and for one that git does not store."""
    try:
        mode = place.lstat().st_mode
    except OSError:
        return None
    if stat.S_ISLNK(mode):
        return LINK
    if not stat.S_ISREG(mode):
        return None
    return _PROGRAM if mode & stat.S_IXUSR else _FILE


def _stored(repository: ProjectWorkTree, modes: Mapping[str, str]) -> dict[str, str]:
    """Write the bytes of these files as blobs, exactly as they are."""
    options = ("hash-object", "-w", "--no-filters")
    found: dict[str, str] = {}
    plain: list[str] = []
    for path, mode in modes.items():
        place = repository.place(path)
        if mode == LINK:
            content = os.fsencode(place.readlink())
        elif "\n" in path or path.startswith('"'):
            content = contents(place, ANY_BYTES)  # The list of paths below knows no such names.
        else:
            plain.append(path)
            continue
        found[path] = git.command(repository.top, *options, "--stdin", stdin=content).decode().strip()
    if plain:
        names = b"".join(os.fsencode(path) + b"\n" for path in plain)
        ids = git.command(repository.top, *options, "--stdin-paths", stdin=names).decode().split()
        found.update(zip(plain, ids, strict=True))
    return found
