"""A first look at an unknown folder: its files, bounded, in a stable order, without those that git ignores.

Finding selected files is `files.scan`. A survey goes breadth first, so that one that has to stop early has seen what
lies near the top. Symbolic links are never followed, neither to files nor to folders: what they point at is either met
at its own place or outside the project.
"""

import os
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec

from clew.workspace.files import time_of
from clew.workspace.find import PROJECT_MARKS
from clew.workspace.ignore import IgnoreRules, ignored, read_rules
from clew.workspace.paths import display
from clew.workspace.regular import beginning

HEAD_BYTES = 65_536
"""No file is read further than this."""

_EXCLUDE = ".git/info/exclude"

SKIPPED_FOLDERS = frozenset(
    {"__pycache__", "bower_components", "build", "coverage", "dist", "env", "htmlcov", "node_modules", "out"}
    | {"site-packages", "target", "vendor", "venv"}
)
"""Never the project's own words. Folders whose name begins with a dot are skipped as well."""


class Survey(msgspec.Struct, frozen=True):
    """Paths are relative to the root, with forward slashes."""

    files: tuple[str, ...]
    nested: tuple[str, ...]
    """Folders that are projects of their own; nothing inside them was looked at."""
    entries: int
    """The number of names that were seen, ignored ones included."""
    truncated: bool
    """True if it stopped at its limit."""
    unreadable: int
    """Folders that may not be listed and names that are not text."""
    marks: dict[str, int]
    """Times of the folders that were looked into and of the files that say what is ignored: as long as they stay the
    same, so does the rest."""


class _Listing(msgspec.Struct, frozen=True):
    folders: tuple[str, ...]
    files: tuple[str, ...]
    names: frozenset[str]
    entries: int
    cut: bool
    """True if the folder holds more than was looked at."""
    unreadable: int


def survey(root: Path, limit: int, wanted: Callable[[str], bool] = lambda path: True) -> Survey:
    """List the project's files, or the wanted ones, looking at no more than `limit` names."""
    files: list[str] = []
    nested: list[str] = []
    entries = unreadable = 0
    cut = False
    marks = {_EXCLUDE: time_of(root, _EXCLUDE)}
    excluded = read_rules(root / _EXCLUDE, "")
    waiting: deque[tuple[str, tuple[IgnoreRules, ...]]] = deque([("", (excluded,) if excluded else ())])
    while waiting and entries < limit:
        prefix, rules = waiting.popleft()
        marks[display(prefix)] = time_of(root, display(prefix))
        listing = _listing(root / prefix, limit - entries)
        entries += listing.entries
        unreadable += listing.unreadable
        cut = listing.cut
        if prefix and not listing.names.isdisjoint(PROJECT_MARKS):
            nested.append(prefix.rstrip("/"))
            continue
        if prefix and "pyvenv.cfg" in listing.names:
            continue
        own = None
        if ".gitignore" in listing.files:
            ignore = display(f"{prefix}.gitignore")
            marks[ignore] = time_of(root, ignore)
            own = read_rules(root / prefix / ".gitignore", prefix)
        rules = (own, *rules) if own else rules
        paths = filter(wanted, [prefix + name for name in listing.files])
        files.extend([path for path in paths if not ignored(path, rules)])
        for name in listing.folders:
            path = f"{prefix}{name}/"
            if not (name in SKIPPED_FOLDERS or name.startswith(".") or ignored(path, rules)):
                waiting.append((path, rules))
    return Survey(tuple(files), tuple(nested), entries, cut or bool(waiting), unreadable, marks)


def head(path: Path) -> bytes:
    """The beginning of a file; nothing where it cannot be read."""
    try:
        return beginning(path, HEAD_BYTES)
    except OSError:
        return b""


def _listing(folder: Path, limit: int) -> _Listing:
    folders: list[str] = []
    files: list[str] = []
    names: set[str] = set()
    entries = unreadable = 0
    cut = False
    try:
        with os.scandir(folder) as found:
            for entry in found:
                if entries >= limit:
                    cut = True
                    break
                entries += 1
                if not _is_text(entry.name):
                    unreadable += 1
                    continue
                names.add(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
    except OSError:
        unreadable += 1
    return _Listing(tuple(sorted(folders)), tuple(sorted(files)), frozenset(names), entries, cut, unreadable)


def _is_text(name: str) -> bool:
    """True if a file name can be written into a configuration file; on POSIX it may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
