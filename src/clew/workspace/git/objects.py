"""Contents of objects that anybody may have put into a repository, as far as they are small."""

# Implements: REQ-d00795

from collections.abc import Sequence
from pathlib import Path

from clew.errors import ClewError
from clew.workspace.git.questions import contents
from clew.workspace.git.run import QUESTION_SECONDS, answer

_MOST_IN_ALL = 32 * 1024 * 1024
_KINDS = (b"blob", b"commit")


def small_objects(
    root: Path, names: Sequence[str], longest: int, *, seconds: int = QUESTION_SECONDS
) -> list[bytes | None]:
    """The blobs and commits with these names, such as `refs/notes/ai:ab/cd`; None for one that is not here, has more
    than `longest` bytes, or comes after many others."""
    if not names:
        return []
    asked = [name if name and "\n" not in name and "\0" not in name else "-" for name in names]
    rows = "".join(f"{name}\n" for name in asked).encode("utf-8", "surrogateescape")
    listed = (answer(root, "cat-file", "--batch-check", stdin=rows, seconds=seconds) or b"").split(b"\n")
    if len(listed) <= len(asked):
        return [None] * len(asked)
    ids: list[str] = []
    left = _MOST_IN_ALL
    for row in listed[: len(asked)]:
        parts = row.split(b" ")
        size = int(parts[2]) if len(parts) == 3 and parts[1] in _KINDS else -1
        is_wanted = 0 <= size <= min(longest, left)
        ids.append(parts[0].decode() if is_wanted else "")
        left -= size if is_wanted else 0
    try:
        found = contents(root, filter(None, ids))
    except (ClewError, ValueError):
        return [None] * len(asked)
    return [found.get(id) for id in ids]
