"""The story of lines as far as there is time: plain blame at once, the chain behind it when it is there.

Both are kept by HEAD, content and range. What comes too late for an answer is there for the next.
"""

# Implements: REQ-d00361

import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from clew.derived.history import CommitHistory
from clew.errors import ClewError
from clew.formats.code.outline import decoded
from clew.text.hashing import content_hash
from clew.why.story.asking import GitQuestions
from clew.why.story.chain import MOST_QUESTIONS, Chain, ChainWalk, LinesAt
from clew.why.story.comparing import is_telling
from clew.why.story.patient import asked_once
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.git.history import NOT_COMMITTED, BlamedLine
from clew.workspace.regular import contents

IGNORE_FILE = ".git-blame-ignore-revs"
_ENTRY = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
_MOST_IGNORED = 500
_MOST_SECONDS = 60
_RULES = 4
"""Changes with the rules by which a commit decided nothing: chains that were kept before are walked again."""
_DEFINES = (
    r"\b(?:def|class|function\s*\*?|func|fn|const|let|var|type|struct|interface|enum|trait|static|mod)\s+(?:\([^)]*\)\s*)?{0}\b"
    r"|^\s*(?:[\w$]+\.)*{0}\s*(?::[^=]+)?=[^=]|^\s*(?:[\w$]+\s+)*{0}\s*\("
)
"""A definition of a name: by a keyword, by an assignment, as a method."""
MOST_LINES = 4_000
"""Longer files are not asked about line by line."""

T = TypeVar("T")


class Ignored(msgspec.Struct, frozen=True):
    commits: tuple[str, ...] = ()
    unknown: int = 0
    """Entries that are no commits of this repository."""


class LineStory(msgspec.Struct, frozen=True):
    chain: Chain
    notes: tuple[str, ...] = ()
    touched: tuple[LinesAt, ...] = ()
    """The lines where a commit touched them last."""


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
    try:
        known = git_history.resolved_commits(root, wanted[:_MOST_IGNORED])
    except ClewError:
        return Ignored()
    kept = tuple(entry for entry in dict.fromkeys(wanted) if entry in known)
    return Ignored(kept, len(written) - sum(entry in known for entry in wanted))


class _Blame(msgspec.Struct, frozen=True, array_like=True):
    lines: tuple[BlamedLine, ...]


class StoryTeller:
    """Answers about the lines of a folder's files at HEAD."""

    def __init__(self, root: Path, history: CommitHistory, head: str) -> None:
        self._root = root
        self._history = history
        self._head = head

    def of(
        self, path: str, data: bytes, first: int, last: int, seconds: float, *, follows: bool, patience: float = 0.0
    ) -> LineStory | None:
        """None where git does not know the file, or did not answer in time. The chain may take as long as well, or,
        where it is given, `patience` for both. Without `follows`, the commits that touched the lines last, those apart
        that changed white space."""
        ignored = ignored_commits(self._root)
        digest = content_hash("\n".join(ignored.commits).encode())
        about = (self._head, path, content_hash(data), str(first), str(last), digest)
        notes = []
        if ignored.unknown:
            notes.append(f"{ignored.unknown} of the entries in {IGNORE_FILE} are no commits here and were left out.")
        begun = time.monotonic()

        def ask(kind: type[T], name: str, work: Callable[[], T | None], most: float = seconds) -> T | None:
            left = begun + most - time.monotonic()
            return asked_once(self._root, self._history, (*about, name), kind, work, left, is_whole=_is_whole)

        if not follows:
            blame = ask(
                _Blame, "lines 2", lambda: self._blamed(path, first, last, ignored.commits, without_spaces=True)
            )
            if blame is None:
                return None
            return LineStory(_unfollowed(blame.lines), tuple(notes), _touched(blame.lines))
        blame = ask(_Blame, "blame 2", lambda: self._blamed(path, first, last, (), without_spaces=False))
        if blame is None:
            return None
        rows = decoded(data).split("\n")
        silent = frozenset(
            line for line in range(first, last + 1) if line <= len(rows) and not is_telling(rows[line - 1])
        )
        most = patience or seconds
        chain = ask(Chain, f"chain {_RULES}", lambda: self._followed(blame.lines, silent, ignored), most)
        if chain is None:
            chain = _unfollowed(blame.lines)
            notes.append(
                "These commits touched the lines last; whether they only moved or formatted them is still being looked"
                " at. Ask again in a moment."
            )
        return LineStory(chain, tuple(notes), _touched(blame.lines))

    def begun(self, path: str, data: bytes, line: int, name: str, seconds: float) -> str | None:
        """The commit that wrote the first definition of a name which stands in a line; None where git does not tell in
        time."""
        pattern = re.compile(_DEFINES.format(re.escape(name)))

        def work() -> Chain | None:
            blame = self._blamed(path, line, line, (), without_spaces=False)
            top = git.toplevel(self._root)
            if blame is None or top is None:
                return None
            questions = GitQuestions(_MOST_SECONDS, MOST_QUESTIONS)
            prefix = git.prefix_of(self._root)
            return ChainWalk(top, (), self._message, questions, prefix, defined=pattern).from_lines(blame.lines)

        about = (self._head, path, content_hash(data), str(line), name, f"begun {_RULES}")
        chain = asked_once(self._root, self._history, about, Chain, work, seconds, is_whole=_is_whole)
        return next(iter(chain.decided), None) if chain is not None and not chain.not_followed else None

    def _blamed(
        self, path: str, first: int, last: int, ignored: Sequence[str], *, without_spaces: bool
    ) -> _Blame | None:
        lines = git_history.blame(
            self._root, path, [(first, last)], without_spaces=without_spaces, ignored=ignored, seconds=_MOST_SECONDS
        )
        return _Blame(lines) if lines is not None else None

    def _followed(self, lines: tuple[BlamedLine, ...], silent: frozenset[int], ignored: Ignored) -> Chain:
        top = git.toplevel(self._root)
        if top is None:
            return _unfollowed(lines)
        questions = GitQuestions(_MOST_SECONDS, MOST_QUESTIONS)
        return ChainWalk(top, ignored.commits, self._message, questions, git.prefix_of(self._root)).from_lines(
            lines, silent
        )

    def _message(self, commit: str) -> str:
        known = self._history.commits([commit]).get(commit)
        if known is not None:
            return known.message
        read = git_history.commits(self._root, [commit], compares=False)
        return read[0].message if read else ""


def _is_whole(found: object) -> bool:
    return not isinstance(found, Chain) or found.is_whole


def _unfollowed(lines: tuple[BlamedLine, ...]) -> Chain:
    counts = Counter(each.commit for each in lines if each.commit != NOT_COMMITTED)
    return Chain(
        dict(counts.most_common()),
        (),
        frozenset(each.commit for each in lines if each.is_boundary),
        sum(each.commit == NOT_COMMITTED for each in lines),
    )


def _touched(lines: tuple[BlamedLine, ...]) -> tuple[LinesAt, ...]:
    found: dict[tuple[str, str], list[int]] = {}
    for each in lines:
        if each.commit != NOT_COMMITTED:
            found.setdefault((each.commit, each.path), []).append(each.origin)
    return tuple(LinesAt(commit, path, tuple(numbers)) for (commit, path), numbers in found.items())
