"""Commits made in a session, as memories in the words of their authors."""

import os
import re
from pathlib import Path

import msgspec

from clew.workspace.git import api as git

MOST = 5
MOST_FILES = 5
_LONGEST_BODY = 1_500
_SHORTEST_SUBJECT = 12
_TRIVIAL = re.compile(r"(?:wip|fixup!|squash!|amend!|merge|bump|release|revert|v?\d+\.\d)\b", re.IGNORECASE)
_TRAILER = re.compile(r"^(?:co-authored-by|signed-off-by|reviewed-by|change-id|generated[ -]with|🤖).*$", re.I | re.M)
_COMMITS = re.compile(r"(?:^|[\s;&|(])git\s+(?:-\S+\s+(?:\S+\s+)?)*commit\b")


class SessionCommit(msgspec.Struct, frozen=True):
    id: str
    message: str
    """The subject, and below it what else it says."""
    files: tuple[str, ...]
    """As the project names them."""


def makes_commits(command: str) -> bool:
    return _COMMITS.search(command) is not None


def commits_since(root: Path, known: str | None) -> list[SessionCommit]:
    """The commits from a known one to the last one, the oldest first; the last one where none is known."""
    span = (f"{known}..HEAD",) if known else ("--max-count=1", "HEAD")
    output = git.answer(root, "log", f"--max-count={MOST}", "--no-merges", "--reverse", "--format=%H", *span)
    return [commit for id in os.fsdecode(output or b"").split() if (commit := _commit(root, id)) is not None]


def _commit(root: Path, id: str) -> SessionCommit | None:
    """A commit that says something; None for a trivial one."""
    output = git.answer(
        *(root, "log", "--max-count=1", "--format=%s%x00%b%x00", "--name-only", "--relative", "-z", id, "--")
    )
    if output is None:
        return None
    subject, _, rest = output.decode("utf-8", "replace").partition("\0")
    body, _, names = rest.partition("\0")
    if len(subject) < _SHORTEST_SUBJECT or _TRIVIAL.match(subject):
        return None
    body = _TRAILER.sub("", body).strip()[:_LONGEST_BODY]
    files = tuple(name.strip() for name in names.split("\0") if name.strip())
    there = tuple(name for name in files if (root / name).is_file())
    return SessionCommit(id, f"{subject}\n\n{body}".strip(), there[:MOST_FILES])
