"""A repository at its pinned commit: a copy for Clew to work in, and what git says about it."""

import re
import shutil
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from benchmarks.story.sets import QuestionSet
from benchmarks.workspace import BenchmarkFailed, run

PATIENCE_SECONDS = 600
MOST_FILES = 30
"""Of a commit whose files belong to its story. One that touches more says little about each."""

ID = re.compile(r"\b[0-9a-f]{7,40}\b")
_CHANGED_FUNCTION = re.compile(r"\b(test_\w+|Test[A-Z]\w*)\b")


class Repository:
    def __init__(self, chosen: QuestionSet, clones: Path, folder: Path) -> None:
        """A copy in `folder`, which is used again where it is there already."""
        self.chosen = chosen
        self.root = folder / chosen.name
        clone = clones / chosen.name
        if not self.root.exists():
            if not clone.exists():
                raise BenchmarkFailed(
                    f"{clone} is not there: fetch https://github.com/{chosen.repository} with its whole history."
                )
            # Through the protocol: a copy of the files of a clone has commits as well that nothing leads to.
            run("git", "clone", "--quiet", "--no-local", str(clone), str(self.root), patience=PATIENCE_SECONDS)
        # Stories of lines are kept with the history: those of another version of Clew would be measured again.
        shutil.rmtree(self.root / ".clew" / "history", ignore_errors=True)
        self.git("checkout", "--quiet", "--detach", chosen.commit)

    def git(self, *words: str) -> str:
        return run("git", *words, cwd=self.root, patience=PATIENCE_SECONDS)

    @cached_property
    def commits(self) -> dict[str, str]:
        """Whole ids by their first seven characters."""
        return {each[:7]: each for each in self.git("rev-list", "--all").split()}

    @cached_property
    def files(self) -> frozenset[str]:
        return frozenset(self.git("ls-files").splitlines())

    def line(self, place: str) -> str:
        """The text of FILE:LINE with single spaces; of a whole file nothing."""
        path, _, number = place.partition(":")
        if not number:
            return ""
        lines = (self.root / path).read_text(encoding="utf-8", errors="replace").splitlines()
        return " ".join(lines[int(number) - 1].split())

    def named(self, text: str) -> dict[str, int]:
        """Ids of commits in a text, seven characters each, with where they stand first."""
        found: dict[str, int] = {}
        for each in ID.finditer(text):
            short = each[0][:7]
            if self.commits.get(short, "").startswith(each[0]):
                found.setdefault(short, each.start())
        return found

    def subject(self, commit: str) -> str:
        return self.git("log", "-1", "--format=%s", commit).strip()

    def touched(self, commits: Iterable[str]) -> frozenset[str]:
        """Files of commits that touch few."""
        found: set[str] = set()
        for commit in commits:
            files = self.git("show", "-m", "--first-parent", "--name-only", "--format=", commit).splitlines()
            if len(files) <= MOST_FILES:
                found.update(files)
        return frozenset(found)

    def tests_in(self, commits: Iterable[str]) -> frozenset[str]:
        """Names of test functions that stand in the changes of commits."""
        found: set[str] = set()
        for commit in commits:
            found.update(
                _CHANGED_FUNCTION.findall(self.git("show", "-m", "--first-parent", "-U0", "--format=", commit))
            )
        return frozenset(found)
