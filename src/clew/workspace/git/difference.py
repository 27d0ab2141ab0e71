"""Differences between two commits, as blocks of lines with their texts."""

# Implements: REQ-d00361

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from clew.workspace.git import parse
from clew.workspace.git.run import WORK_SECONDS, command
from clew.workspace.paths import display, raw

_RANGES = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_OPTIONS = ("--unified=0", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/")


class ChangedBlock(msgspec.Struct, frozen=True, gc=False):
    """Lines that a commit replaced by others."""

    old_first: int
    """The first of the old lines; of a pure addition, the line before it."""
    old: tuple[str, ...]
    new_first: int
    """The first of the new lines; of a pure deletion, the line before it."""
    new: tuple[str, ...]


class FileDifference(msgspec.Struct, frozen=True):
    """The changes to one file. The paths are those of the whole repository."""

    old_path: str | None
    """None for a new file."""
    path: str | None
    """None for a removed file."""
    blocks: tuple[ChangedBlock, ...]


class CommitDifference(msgspec.Struct, frozen=True):
    commit: str
    files: tuple[FileDifference, ...]


def differences(
    top: Path, before: str, after: str, paths: Sequence[str] = (), *, seconds: float = WORK_SECONDS
) -> list[FileDifference]:
    """The files that differ between two commits; only the named ones, where some are named. Renames are found among
    these. Unavailable where git fails or takes too long."""
    words = ("--find-renames", *_OPTIONS, before, after, "--", *map(raw, paths))
    return list(_files(command(top, "diff", *words, seconds=seconds)))


def changes_with(
    root: Path, ids: Sequence[str], text: str, *, is_pattern: bool = False, seconds: float = WORK_SECONDS
) -> list[CommitDifference]:
    """Those of the commits, merges apart, that added or removed a text in a file of the folder; with `is_pattern`,
    whose changed lines match an extended regular expression. Each with these files, whose paths are those of the
    folder. Unavailable where git fails or takes too long."""
    chosen = f"-G{text}" if is_pattern else f"-S{text}"
    found = []
    for id, output in _logged(root, ids, ("--find-renames", chosen), seconds):
        files = tuple(_files(output))
        if files:
            found.append(CommitDifference(id, files))
    return found


def changed_rows(
    root: Path, ids: Sequence[str], *, seconds: float = WORK_SECONDS
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The lines that each of the commits, merges apart, added to files of the folder or removed from them. Unavailable
    where git fails or takes too long."""
    for id, output in _logged(root, ids, ("--find-renames=100%",), seconds):
        yield id, _rows(output)


def _rows(output: bytes) -> Iterator[bytes]:
    left = 0
    for row in output.split(b"\n"):
        if left and row[:1] in (b"+", b"-"):
            left -= 1
            yield row[1:]
        elif (ranges := _RANGES.match(row)) is not None:
            left = int(ranges[2] or 1) + int(ranges[4] or 1)


def _logged(root: Path, ids: Sequence[str], options: Sequence[str], seconds: float) -> Iterator[tuple[str, bytes]]:
    if not ids:
        return
    token = secrets.token_hex(16)
    output = command(
        root,
        *("log", "--stdin", "--no-walk=unsorted", "--no-merges", "--patch", "--relative", *_OPTIONS, *options),
        f"--format={token}%H",
        stdin="".join(f"{id}\n" for id in ids).encode(),
        seconds=seconds,
    )
    for part in output.split(token.encode())[1:]:
        id, _, rest = part.partition(b"\n")
        yield id.decode(), rest


def renamed_from(top: Path, before: str, after: str, path: str, *, seconds: float = WORK_SECONDS) -> str | None:
    """The former path of a file that is new in `after`; None where it was not renamed. Unavailable where git fails or
    takes too long."""
    words = ("--find-renames", "--diff-filter=R", "--name-status", "-z", before, after)
    values = os.fsdecode(command(top, "diff", *words, seconds=seconds)).split("\0")[:-1]
    for old, new in zip(values[1::3], values[2::3], strict=False):
        if display(new) == path:
            return display(old)
    return None


def _files(output: bytes) -> Iterator[FileDifference]:
    old_path: str | None = None
    path: str | None = None
    blocks: list[ChangedBlock] = []
    rows = output.split(b"\n")
    place, is_begun = 0, False
    while place < len(rows):
        row = rows[place]
        place += 1
        if row.startswith(b"diff --git "):
            if is_begun:
                yield FileDifference(old_path, path, tuple(blocks))
            old_path, path, blocks, is_begun = None, None, [], True
        elif row.startswith(b"--- "):
            old_path = _name(row[4:], "a/")
        elif row.startswith(b"+++ "):
            path = _name(row[4:], "b/")
        elif row.startswith(b"rename from "):
            old_path = parse.unquoted(os.fsdecode(row[12:]))
        elif row.startswith(b"rename to "):
            path = parse.unquoted(os.fsdecode(row[10:]))
        elif (ranges := _RANGES.match(row)) is not None:
            old_count, new_count = int(ranges[2] or 1), int(ranges[4] or 1)
            old, place = _side(rows, place, b"-", old_count)
            new, place = _side(rows, place, b"+", new_count)
            blocks.append(ChangedBlock(int(ranges[1]), old, int(ranges[3]), new))
    if is_begun:
        yield FileDifference(old_path, path, tuple(blocks))


def _side(rows: Sequence[bytes], place: int, sign: bytes, count: int) -> tuple[tuple[str, ...], int]:
    """The lines of one side of a block, and the place behind them. A last line without an end has a note of git's."""
    found: list[str] = []
    while len(found) < count and place < len(rows) and rows[place].startswith(sign):
        found.append(rows[place][1:].decode("utf-8", "replace").rstrip("\r"))
        place += 1
    if place < len(rows) and rows[place].startswith(b"\\"):
        place += 1
    return tuple(found), place


def _name(written: bytes, prefix: str) -> str | None:
    name = parse.unquoted(os.fsdecode(written.rstrip(b"\t")))
    return None if name == "/dev/null" else name.removeprefix(prefix)
