"""Facts that belong to a commit: its release, changelog entries, tests and documents, its merge, what it takes back."""

# Implements: REQ-d00361

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.derived.history import Commit
from clew.formats.code.facts.model import CLASS
from clew.formats.code.outline import decoded, outline_of
from clew.text.hashing import content_hash
from clew.why.story.chain import undone_by
from clew.why.story.changelog import (
    ReleaseNote,
    changelogs,
    entries_added,
    entries_naming,
    is_changelog,
    placed,
)
from clew.workspace.git import api as git
from clew.workspace.git import history as git_history
from clew.workspace.git.difference import FileDifference, differences
from clew.workspace.git.history import CommitRecord, PathChange

if TYPE_CHECKING:
    from clew.why.inquiry import Inquiry

_PRE_RELEASE = re.compile(
    r"(?:^|[^a-z])(?:a|b|rc|alpha|beta|dev|pre|preview|canary|next|nightly)[.-]?\d*$", re.IGNORECASE
)
_RELEASE = re.compile(r"\d+\.\d+")
_DOCUMENT = re.compile(r"\.(?:md|rst|txt|adoc|mdx)$", re.IGNORECASE)
_MOST_TESTS = 4
_MOST_ENTRIES = 2
_MOST_TOUCHED = 400
_MOST_COMPARED = 30


class ChangedTest(msgspec.Struct, frozen=True, array_like=True):
    path: str
    name: str
    """The test function; empty where the file's tests have no names that Clew reads."""


class CommitTies(msgspec.Struct, frozen=True, array_like=True):
    release: str = ""
    """The first release that contains it."""
    entries: tuple[ReleaseNote, ...] = ()
    tests: tuple[ChangedTest, ...] = ()
    documents: tuple[str, ...] = ()


def ties_of(inquiry: "Inquiry", commit: Commit, numbers: Sequence[str]) -> CommitTies:
    """The items tied to a commit by the numbers in its message and its merge. What git says is cached for the same HEAD
    and tags; places in the changelog change with the files."""
    known = inquiry.ties.get(commit.id)
    if known is None:
        in_git = _in_git(inquiry, commit)
        entries = _entries(inquiry, in_git, numbers)
        known = inquiry.ties[commit.id] = msgspec.structs.replace(in_git, entries=entries)
    return known


def _in_git(inquiry: "Inquiry", commit: Commit) -> CommitTies:
    tags = git.answer(inquiry.root, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")
    about = (inquiry.readiness.head or "", content_hash(tags or b""), commit.id, "ties 4")
    known = inquiry.history.kept(CommitTies, *about)
    if known is None:
        known = _found(inquiry, commit)
        if tags is not None and inquiry.questions.is_whole:
            inquiry.history.keep(known, *about)
    return known


def _found(inquiry: "Inquiry", commit: Commit) -> CommitTies:
    """The release, and what changed with the commit, with its changelog entries as it wrote them."""
    changes = inquiry.history.touched_by(commit.id) or _changes_in_git(inquiry, commit.id)
    paths = [each.path for each in changes if each.status != "D"][:_MOST_TOUCHED]
    tests = [path for path in paths if inquiry.project.uses.tests.holds(path)]
    notes = [path for path in paths if is_changelog(path)]
    documents = [path for path in paths if _DOCUMENT.search(path) and path not in notes and path not in tests]
    compared = _compared(inquiry, commit, [*notes[:3], *tests[:_MOST_COMPARED]])
    return CommitTies(
        release=inquiry.questions.ask(lambda left: release_of(inquiry.root, commit.id, left), ""),
        entries=tuple(entries_added([each for each in compared if (each.path or "") in notes])),
        tests=tuple(_tests(inquiry, commit, [each for each in compared if each.path in tests]))[:_MOST_TESTS],
        documents=tuple(documents[:3]),
    )


def _entries(inquiry: "Inquiry", ties: CommitTies, numbers: Sequence[str]) -> tuple[ReleaseNote, ...]:
    """The entries that name the numbers, and those that came with the commit, where they are now."""
    nothing: list[ReleaseNote] = []
    named = inquiry.questions.ask(
        lambda left: entries_naming(inquiry.root, numbers, inquiry.lines_of, seconds=left), nothing
    )
    # An entry of another release may name the number because it continued the work.
    named = sorted(named, key=lambda each: not (each.version and each.version in ties.release))
    seen = {each.text[:60] for each in named}
    own = [each for each in ties.entries if each.text[:60] not in seen]
    if own:
        no_paths: list[str] = []
        paths = inquiry.questions.ask(lambda left: changelogs(inquiry.root, seconds=left), no_paths)
        own = [placed(each, paths, inquiry.lines_of) for each in own[:_MOST_ENTRIES]]
        own = [each for each in own if each.text not in [other.text for other in named]]
    named = [each for place, each in enumerate(named) if each.text not in [other.text for other in named[:place]]]
    return (*named[:1], *own, *named[1:])[:_MOST_ENTRIES]


# Implements: REQ-d00645-B
def _changes_in_git(inquiry: "Inquiry", id: str) -> Sequence[PathChange]:
    """The changes of a commit that the kept history does not hold yet: what is found without them would be kept."""
    nothing: list[CommitRecord] = []
    records = inquiry.questions.ask(lambda _: git_history.commits(inquiry.root, [id], compares=False), nothing)
    return [each for record in records for each in record.changes]


def release_of(root: Path, id: str, seconds: float) -> str:
    """The first tag with a version that contains a commit, final ones before trial ones; empty where none does.
    Unavailable where git cannot tell."""
    words = (
        "for-each-ref",
        f"--contains={id}",
        "--sort=creatordate",
        "--count=40",
        "--format=%(refname:short)",
        "refs/tags",
    )
    tags = git.command(root, *words, seconds=seconds).decode("utf-8", "replace").split()
    versions = [tag for tag in tags if _RELEASE.search(tag)]
    final = [tag for tag in versions if not _PRE_RELEASE.search(tag)]
    return next(iter([*final, *versions]), "")


def _compared(inquiry: "Inquiry", commit: Commit, paths: Sequence[str]) -> list[FileDifference]:
    if not paths or not commit.parents:
        return []
    prefix = git.prefix_of(inquiry.root)
    top = git.toplevel(inquiry.root)
    if top is None:
        return []
    places = [f"{prefix}{path}" for path in paths]
    nothing: list[FileDifference] = []
    found = inquiry.questions.ask(
        lambda left: differences(top, commit.parents[0], commit.id, places, seconds=left), nothing
    )
    return [
        msgspec.structs.replace(each, path=each.path.removeprefix(prefix)) for each in found if each.path is not None
    ]


def _tests(inquiry: "Inquiry", commit: Commit, changed: Sequence[FileDifference]) -> Iterator[ChangedTest]:
    """The test functions whose lines the commit wrote."""
    paths = [each.path for each in changed if each.path is not None]
    places = [(commit.id, path) for path in paths]
    nothing: list[bytes | None] = [None] * len(changed)
    contents = inquiry.questions.ask(lambda left: git_history.contents_at(inquiry.root, places, seconds=left), nothing)
    for each, data in zip(changed, contents, strict=True):
        if each.path is None or data is None:
            continue
        names: dict[str, None] = {}
        symbols = outline_of(decoded(data), each.path).symbols
        for block in each.blocks:
            last = block.new_first + len(block.new) - 1
            for symbol in symbols:
                is_touched = symbol.line <= last and symbol.end_line >= block.new_first and bool(block.new)
                if is_touched and symbol.is_test and symbol.kind != CLASS:
                    names[symbol.name] = None
        if not names:
            yield ChangedTest(each.path, "")
        for name in list(names)[:_MOST_TESTS]:
            yield ChangedTest(each.path, name)


def attempts_before(inquiry: "Inquiry", commit: Commit, path: str) -> list[tuple[Commit, Commit]]:
    """Earlier commits to the file that were taken back before this one, each with the commit that took it back."""
    reverts: list[tuple[str, Commit]] = []
    for touch in inquiry.history.of_path(path, 500):
        is_after = touch.commit.id == commit.id or touch.commit.number > commit.number > 0
        if not is_after and (undone := undone_by(touch.commit.message)) is not None:
            reverts.append((undone, touch.commit))
    nothing: dict[str, str] = {}
    names = [name for name, _ in reverts]
    ids = inquiry.questions.ask(lambda left: git_history.resolved_commits(inquiry.root, names, seconds=left), nothing)
    # The history has no commits but those that lead to HEAD.
    commits = inquiry.history.commits(ids.values())
    found = ((commits.get(ids.get(name, "")), taken_back) for name, taken_back in reverts)
    return [(attempt, back) for attempt, back in found if attempt is not None and attempt.id != commit.id]
