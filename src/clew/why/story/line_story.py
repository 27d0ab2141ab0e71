"""The story of lines as far as there is time: plain blame at once, the chain behind it when it is there.

Both are kept by HEAD, content and range. What comes too late for an answer is there for the next.
"""

# Implements: REQ-d00361

import re
import threading
import time
from collections import Counter
from pathlib import Path

import msgspec

from clew.derived.history import CommitHistory
from clew.errors import ClewError
from clew.text.hashing import content_hash
from clew.why.story.chain import Chain, ChainWalk
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
_KIND = "chain 1"


class Ignored(msgspec.Struct, frozen=True):
    commits: tuple[str, ...] = ()
    unknown: int = 0
    """Entries that are no commits of this repository."""


class LineStory(msgspec.Struct, frozen=True):
    chain: Chain
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


class _Question:
    """A question to git, which several may wait for."""

    def __init__(self) -> None:
        self.is_blamed = threading.Event()
        self.is_followed = threading.Event()
        self.lines: tuple[BlamedLine, ...] | None = None
        self.chain: Chain | None = None


_RUNNING: dict[tuple[str, ...], _Question] = {}
"""The questions that git has not answered yet."""
_LOCK = threading.Lock()


class StoryTeller:
    """Answers about the lines of a folder's files at HEAD."""

    def __init__(self, root: Path, history: CommitHistory, head: str) -> None:
        self._root = root
        self._history = history
        self._head = head

    def of(self, path: str, data: bytes, first: int, last: int, seconds: float, *, follows: bool) -> LineStory | None:
        """None where git does not know the file, or did not answer in time. Without `follows`, the commits that touched
        the lines last, those apart that changed white space."""
        ignored = ignored_commits(self._root)
        digest = content_hash("\n".join(ignored.commits).encode())
        kind = _KIND if follows else "lines 1"
        about = (self._head, path, content_hash(data), str(first), str(last), digest, kind)
        notes = []
        if ignored.unknown:
            notes.append(f"{ignored.unknown} of the entries in {IGNORE_FILE} are no commits here and were left out.")
        chain = self._history.kept(Chain, *about)
        if chain is None:
            asked = self._started(about, (path, first, last), ignored, follows=follows)
            until = time.monotonic() + seconds
            asked.is_blamed.wait(max(seconds, 0.0))
            asked.is_followed.wait(max(until - time.monotonic(), 0.0))
            chain = asked.chain
            if chain is None and asked.lines is not None:
                chain = _unfollowed(asked.lines)
                notes.append(
                    "These commits touched the lines last; whether they only moved or formatted them is still being"
                    " looked at. Ask again in a moment."
                )
        return LineStory(chain, tuple(notes)) if chain is not None else None

    def _started(
        self, about: tuple[str, ...], span: tuple[str, int, int], ignored: Ignored, *, follows: bool
    ) -> _Question:
        """Ask git, or wait with those who asked it the same and have no answer yet."""
        key = (str(self._root), *about)
        with _LOCK:
            asked = _RUNNING.get(key)
            if asked is None:
                asked = _RUNNING[key] = _Question()
                begun = asked
                start_thread("clew-blame", lambda: self._ask(begun, key, about, span, ignored, follows=follows))
            return asked

    def _ask(
        self,
        asked: _Question,
        key: tuple[str, ...],
        about: tuple[str, ...],
        span: tuple[str, int, int],
        ignored: Ignored,
        *,
        follows: bool,
    ) -> None:
        path, first, last = span
        try:
            asked.lines = git_history.blame(
                self._root,
                path,
                first,
                last,
                without_spaces=not follows,
                ignored=() if follows else ignored.commits,
                seconds=_MOST_SECONDS,
            )
            asked.is_blamed.set()
            if asked.lines is not None:
                asked.chain = self._followed(asked.lines, ignored) if follows else _unfollowed(asked.lines)
                self._history.keep(asked.chain, *about)
        except ClewError:
            return
        finally:
            with _LOCK:
                _RUNNING.pop(key, None)
            asked.is_blamed.set()
            asked.is_followed.set()

    def _followed(self, lines: tuple[BlamedLine, ...], ignored: Ignored) -> Chain:
        top = git.toplevel(self._root)
        if top is None:
            return _unfollowed(lines)
        return ChainWalk(top, ignored.commits, self._message, _MOST_SECONDS).from_lines(lines)

    def _message(self, commit: str) -> str:
        known = self._history.commits([commit]).get(commit)
        if known is not None:
            return known.message
        read = git_history.commits(self._root, [commit], compares=False)
        return read[0].message if read else ""


def _unfollowed(lines: tuple[BlamedLine, ...]) -> Chain:
    counts = Counter(each.commit for each in lines if each.commit != NOT_COMMITTED)
    return Chain(
        dict(counts.most_common()),
        (),
        frozenset(each.commit for each in lines if each.is_boundary),
        sum(each.commit == NOT_COMMITTED for each in lines),
    )
