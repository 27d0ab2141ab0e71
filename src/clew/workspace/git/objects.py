"""Contents of objects: the one reader of `cat-file --batch`."""

# Implements: REQ-d00795

import os
from collections.abc import Sequence
from pathlib import Path

from clew.errors import ClewError
from clew.workspace.git import parse
from clew.workspace.git.run import QUESTION_SECONDS, WORK_SECONDS, answer, command

_MOST_IN_ALL = 32 * 1024 * 1024
_KINDS = (b"blob", b"commit")
_NOTHING = "-"
"""A name that no object has."""


def objects(root: Path, names: Sequence[str], *, seconds: float = WORK_SECONDS) -> list[bytes | None]:
    """The blobs and commits with these names, by one call of git however many there are; None for one that is not here
    or is something else. Unavailable where git fails or takes too long."""
    if not names:
        return []
    output = command(root, "cat-file", "--batch", stdin=_as_rows(names), seconds=seconds)
    found = parse.objects(output, _KINDS)
    return [next(found, None) for _ in names]


def small_objects(
    root: Path, names: Sequence[str], longest: int, *, seconds: float = QUESTION_SECONDS
) -> list[bytes | None]:
    """Those of the objects, which anybody may have put into the repository, that have at most `longest` bytes and do
    not come after many others; None for the others, and where git cannot tell."""
    if not names:
        return []
    listed = (answer(root, "cat-file", "--batch-check", stdin=_as_rows(names), seconds=seconds) or b"").split(b"\n")
    if len(listed) <= len(names):
        return [None] * len(names)
    ids: list[str] = []
    left = _MOST_IN_ALL
    for row in listed[: len(names)]:
        parts = row.split(b" ")
        size = int(parts[2]) if len(parts) == 3 and parts[1] in _KINDS else -1
        is_wanted = 0 <= size <= min(longest, left)
        ids.append(parts[0].decode() if is_wanted else "")
        left -= size if is_wanted else 0
    wanted = list(dict.fromkeys(filter(None, ids)))
    try:
        found = dict(zip(wanted, objects(root, wanted, seconds=seconds), strict=True))
    except ClewError:
        return [None] * len(names)
    return [found.get(id) for id in ids]


def _as_rows(names: Sequence[str]) -> bytes:
    """The names as git reads them, one on each line; one that has two lines means nothing."""
    asked = (name if name and "\n" not in name and "\0" not in name else _NOTHING for name in names)
    return b"".join(os.fsencode(name) + b"\n" for name in asked)
