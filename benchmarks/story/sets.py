"""The questions and their keys: one file for each repository, in own words and ids only.

Half of the repositories are held out: nothing is tuned on them, and their misses are never printed.
"""

import hashlib
import tomllib
from pathlib import Path
from typing import Literal

import msgspec

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


class QuestionSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    repository: str
    """OWNER/NAME as its host spells it; the clone is a folder of that name."""
    commit: str
    held_out: bool
    question: tuple[Question, ...]

    @property
    def name(self) -> str:
        return self.repository.partition("/")[2]


def sets() -> tuple[QuestionSet, ...]:
    """All sets, those for development first."""
    read = [
        msgspec.convert(tomllib.loads(each.read_text(encoding="utf-8")), QuestionSet)
        for each in sorted(FOLDER.glob("questions_*.toml"))
    ]
    return tuple(sorted(read, key=lambda each: (each.held_out, each.name)))


def frozen() -> str:
    return hashlib.sha256(b"".join(each.read_bytes() for each in sorted(FOLDER.glob("questions_*.toml")))).hexdigest()
