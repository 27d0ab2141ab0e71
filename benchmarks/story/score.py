"""Anchors of a key that one answer holds, and the share of what it shows that belongs to the key."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from benchmarks.story.repository import Repository
from benchmarks.story.sets import Question
from clew.text.tokens import estimate_tokens

NEAR = 5
"""Lines that a place may be beside the one in the key."""
LONGEST_QUOTE = 40
"""Lines that a quote may go on behind the place that is named."""
SHORTEST_LINE = 12
"""Characters of a line that say which one it is."""

_TEST_NAME = re.compile(r"\b(test_\w+|Test[A-Z]\w*)\b(?!\.\w|/)")
_LINES = r":(\d+)(?:\s*[-–]\s*(\d+))?"
_COMMIT = re.compile(r"[0-9a-f]{7,12}")
_NUMBERED = r"(?:#|pull/|issues/|pr}}?`|issue}}?`|:pr:`|:issue:`|gh-)"


class Verdict(msgspec.Struct, frozen=True):
    """Of one answer to one question."""

    question: Question
    found: tuple[str, ...]
    missed: tuple[str, ...]
    shown: int
    """Commits, tests and places in the answer."""
    belonging: int
    """Of these, those that belong to the key."""
    is_wrong: bool
    """Whether the commit that it names first is none of those that decided."""
    tokens: int

    @property
    def total(self) -> int:
        return len(self.found) + len(self.missed)


def verdict(question: Question, text: str, repository: Repository) -> Verdict:
    found, missed = [], []
    for anchor, is_there in _anchors(question, text, repository):
        (found if is_there else missed).append(anchor)
    shown, belonging = _shown(question, text, repository)
    return Verdict(
        question,
        tuple(found),
        tuple(missed),
        shown,
        belonging,
        _is_wrong(question, text, repository),
        estimate_tokens(text),
    )


def _anchors(question: Question, text: str, repository: Repository) -> Iterable[tuple[str, bool]]:
    checks = (
        (question.commits, lambda each: _position(each, text, repository) is not None),
        (question.numbers, lambda each: re.search(f"{_NUMBERED}{each[1:]}(?!\\d)", text, re.IGNORECASE) is not None),
        (question.tests, lambda each: any(_has_word(part, text) for part in each.split("::"))),
        (question.places, lambda each: has_place(each, text, repository.line(each))),
        (question.tags, lambda each: has_tag(each, text)),
    )
    for anchors, is_in in checks:
        for anchor in anchors:
            yield anchor, any(is_in(each) for each in anchor.split("|"))


def _position(commit: str, text: str, repository: Repository) -> int | None:
    """Where a commit stands in a text, by its id or its whole subject."""
    places = [found for short, found in repository.named(text).items() if short == commit[:7]]
    subject = text.find(repository.subject(commit))
    return min((*places, *([subject] if subject >= 0 else [])), default=None)


def _is_wrong(question: Question, text: str, repository: Repository) -> bool:
    named = repository.named(text)
    if not named:
        return False
    right = _split((*question.commits, *question.first))
    positions = [place for each in right if (place := _position(each, text, repository)) is not None]
    return min(named.values()) < min(positions, default=len(text))


def has_place(place: str, text: str, quoted: str = "") -> bool:
    """Whether a text names a place, a few lines beside it, or further above where it quotes the line itself."""
    path, _, line = place.partition(":")
    if not line:
        return _has_word(path, text)
    above = LONGEST_QUOTE if len(quoted) >= SHORTEST_LINE and quoted in " ".join(text.split()) else NEAR
    for each in re.finditer(f"(?<![\\w/.-]){re.escape(path)}{_LINES}", text):
        first = int(each[1])
        if first - NEAR <= int(line) <= max(int(each[2] or first) + NEAR, first + above):
            return True
    return False


def has_tag(tag: str, text: str) -> bool:
    return re.search(f"(?<![\\w.-])v?{re.escape(tag.removeprefix('v'))}(?!\\.?\\w|-\\w)", text) is not None


def _has_word(word: str, text: str) -> bool:
    return re.search(f"(?<![\\w/]){re.escape(word)}(?!\\w)", text) is not None


def _shown(question: Question, text: str, repository: Repository) -> tuple[int, int]:
    """Commits, tests and places in an answer, and those of them that belong to the key."""
    right = _split(question.commits)
    steps = [each for each in (*question.first, *question.also) if _COMMIT.fullmatch(each)]
    own = {each[:7] for each in (*right, *steps)}
    named = set(repository.named(text))
    asked = question.ask.rpartition(":")[0] if question.kind == "line" else ""
    written = (*_split(question.tests), *_split(question.places), *question.also)
    files = {asked, *repository.touched(right), *(each.partition(":")[0] for each in written)} - {""}
    tests = {*repository.tests_in(right), *written}
    names = {name for name in _TEST_NAME.findall(text) if f"{name}.py" not in text}
    paths = {path for path in _paths(text, repository.files) if path != asked}
    belonging = (
        len(named & own)
        + len(names & tests)
        + sum(any(path == file or path.startswith(f"{file}/") for file in files) for path in paths)
    )
    return len(named) + len(names) + len(paths), belonging


def _split(anchors: Sequence[str]) -> list[str]:
    return [part for anchor in anchors for each in anchor.split("|") for part in each.split("::")]


def _paths(text: str, files: Iterable[str]) -> set[str]:
    words = set(re.findall(r"[\w./-]+\.\w+", text))
    return {each for each in files if each in words}
