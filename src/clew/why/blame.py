"""The commits that last changed lines.

Three questions to git, each kept by HEAD, content and range: which commit touched a line last; which one, when commits
that only formatted it are skipped; and which one, when lines that were moved or copied are followed to where they came
from. They run at the same time, and an answer goes on with those that came in time.
"""

# Implements: REQ-d00361

import re
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from clew.derived.history import CommitHistory
from clew.errors import ClewError
from clew.text.hashing import content_hash
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.git.history import NOT_COMMITTED, BlamedLine
from clew.workspace.keeping import start_thread
from clew.workspace.regular import contents

IGNORE_FILE = ".git-blame-ignore-revs"
_ENTRY = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
_MOST_IGNORED = 500
_MOST_SECONDS = 60
MOST_LINES = 4_000
"""Longer files are not asked about line by line."""
_AROUND = 12
"""Lines around the wanted ones that are asked about as well, where moves are followed: git takes a few words that stand
elsewhere for a coincidence, and a whole passage for a move."""
_PLAIN, _SKIPPING, _FOLLOWING = "plain", "skipping", "following"


class Ignored(msgspec.Struct, frozen=True):
    commits: tuple[str, ...] = ()
    unknown: int = 0
    """Entries that are no commits of this repository."""


class Skipped(msgspec.Struct, frozen=True):
    listed: tuple[str, ...] = ()
    spaces: tuple[str, ...] = ()


class Blame(msgspec.Struct, frozen=True):
    made: dict[str, int]
    """Number of lines that each commit made, largest first."""
    boundaries: frozenset[str]
    """Commits with which the history that is here begins."""
    moved_by: dict[str, tuple[int, str]]
    """Commits that moved or copied lines here: how many, and from which file."""
    skipped: Skipped
    not_committed: int
    notes: tuple[str, ...] = ()


def ignored_commits(root: Path) -> Ignored:
    """Commits in the repository's list of formatting commits; entries that are no commit are counted and left out."""
    top = git.toplevel(root)
    try:
        rows = contents(top / IGNORE_FILE).decode("utf-8", "replace").splitlines() if top is not None else []
    except OSError:
        return Ignored()
    entries = [row.partition("#")[0].strip() for row in rows]
    written = [entry for entry in entries if entry]
    wanted = [entry.lower() for entry in written if _ENTRY.fullmatch(entry)]
    known = git_history.known_commits(root, wanted[:_MOST_IGNORED])
    kept = tuple(entry for entry in dict.fromkeys(wanted) if entry in known)
    return Ignored(kept, len(written) - sum(entry in known for entry in wanted))


class _Asked:
    """A question to git, which several may wait for."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.lines: tuple[BlamedLine, ...] | None = None


_RUNNING: dict[tuple[str, ...], _Asked] = {}
"""The questions that git has not answered yet."""
_LOCK = threading.Lock()


class Blamer:
    def __init__(self, root: Path, history: CommitHistory, head: str) -> None:
        self._root = root
        self._history = history
        self._head = head

    def of(self, path: str, data: bytes, first: int, last: int, seconds: float, *, follows: bool) -> Blame | None:
        """The commits of the lines; None if git does not know the file, or did not answer in time."""
        ignored = ignored_commits(self._root)
        digest = content_hash("\n".join(ignored.commits).encode())
        about = (self._head, path, content_hash(data), str(first), str(last), digest)
        wanted = (_PLAIN, _SKIPPING, _FOLLOWING) if follows else (_PLAIN, _SKIPPING)
        found = self._asked(wanted, about, (path, first, last), ignored, seconds)
        best = found.get(_FOLLOWING) or found.get(_SKIPPING) or found.get(_PLAIN)
        if best is None:
            return None
        late = [mode for mode in wanted if mode not in found]
        return _summed(best, found, ignored, late)

    def _asked(
        self,
        modes: Sequence[str],
        about: tuple[str, ...],
        span: tuple[str, int, int],
        ignored: Ignored,
        seconds: float,
    ) -> dict[str, tuple[BlamedLine, ...]]:
        found: dict[str, tuple[BlamedLine, ...]] = {}
        asked: dict[str, _Asked] = {}
        for mode in modes:
            kept = self._history.kept(tuple[BlamedLine, ...], *about, mode)
            if kept is not None:
                found[mode] = kept
                continue
            asked[mode] = self._started(mode, about, span, ignored)
        until = time.monotonic() + seconds
        for mode, each in asked.items():
            each.done.wait(max(until - time.monotonic(), 0.0))
            if each.lines is not None:
                found[mode] = each.lines
        return found

    def _started(self, mode: str, about: tuple[str, ...], span: tuple[str, int, int], ignored: Ignored) -> "_Asked":
        """Ask git, or wait with others that asked the same question."""
        key = (str(self._root), mode, *about)
        with _LOCK:
            asked = _RUNNING.get(key)
            if asked is None:
                asked = _RUNNING[key] = _Asked()
                begun = asked
                start_thread("clew-blame", lambda: self._ask(begun, key, mode, about, span, ignored))
            return asked

    def _ask(
        self,
        asked: "_Asked",
        key: tuple[str, ...],
        mode: str,
        about: tuple[str, ...],
        span: tuple[str, int, int],
        ignored: Ignored,
    ) -> None:
        path, first, last = span
        around = _AROUND if mode == _FOLLOWING else 0
        try:
            lines = self._blame(path, max(first - around, 1), last + around, mode, ignored)
            if lines is None and around:
                # The file ends before the lines behind do.
                lines = self._blame(path, max(first - around, 1), last, mode, ignored)
            if lines is not None:
                asked.lines = tuple(each for each in lines if first <= each.line <= last)
                # What came too late for this answer is there for the next.
                self._history.keep(asked.lines, *about, mode)
        except ClewError:
            return
        finally:
            with _LOCK:
                _RUNNING.pop(key, None)
            asked.done.set()

    def _blame(self, path: str, first: int, last: int, mode: str, ignored: Ignored) -> tuple[BlamedLine, ...] | None:
        return git_history.blame(
            self._root,
            path,
            first,
            last,
            without_spaces=mode != _PLAIN,
            ignored=ignored.commits if mode != _PLAIN else (),
            moved=mode == _FOLLOWING,
            seconds=_MOST_SECONDS,
        )


def _summed(
    best: tuple[BlamedLine, ...],
    found: dict[str, tuple[BlamedLine, ...]],
    ignored: Ignored,
    late: Sequence[str],
) -> Blame:
    counts = Counter(each.commit for each in best if each.commit != NOT_COMMITTED)
    plain = {each.line: each for each in found.get(_PLAIN, ())}
    skipping = {each.line: each for each in found.get(_SKIPPING, ())}
    passed = [
        plain[line].commit
        for line, each in skipping.items()
        if line in plain and plain[line].commit != each.commit and plain[line].commit != NOT_COMMITTED
    ]
    moved: dict[str, tuple[int, str]] = {}
    for each in found.get(_FOLLOWING, ()):
        here = skipping.get(each.line)
        if here is not None and here.commit not in (each.commit, NOT_COMMITTED):
            moved[here.commit] = (moved.get(here.commit, (0, ""))[0] + 1, each.path)
    notes = []
    if ignored.unknown:
        notes.append(f"{ignored.unknown} of the entries in {IGNORE_FILE} are no commits here and were left out.")
    if late:
        notes.append("Git did not finish in time; moved or formatted lines may be shown under a later commit.")
    return Blame(
        made=dict(counts.most_common()),
        boundaries=frozenset(each.commit for each in best if each.is_boundary),
        moved_by=moved,
        skipped=Skipped(
            tuple(dict.fromkeys(each for each in passed if each in ignored.commits)),
            tuple(dict.fromkeys(each for each in passed if each not in ignored.commits)),
        ),
        not_committed=sum(each.commit == NOT_COMMITTED for each in best),
        notes=tuple(notes),
    )
