"""The steps of a transaction over files as values: edits and moves, their inverse and their difference."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from clew.edit.targets import is_write_protected
from clew.errors import FileChanged, OutsideProject, Refused
from clew.text.hashing import content_hash
from clew.workspace.files import resolve
from clew.workspace.find import paths_below
from clew.workspace.regular import ANY_BYTES, contents


class FileEdit(msgspec.Struct, frozen=True):
    path: str
    """Relative to the root of the transaction."""
    before: bytes | None
    """The content of the file when the edit was made; None if there was none."""
    after: bytes | None
    """None removes the file."""
    prune: str | None = None
    """If the file is removed, folders that become empty are removed too, but not this folder."""
    permissions_of: str | None = None
    """A new file gets the permissions of this one."""
    is_product: bool = False
    """A program made the file and protects it from people: it is replaced although it is write-protected."""


class FolderMove(msgspec.Struct, frozen=True):
    source: str
    target: str
    """Must not exist yet. Its parent folders are made."""
    contents: dict[str, str]
    """The content of the folder when the move is planned, as `folder_contents` returns it."""


class Inverse(msgspec.Struct, frozen=True):
    """The change that turns the content of a file after an edit into the content before it."""

    path: str
    after: str | None
    """Hash of the content after the edit; None where the file was removed."""
    start: int
    end: int
    """The bytes after the edit that are replaced."""
    text: bytes
    """The bytes that replace them."""
    made: bool = False
    """True if there was no such file before the edit."""

    def applied(self, content: bytes) -> bytes:
        return content[: self.start] + self.text + content[self.end :]

    def former(self, present: bytes | None, *, edit: str) -> bytes | None:
        """The content before an edit, None if there was no file. FileChanged if the present content is not what the
        edit wrote; `edit` names it in the message."""
        if (None if present is None else content_hash(present)) != self.after:
            raise FileChanged(
                f"'{self.path}' is no longer as {edit} left it, so {edit} cannot be undone.",
                hint="Undo the later changes of the file, or edit it.",
                data={"path": self.path},
            )
        return None if self.made else self.applied(present or b"")


def inverse_of(path: str, before: bytes, after: bytes, *, made: bool = False) -> Inverse:
    start = _common_start(before, after)
    end = _common_start(before[start:][::-1], after[start:][::-1])
    return Inverse(path, content_hash(after), start, len(after) - end, before[start : len(before) - end], made)


def _common_start(one: bytes, other: bytes) -> int:
    """The number of bytes that two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def folder_contents(folder: Path) -> dict[str, str]:
    """The hash of every file in a folder, by its path below it. Links are not followed: their target is hashed."""
    found: dict[str, str] = {}
    for file in paths_below(folder):
        data = os.fsencode(file.readlink()) if file.is_symlink() else contents(file, ANY_BYTES)
        path = file.relative_to(folder).as_posix()
        found[path.encode("utf-8", "backslashreplace").decode()] = content_hash(data)
    return found


def diff_of(edits: Iterable[FileEdit]) -> str:
    """The edits as a unified diff."""
    from difflib import unified_diff

    lines: list[str] = []
    for edit in edits:
        if edit.before != edit.after:
            old = "/dev/null" if edit.before is None else f"a/{edit.path}"
            new = "/dev/null" if edit.after is None else f"b/{edit.path}"
            before, after = _lines(edit.before or b""), _lines(edit.after or b"")
            lines.extend(map(_ended, unified_diff(before, after, old, new)))
    return "".join(lines)


def _lines(data: bytes) -> list[str]:
    return [line.decode("utf-8", "replace") for line in data.splitlines(keepends=True)]


def _ended(line: str) -> str:
    return line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"


def check_writable(root: Path, edits: Iterable[FileEdit]) -> None:
    """Refuse, before anything is done, an edit that could not be written."""
    for edit in edits:
        place = place_of(root, edit.path)
        if place.is_dir():
            raise Refused(f"'{edit.path}' is a folder.", hint="Name a file.")
        folder = next(folder for folder in place.parents if folder.exists())
        if (is_write_protected(place) and not edit.is_product) or not folder.is_dir() or not os.access(folder, os.W_OK):
            raise Refused(
                f"'{edit.path}' is write-protected; nothing was changed.", hint="Make it writable, then try again."
            )


def place_of(root: Path, path: str) -> Path:
    """The real place of a path below the root. OutsideProject where a link or `..` leads out of it."""
    place = resolve(root, path)
    if place == root.resolve():
        raise OutsideProject(f"The path '{path}' names the project itself.", hint="Name a file in it.")
    return place
