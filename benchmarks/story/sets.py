"""The questions and their keys: one file for each repository, in own words and ids only.

Half of the repositories are held out: nothing is tuned on them, and their misses are never printed.
"""

from pathlib import Path
from typing import Literal

import msgspec

from benchmarks import question_sets

FOLDER = Path(__file__).parent
FROZEN = "e46fa985a8c58d9d481021d95711efd6fb2273a85c096b32cd55f93a78858796"
"""The hash of all files of questions, which were written before Clew was asked any of them. They were amended after
that by two rules, each applied to both halves from git alone: a commit that wrote most of a symbol anew may stand first
(`first` of express-05), and the first tag that is a version counts beside the first tag of all (gin-01, express-01,
ripgrep-05)."""

Kind = Literal["line", "symbol", "when", "where", "supported", "ever", "gone"]
TARGETS: tuple[Kind, ...] = ("line", "symbol", "gone")
"""Kinds whose `ask` is a target of `why`; of the others it is a question to `ask`."""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question with its key. Of anchors that are joined by `|` one is enough."""

    id: str
    kind: Kind
    ask: str
    because: str
    """Why the key is right, in one sentence."""
    commits: tuple[str, ...]
    """The commits that decided. An answer that names another one first is confidently wrong."""
    numbers: tuple[str, ...] = ()
    """Of pull requests and issues."""
    tests: tuple[str, ...] = ()
    """FILE, NAME or FILE::NAME: a file or a function in it."""
    places: tuple[str, ...] = ()
    """FILE or FILE:LINE."""
    tags: tuple[str, ...] = ()
    """The first tag that contains the deciding commit."""
    also: tuple[str, ...] = ()
    """What belongs to the story without being asked for: other steps, files, numbers. It is never missed."""
    first: tuple[str, ...] = ()
    """Commits that an answer may name first as well; they are not asked for."""

    @property
    def is_target(self) -> bool:
        return self.kind in TARGETS


QuestionSet = question_sets.QuestionSet[Question]


def sets() -> tuple[QuestionSet, ...]:
    return question_sets.sets_in(FOLDER, Question)


def frozen() -> str:
    return question_sets.hash_of(FOLDER)
