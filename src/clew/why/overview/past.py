"""A project's history at a glance: its authors, its busiest files, its decisions."""

# Implements: REQ-d00440

import re
from collections.abc import Callable, Iterator

import msgspec

from clew.derived.history import Commit, CommitHistory
from clew.text.display import one_line
from clew.text.sentences import plain_spans
from clew.why.inquiry import day

READ_BACK = 300
"""Commits that count as recent."""
MOST_BUSY = 3
MOST_DECISIONS = 3
_LONGEST_REASON = 160
_TRIVIAL = re.compile(r"(?:wip|fixup!|squash!|amend!|merge|bump|release|v?\d+\.\d)\b", re.IGNORECASE)
_TRAILER = re.compile(r"^(?:[A-Z][\w-]+-by|change-id|generated[ -]with|🤖).*$", re.IGNORECASE | re.MULTILINE)
_PREFIX = re.compile(r"^[a-z]+(?:\([^)]*\))?!?: ")
_DECIDES = re.compile(
    r"\b(?:decid(?:e|ed|es)|decision|chose|chosen|agreed|in favou?r of|trade-?off|no longer support\w*"
    r"|drop(?:s|ped)? support|we (?:will|prefer)|(?:rather than|instead of)\b.*\bbecause"
    r"|because\b.*\b(?:rather than|instead of))\b|\b(?:rejected|ruled[- ]out):"
    r"|^(?:deprecates?|switch(?:es|ed)? (?:from|to))\b",
    re.IGNORECASE,
)
"""Words of a decision; what is deprecated or rejected may be the subject of any change."""
_STRONG = re.compile(r"\b(?:decid\w+|decision|chose|chosen|agreed|in favou?r of|trade-?off)\b", re.IGNORECASE)
_NOT_BUSY = re.compile(
    r"(?:^|/)(?:change(?:s|log)|history|news|release)[^/]*$|\.lock$|(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|go\.sum)$",
    re.IGNORECASE,
)


class BusyFile(msgspec.Struct, frozen=True, omit_defaults=True):
    path: str
    commits: int
    """Of the recent commits, how many touched it."""
    asked_by: tuple[str, ...] = ()
    """Requirements and assertions that it cites."""
    proofs: int = 0
    """Tests of what it cites."""
    used_by: int | None = None
    """Files that import it; null while source files were not read."""


class DecisiveCommit(msgspec.Struct, frozen=True):
    commit: str
    day: str
    subject: str
    reason: str
    """The sentence of the message that says why; empty where the subject says all."""


class Past(msgspec.Struct, frozen=True, omit_defaults=True):
    commits: int
    authors: int
    """All of them, by the names of `.mailmap`, as `git shortlog` counts; 0 while the history is not read."""
    latest: str
    """The day of the newest commit."""
    busy: tuple[BusyFile, ...]
    decisions: tuple[DecisiveCommit, ...] = ()


def past_of(history: CommitHistory, is_source: Callable[[str], bool]) -> Past:
    """The history of a project. `is_source` tells whether a path is a present source file."""
    state, recent = history.state(), history.latest_here(READ_BACK)
    busiest = history.busiest(READ_BACK, limit=MOST_BUSY * 8)
    busy = [BusyFile(path, count) for path, count in busiest if not _NOT_BUSY.search(path) and is_source(path)]
    return Past(
        commits=state.total,
        authors=history.author_count() if state.is_complete else 0,
        latest=day(recent[0].time) if recent else "",
        busy=tuple(busy[:MOST_BUSY]),
        decisions=tuple(_decisions(recent)),
    )


def _decisions(recent: list[Commit]) -> Iterator[DecisiveCommit]:
    """The latest commits whose message states a decision and its reason; strong words before weak ones, each subject
    once."""
    seen: set[str] = set()
    strong: list[DecisiveCommit] = []
    weak: list[DecisiveCommit] = []
    for commit in recent:
        subject = _PREFIX.sub("", commit.subject)
        if _TRIVIAL.match(subject) or subject.casefold() in seen:
            continue
        reason = _reason(commit)
        if reason is None:
            continue
        seen.add(subject.casefold())
        decision = DecisiveCommit(commit.id[:10], day(commit.time), one_line(subject, 100), reason)
        (strong if _STRONG.search(f"{subject}. {reason}") else weak).append(decision)
    chosen = [*strong, *weak][:MOST_DECISIONS]
    yield from sorted(chosen, key=lambda each: each.day, reverse=True)


def _reason(commit: Commit) -> str | None:
    """The first sentence of a message with a reason; None if it states no decision."""
    body = _TRAILER.sub("", commit.message.partition("\n")[2])
    for start, end in plain_spans(body):
        sentence = " ".join(body[start:end].split()).lstrip("-*• ")
        if _DECIDES.search(sentence):
            return one_line(sentence, _LONGEST_REASON)
    return "" if _DECIDES.search(commit.subject) else None
