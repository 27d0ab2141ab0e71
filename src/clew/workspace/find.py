"""Selection of the files of a project.

Every path that goes out here is relative to the project, has forward slashes and is spelled as `paths.display` does, so
that it can be shown, stored and sent whatever bytes the file's name has.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fnmatch import filter as names_matching
from fnmatch import translate
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from clew.workspace.files import FileEntry, is_inside, time_at
from clew.workspace.paths import Glob, display, is_glob, raw

if TYPE_CHECKING:
    from clew.workspace.ignore import IgnoreRules

ALWAYS_SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".clew", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".mypy_cache"}
)
PROJECT_MARKS = frozenset((".elspais.toml", ".git", "clew.toml"))
"""A folder below the root that holds one of these is a project of its own."""
PRODUCTS = (
    *(".*", "bower_components", "htmlcov", "site-packages", "vendor"),
    *(f"/{name}" for name in ("build", "coverage", "dist", "env", "out", "target")),
)
"""Files that a selection of the whole project skips: third-party code, products of programs, and hidden files. Names
such as `build` count at the top only; further down they are packages of the project as often as not."""


class Selection(msgspec.Struct, frozen=True):
    """The files that a reader wants."""

    folders: tuple[str, ...]
    """With all folders below. A glob, such as `packages/*/tests`, names every folder it matches."""
    patterns: tuple[str, ...]
    """Matched against the file's name, or, as a glob, against its whole path where the pattern has a slash."""
    skip: tuple[str, ...] = ()
    """Matched against the file's name, every folder on its way, and the whole path; with a leading slash, as a glob
    against the whole path only."""
    gitignore: bool = False
    """Leave out what .gitignore files name."""
    tracked: tuple[str, ...] = ()
    """Files that are not left out although .gitignore files name them, because git keeps them."""
    globs: tuple[str, ...] = ()
    """Files besides, wherever they lie: each is matched against the whole path, whatever the patterns say."""
    assumed: bool = False
    """The folders are defaults, not named by the user; a missing one is not reported."""
    own_only: bool = False
    """Leave out folders that are projects of their own."""
    not_named: tuple[str, ...] = ()
    """Files to leave out: matched as `patterns` are."""


class Tree(msgspec.Struct, frozen=True):
    """Files that a selection found."""

    files: tuple[FileEntry, ...]
    """Sorted by path."""
    marks: dict[str, int]
    """Times of the folders that were looked into, 0 for one that does not exist: as long as they stay the same, no
    file was added or removed."""
    unreadable: tuple[str, ...] = ()
    """Folders that cannot be listed, and files whose size and time cannot be asked."""
    missing: tuple[str, ...] = ()
    """Folders of the selection that do not exist, and globs for folders that match none."""
    outside: tuple[str, ...] = ()
    """Folders of the selection, and links met on the way, that lead out of the project. They were not followed."""


Listings = dict[str, "tuple[int, list[os.DirEntry[str]]]"]
"""By folder: its time, and what it holds."""


def shape_of(entries: "Iterable[os.DirEntry[str]]") -> int | None:
    """A number for the names and kinds of a folder's entries; None for a folder with links, whose targets may change
    under the same names."""
    shape = set()
    for entry in entries:
        if entry.is_symlink():
            return None
        shape.add((entry.name, entry.is_dir(follow_symlinks=False)))
    return hash(frozenset(shape))


def shape_at(root: Path, folder: str) -> int | None:
    """The present shape of a folder; None if it cannot be told."""
    try:
        with os.scandir(f"{root}/{raw(folder)}") as entries:
            return shape_of(entries)
    except OSError:
        return None


def scan(root: Path, selection: Selection, listings: Listings | None = None) -> Tree:
    """Find the selected files. Several selections that share `listings` look into each folder once."""
    walk = _Walk(os.path.realpath(root), selection, listings)
    for folder in selection.folders:
        walk.take_folder(folder)
    for glob in selection.globs:
        walk.take_glob(glob)
    return walk.tree()


def selects(root: Path, selection: Selection, path: str) -> bool:
    """True if a file of this path would be selected, were it there."""
    return _Walk(os.path.realpath(root), selection).would_take(raw(path))


def normal_folder(folder: str, root: Path) -> str:
    """The one spelling of a folder that a configuration names: `.` for the project itself, no slash at the end."""
    spelled = os.path.normpath(folder.replace("\\", "/"))
    if os.path.isabs(spelled):  # noqa: PTH117
        base, real = os.path.realpath(root), os.path.realpath(spelled)
        spelled = os.path.relpath(real, base) if is_inside(base, real) else spelled
    spelled = spelled.replace(os.sep, "/")
    while spelled.endswith("/**"):
        spelled = spelled.removesuffix("/**")
    return "." if spelled == "**" else spelled


def names_in(folder: Path) -> list[str]:
    """The names in a folder, selected or not, sorted; none if there is no such folder. OSError if it may not be
    listed."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []


def files_below(folder: Path) -> list[Path]:
    """Every file in a folder and the folders below it, likewise. Linked folders are not entered."""
    return [path for path in paths_below(folder) if path.is_file()]


def paths_below(folder: Path) -> list[Path]:
    """Everything below a folder that is not a folder, with links that lead nowhere. Linked folders are left out."""
    return sorted(Path(place, name) for place, _, names in os.walk(folder) for name in names)


def paths_named(folder: Path, pattern: str) -> list[Path]:
    """The paths in a folder whose names match a pattern; empty if the folder cannot be listed."""
    with suppress(OSError):
        return [folder / name for name in names_matching(names_in(folder), pattern)]
    return []


def folders_named(top: Path, name: str) -> list[Path]:
    """Every folder of a name in a tree, outside of folders that are always skipped, and not inside of one another."""
    found: list[Path] = []
    for place, folders, _ in os.walk(top):
        if name in folders:
            found.append(Path(place, name))
        folders[:] = [each for each in folders if each not in ALWAYS_SKIPPED and each != name]
    return found


class _Walk:
    """One search for files. Inside it, paths are those of the operating system, and the project itself is the empty
    path."""

    def __init__(self, base: str, selection: Selection, listings: Listings | None = None) -> None:
        self._base = base
        self._listings: Listings = {} if listings is None else listings
        self._selection = selection
        self._names = _any_of(pattern for pattern in selection.patterns if "/" not in pattern)
        self._globs = tuple(Glob.of(pattern) for pattern in selection.patterns if "/" in pattern)
        self._unwanted = _any_of(pattern for pattern in selection.not_named if "/" not in pattern)
        self._unwanted_globs = tuple(Glob.of(pattern) for pattern in selection.not_named if "/" in pattern)
        self._skips = _any_of(pattern for pattern in selection.skip if not pattern.startswith("/"))
        rooted = [pattern[1:] for pattern in selection.skip if pattern.startswith("/")]
        self._skipped_paths = frozenset(rooted)
        self._skip_globs = tuple(Glob.of(pattern) for pattern in rooted if is_glob(pattern))
        self._ignores: dict[str, tuple[IgnoreRules, ...]] = {}
        tracked = [raw(path) for path in selection.tracked]
        self._tracked = {*tracked, *(str(above) for path in tracked for above in PurePosixPath(path).parents)}
        self._walked: set[str] = set()
        self._found: dict[str, FileEntry] = {}
        self._marks: dict[str, int] = {}
        self._without_rules: set[str] = set()
        """Folders that hold no ignore file."""
        self._unreadable: set[str] = set()
        self._missing: set[str] = set()
        self._outside: set[str] = set()

    def tree(self) -> Tree:
        for folder in self._without_rules:
            # A new file changes the time of its folder, so a folder that was looked into says that it has a new one.
            if not self._marks.get(display(folder)):
                self._marks[display(f"{folder}/.gitignore" if folder else ".gitignore")] = 0
        return Tree(
            files=tuple(self._found[path] for path in sorted(self._found)),
            marks=self._marks,
            unreadable=tuple(sorted(self._unreadable)),
            missing=() if self._selection.assumed else tuple(sorted(self._missing)),
            outside=tuple(sorted(self._outside)),
        )

    def take_folder(self, folder: str) -> None:
        """Take the wanted files of a folder, or of all folders that match a glob. If a folder has the very name of the
        glob, it is that folder."""
        spelled = normal_folder(folder, Path(self._base))
        relative = "" if spelled == "." else spelled
        if not is_glob(relative) or self._is_folder(relative):
            if not self._is_inside(relative):
                self._outside.add(display(spelled))
            elif self._is_folder(relative):
                self._take_below(relative)
            else:
                self._mark(relative)
                self._missing.add(display(spelled))
            return
        matched = [path for _, path in self._matching(spelled, folders=True)]
        for path in matched:
            self._take_below(path)
        if not matched and display(spelled) not in self._outside:
            self._missing.add(display(spelled))

    def take_glob(self, glob: str) -> None:
        """Take every file whose path matches."""
        spelled = glob.replace("\\", "/").removeprefix("./")
        for entry, path in self._matching(f"{spelled}/*" if spelled.endswith("**") else spelled, folders=False):
            self._take(entry, path)

    def would_take(self, path: str) -> bool:
        """True if a path is wanted, whatever lies there."""
        if any(Glob.of(glob).matches(path) for glob in self._selection.globs):
            return True
        return self._wanted(path.rpartition("/")[2], path) and any(
            self._leads_to(normal_folder(folder, Path(self._base)), path) for folder in self._selection.folders
        )

    def _leads_to(self, folder: str, path: str) -> bool:
        """True if a walk through a folder comes by this path."""
        if is_glob(folder) and not self._is_folder(folder):
            if not Glob.of(folder).covers(path.rpartition("/")[0]):
                return False
            above = ""
        else:
            above = "" if folder == "." else f"{folder}/"
        if not path.startswith(above):
            return False
        names = path[len(above) :].split("/")
        ways = [above + "/".join(names[: number + 1]) for number in range(len(names))]
        if self._selection.own_only and any(self._is_others(way) for way in ways[:-1]):
            return False
        return not any(self._skipped(name, way) for name, way in zip(names, ways, strict=True))

    def _is_others(self, folder: str) -> bool:
        return any(os.path.lexists(self._place(f"{folder}/{mark}")) for mark in PROJECT_MARKS)

    def _matching(self, pattern: str, *, folders: bool) -> "Iterator[tuple[os.DirEntry[str], str]]":
        """The folders, or the other entries, that a glob names. The contents of a matching folder belong to it."""
        folder, glob = Glob.of(pattern).split()
        if os.path.isabs(pattern) or not self._is_inside(folder):  # noqa: PTH117
            self._outside.add(display(pattern))
            return
        waiting = [(folder, glob.start())]
        while waiting:
            folder, states = waiting.pop()
            for entry, path, is_folder in self._allowed(folder):
                after = glob.step(states, entry.name)
                if glob.accepts(after) and is_folder is folders:
                    yield entry, path
                elif after and is_folder:
                    waiting.append((path, after))

    def _take_below(self, start: str) -> None:
        waiting = [start]
        while waiting:
            folder = waiting.pop()
            if folder in self._walked:
                continue
            self._walked.add(folder)
            for entry, path, is_folder in self._allowed(folder, wanted=self._is_worth_taking):
                if is_folder:
                    waiting.append(path)
                else:
                    self._take(entry, path)

    def _is_worth_taking(self, entry: os.DirEntry[str], path: str) -> bool:
        return self._wanted(entry.name, path) or (entry.is_symlink() and os.path.isdir(entry.path))  # noqa: PTH112

    def _allowed(
        self, folder: str, wanted: Callable[[os.DirEntry[str], str], bool] | None = None
    ) -> "Iterator[tuple[os.DirEntry[str], str, bool]]":
        """The entries of a folder that are neither skipped nor ignored, each with its path and True for a folder. Of
        files only those that are `wanted`."""
        rules = self._rules(folder)
        entries = self._entries(folder)
        if self._selection.own_only and folder and any(entry.name in PROJECT_MARKS for entry in entries):
            return
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = _is_folder(entry)
            # Asked first, because it costs least and most files of a folder are often none that anybody reads.
            if (wanted is not None and not is_folder and not wanted(entry, path)) or self._skipped(entry.name, path):
                continue
            if not rules or path in self._tracked or not _ignored(f"{path}/" if is_folder else path, rules):
                yield entry, path, is_folder

    def _entries(self, folder: str) -> "list[os.DirEntry[str]]":
        listed = self._listings.get(folder)
        if listed is not None:
            self._marks[display(folder)] = listed[0]
            return listed[1]
        self._mark(folder)
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(self._place(folder)) as entries:
                found = list(entries)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError:
            self._unreadable.add(display(folder) or ".")
            return found
        self._listings[folder] = (self._marks[display(folder)], found)
        return found

    def _take(self, entry: os.DirEntry[str], path: str) -> None:
        shown = display(path)
        try:
            if entry.is_symlink() and not is_inside(self._base, os.path.realpath(entry.path)):
                self._outside.add(shown)
            elif entry.is_file():
                state = entry.stat()
                self._found[shown] = FileEntry(shown, state.st_size, state.st_mtime_ns)
        except FileNotFoundError:
            return
        except OSError:
            self._unreadable.add(shown)

    def _wanted(self, name: str, path: str) -> bool:
        if not (self._names(name) or _matches(path, self._globs)):
            return False
        return not (self._unwanted(name) or _matches(path, self._unwanted_globs))

    def _skipped(self, name: str, path: str) -> bool:
        if name in ALWAYS_SKIPPED or path in self._skipped_paths:
            return True
        return bool(self._skips(name) or self._skips(path)) or _matches(path, self._skip_globs)

    def _rules(self, folder: str) -> "tuple[IgnoreRules, ...]":
        """The ignore rules that hold in a folder, nearest first."""
        if not self._selection.gitignore:
            return ()
        if folder not in self._ignores:
            above = self._rules(folder.rpartition("/")[0]) if folder else ()
            own = self._own_rules(folder)
            self._ignores[folder] = (own, *above) if own else above
        return self._ignores[folder]

    def _own_rules(self, folder: str) -> "IgnoreRules | None":
        path = f"{folder}/.gitignore" if folder else ".gitignore"
        try:
            # Like git, no link is followed here: it may lead out of the project.
            status = os.lstat(self._place(path))
        except OSError:
            self._without_rules.add(folder)
            return None
        self._mark(path)
        if not stat.S_ISREG(status.st_mode):
            return None
        from clew.workspace.ignore import read_rules

        return read_rules(Path(self._base, path), f"{folder}/" if folder else "")

    def _mark(self, path: str) -> None:
        self._marks[display(path)] = time_at(self._place(path))

    def _place(self, path: str) -> str:
        return os.path.join(self._base, path)  # noqa: PTH118 - strings are faster here

    def _is_folder(self, path: str) -> bool:
        return os.path.isdir(self._place(path))  # noqa: PTH112

    def _is_inside(self, path: str) -> bool:
        return is_inside(self._base, os.path.realpath(self._place(path)))


def _any_of(patterns: Iterable[str]) -> Callable[[str], object]:
    """A test for texts that match one of the patterns. It is one expression, because it is applied to every file."""
    joined = "|".join(translate(pattern) for pattern in patterns)
    return re.compile(joined).match if joined else lambda text: None


def _matches(path: str, globs: tuple[Glob, ...]) -> bool:
    return bool(globs) and any(glob.matches(path) for glob in globs)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """True if an entry is a folder itself. A linked one is not: it may leave the project or lead in circles."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _ignored(path: str, rules: "tuple[IgnoreRules, ...]") -> bool:
    if not rules:
        return False
    from clew.workspace.ignore import ignored

    return ignored(path, rules)
