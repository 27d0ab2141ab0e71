"""Restoring the contents of a safety branch, with a snapshot of the present ones.

The present state becomes a safety branch of its own before anything is touched. Then every file of the project that
differs is put back byte for byte, and every file that was not there then is taken away. Files that git ignores, then or
now, are left alone unless the branch holds them. The user's index, HEAD and stash stay as they are.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec

from clew.edit.edits import FileEdit
from clew.edit.targets import is_write_protected
from clew.edit.transaction import FileTransaction
from clew.errors import Conflict, Refused
from clew.trace.files.index_file import INDEX_FILE, is_generated
from clew.trace.safety.branches import SafetyBranch, find, keep
from clew.trace.safety.snapshot import LINK, SUBMODULE, ProjectWorkTree, entries, ignored, repository_of, take
from clew.workspace.git import api as git
from clew.workspace.git import parse
from clew.workspace.git.parse import TreeEntry
from clew.workspace.paths import display
from clew.workspace.regular import ANY_BYTES, contents

_AT_ONCE = 100
"""Files whose content is held in memory together."""
_CONVERSIONS = ("ident", "working-tree-encoding")
"""Attributes under which git itself turns the bytes that it holds into others. A filter would do so too, by a program,
and is refused."""


class Restored(msgspec.Struct, frozen=True):
    branch: SafetyBranch
    written: tuple[str, ...]
    """Files that have their earlier content again, relative to the project."""
    removed: tuple[str, ...]
    """Files that were not there then."""
    saved_as: SafetyBranch | None
    """Holds the state before the restoration; null where nothing had to be done."""


class _Difference(msgspec.Struct, frozen=True):
    path: str
    now: TreeEntry | None
    then: TreeEntry | None


def restore(root: Path, name: str, now: datetime) -> Restored:
    """Give the project's files the contents that they had when the branch was made."""
    repository = repository_of(root)
    branch = find(repository, name)
    then = entries(repository, branch.commit)
    present = take(repository)
    current = entries(repository, present.tree)
    hidden = [path for path in then if path not in current and repository.holds(path)]
    if hidden:
        # What is ignored today, but held by the branch, would be overwritten: it belongs into the present state too.
        present = take(repository, hidden)
        current = entries(repository, present.tree)
    differences = [
        _Difference(path, current.get(path), then.get(path))
        for path in sorted(current.keys() | then.keys())
        if current.get(path) != then.get(path) and not _is_submodule(current.get(path), then.get(path))
    ]
    if not differences:
        return Restored(branch, (), (), None)
    for difference in differences:
        _check(repository, difference)
    git.refuse_filtered(repository.top, (display(each.path) for each in differences if each.then is not None))
    saved = keep(repository, present, "restore", now)
    written, removed = _Restoration(repository, branch, differences).run()
    shown = len(repository.prefix)
    return Restored(
        branch=branch,
        written=tuple(display(path[shown:]) for path in written),
        removed=tuple(display(path[shown:]) for path in removed),
        saved_as=saved,
    )


def _is_submodule(*either: TreeEntry | None) -> bool:
    return any(entry is not None and entry.mode == SUBMODULE for entry in either)


def _check(repository: ProjectWorkTree, difference: _Difference) -> None:
    """Refuse, before anything is changed, files that could not be written or would be outside of the project."""
    path = difference.path
    if any(part in ("", ".", "..") or part.casefold() == ".git" for part in path.split("/")):
        raise Refused(f"The branch holds '{display(path)}', which is not a path of a project.", hint="Use git to look.")
    place = repository.place(path)
    is_protected = is_write_protected(place) and not _is_product(place)
    if is_protected or not os.access(_existing_folder(place), os.W_OK):
        raise Refused(
            f"'{display(path)}' is write-protected; nothing was restored.", hint="Make it writable, then try again."
        )


def _is_product(place: Path) -> bool:
    """True for the list of requirements that elspais generates, and protects from people."""
    return place.name == INDEX_FILE and place.is_file() and is_generated(contents(place))


def _existing_folder(place: Path) -> Path:
    return next(folder for folder in place.parents if folder.exists())


class _Restoration:
    def __init__(self, repository: ProjectWorkTree, branch: SafetyBranch, differences: list[_Difference]) -> None:
        self._repository = repository
        self._project = repository.top / repository.prefix
        self._branch = branch
        self._written = [difference for difference in differences if difference.then is not None]
        self._leaving = {difference.path: difference for difference in differences if difference.then is None}
        self._converted = _converted(repository, [difference.path for difference in differences])

    def run(self) -> tuple[list[str], list[str]]:
        """The paths that were written and those that were removed."""
        removed: list[str] = []
        for group in self._groups():
            edits: list[FileEdit] = []
            for difference, content in group:
                removed += self._make_way(difference.path)
                edits += self._edits(difference, content)
            # If the process dies here, the next one that opens the project completes the restore and says so.
            FileTransaction(self._project, edits, backups=False).commit()
            for difference, _ in group:
                self._set_mode(difference)
        # Only now are the ignore rules those of that time: what they name was there, and was not held.
        kept = ignored(self._repository, self._leaving)
        for path in [path for path in self._leaving if path not in kept]:
            self._remove(path)
            removed.append(path)
        return [difference.path for difference in self._written], sorted(removed)

    def _groups(self) -> Iterator[list[tuple[_Difference, bytes]]]:
        committed = entries(self._repository, self._branch.made_on) if self._converted and self._branch.made_on else {}
        for start in range(0, len(self._written), _AT_ONCE):
            group = self._written[start : start + _AT_ONCE]
            blobs = git.contents(self._repository.top, (item.then.blob for item in group if item.then is not None))
            contents: list[tuple[_Difference, bytes]] = []
            for difference in group:
                if difference.path in self._converted and committed.get(difference.path) == difference.then:
                    named = f"{self._branch.commit}:{difference.path}"
                    contents.append((difference, git.command(self._repository.top, "cat-file", "--filters", named)))
                elif difference.then is not None:
                    contents.append((difference, blobs[difference.then.blob]))
            yield contents

    def _make_way(self, path: str) -> list[str]:
        """Remove a file at the path of a file or folder to restore, if the present state has a copy of it."""
        top = self._repository.top
        gone: list[str] = []
        folders = path.split("/")[:-1]
        for depth in range(1, len(folders) + 1):
            above = "/".join(folders[:depth])
            if os.path.lexists(top / above) and ((top / above).is_symlink() or not (top / above).is_dir()):
                gone.append(above)
        if (top / path).is_dir() and not (top / path).is_symlink():
            gone += [leaving for leaving in self._leaving if leaving.startswith(f"{path}/")]
        for each in gone:
            if each not in self._leaving:
                raise self._in_the_way(each)
            self._remove(each)
            del self._leaving[each]
        return gone

    def _edits(self, difference: _Difference, content: bytes) -> list[FileEdit]:
        """The edits that give a file its content; a link is written at once."""
        place = self._repository.place(difference.path)
        before = self._present(difference, place)
        if difference.then is None:
            return []
        if place.is_symlink() or difference.then.mode == LINK:
            if os.path.lexists(place):
                place.unlink()
            before = None
        if difference.then.mode == LINK:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.fsdecode(content))
            return []
        path = difference.path.removeprefix(self._repository.prefix)
        return [FileEdit(display(path), before, content, is_product=_is_product(place))]

    def _set_mode(self, difference: _Difference) -> None:
        """Restore the executable bit."""
        if difference.then is None or difference.then.mode == LINK:
            return
        place = self._repository.place(difference.path)
        mode = stat.S_IMODE(place.stat().st_mode)
        runs = (mode & 0o444) >> 2
        wanted = mode | runs if difference.then.mode.endswith("755") else mode & ~0o111
        if wanted != mode:
            place.chmod(wanted)

    def _present(self, difference: _Difference, place: Path) -> bytes | None:
        """The present content, which must be the one in the safety branch of this moment."""
        if not os.path.lexists(place):
            content = None
        elif place.is_symlink():
            content = os.fsencode(place.readlink())
        elif place.is_dir():
            raise self._in_the_way(difference.path)
        else:
            content = contents(place, ANY_BYTES)
        expected = difference.now.blob if difference.now is not None else None
        found = _blob_id(content, self._repository.digits) if content is not None else None
        if found != expected and difference.path not in self._converted:
            raise Conflict(
                f"'{display(difference.path)}' changed while it was being restored; it was left alone.",
                hint="Restore again; what is there now will be saved first.",
            )
        return content

    def _remove(self, path: str) -> None:
        place = self._repository.place(path)
        place.unlink(missing_ok=True)
        with suppress(OSError):
            # A folder that still holds something refuses, and that ends it.
            for folder in place.parents:
                if folder == self._project or not folder.is_relative_to(self._project):
                    break
                folder.rmdir()

    def _in_the_way(self, path: str) -> Conflict:
        return Conflict(
            f"'{display(path)}' is in the place of a file to restore.",
            hint="Move it elsewhere, then restore again.",
        )


def _converted(repository: ProjectWorkTree, paths: Iterable[str]) -> frozenset[str]:
    asked = parse.as_input(list(paths))
    answer = parse.fields(git.command(repository.top, "check-attr", "-z", "--stdin", *_CONVERSIONS, stdin=asked))
    return frozenset(
        path for path, value in zip(answer[0::3], answer[2::3], strict=True) if value not in ("unspecified", "unset")
    )


def _blob_id(content: bytes, digits: int) -> str:
    algorithm = hashlib.sha256 if digits == 64 else hashlib.sha1
    return algorithm(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
