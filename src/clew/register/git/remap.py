"""Rewriting the ids that code and tests cite, after requirements got new ones."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from clew.edit.edits import FileEdit
from clew.edit.transaction import FileTransaction
from clew.errors import InvalidArgument
from clew.formats.register.ids import CitedId, normalise, number_of
from clew.formats.register.model import Register
from clew.register.reports.mentions import Mentions
from clew.text.display import shortened
from clew.workspace.files import read_bytes

_ID = re.compile(rb"(?<![A-Za-z0-9_-])REQ-[0-9]{4,18}(?![A-Za-z0-9_])|(?<![A-Za-z0-9])req_[0-9]{4,18}(?![A-Za-z0-9])")


OF_MERGE = "merge"
"""Instead of pairs of ids: what a merge gave new ids."""


class RewrittenId(msgspec.Struct, frozen=True):
    file: str
    line: int
    old: str
    new: str


class RemapReport(msgspec.Struct, frozen=True):
    ok: bool
    applied: bool
    changes: tuple[RewrittenId, ...]
    undecided: tuple[str, ...] = ()
    """Lines that both sides of a merge have, each `FILE:LINE`: a person has to decide which id is meant."""


def parse_remap(written: Sequence[str], register: Register) -> dict[str, str]:
    """`OLD=NEW` pairs. A new id must exist, and no id may be used twice."""
    new: dict[str, str] = {}
    for pair in written:
        old, separator, target = pair.partition("=")
        ids = normalise(old), normalise(target)
        if not separator or any(number_of(id) is None for id in ids):
            raise InvalidArgument(f"'{shortened(pair)}' is not a pair of ids.", hint="Write --remap REQ-0003=REQ-0007.")
        if ids[1] not in register.requirements:
            raise InvalidArgument(f"There is no requirement {ids[1]}.", hint="`clew req list` shows every id.")
        if new.get(ids[0], ids[1]) != ids[1]:
            raise InvalidArgument(f"{ids[0]} is mapped twice.", hint="Name each old id once.")
        new[ids[0]] = ids[1]
    return new


def remap(root: Path, mentions: Mentions, new: Mapping[str, str], limit: int, *, apply: bool) -> RemapReport:
    """Preview or write the lines that cite old ids with the new ones. All files are written or none."""
    changes: list[RewrittenId] = []
    edits: list[FileEdit] = []
    for path, found in mentions.by_file.items():
        lines = {mention.line for mention in found if mention.id in new}
        if lines:
            data = read_bytes(root, path, limit=limit)
            edits.append(FileEdit(path, data, _rewritten(data, path, lines, new, changes)))
    if apply:
        FileTransaction(root, edits).commit()
    return RemapReport(True, apply, tuple(changes))


def remap_merged(
    root: Path,
    sides: Mapping[str, tuple[bytes | None, bytes]],
    cited: Callable[[bytes, str], tuple[CitedId, ...]],
    new: Mapping[str, str],
    limit: int,
    *,
    apply: bool,
) -> RemapReport:
    """Report or rewrite the lines that came from the other side of a merge. `sides` has our version and theirs of each
    file. Citations in this side's code mean this side's requirements, and stay."""
    changes: list[RewrittenId] = []
    edits: list[FileEdit] = []
    undecided: list[str] = []
    for path, (ours, theirs) in sides.items():
        data = read_bytes(root, path, limit=limit)
        own, other, now = ((each or b"").splitlines() for each in (ours, theirs, data))
        meant = {mention.line for mention in cited(data, path) if mention.id in new}
        came = {line for line in meant if now[line - 1] in other}
        shared = {line for line in came if now[line - 1] in own}
        undecided += [f"{path}:{line}" for line in sorted(shared)]
        if came - shared:
            edits.append(FileEdit(path, data, _rewritten(data, path, came - shared, new, changes)))
    if apply:
        FileTransaction(root, edits).commit()
    return RemapReport(True, apply, tuple(changes), tuple(undecided))


def _rewritten(data: bytes, path: str, lines: set[int], new: Mapping[str, str], changes: list[RewrittenId]) -> bytes:
    parts = data.splitlines(keepends=True)
    for number in sorted(lines):

        def exchange(match: re.Match[bytes], line: int = number) -> bytes:
            written = match[0].decode()
            target = new.get(normalise(written))
            if target is None:
                return match[0]
            spelled = target if written.startswith("REQ-") else f"req_{target.removeprefix('REQ-')}"
            changes.append(RewrittenId(path, line, written, spelled))
            return spelled.encode()

        if number <= len(parts):
            parts[number - 1] = _ID.sub(exchange, parts[number - 1])
    return b"".join(parts)
