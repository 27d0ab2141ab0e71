"""The questions and their keys: one file for each repository, in own words; of its texts only the phrases of the keys.

Half of the repositories are held out: nothing is tuned on them, and their misses are never printed.
"""

import hashlib
import tomllib
from pathlib import Path
from typing import Literal

import msgspec

FOLDER = Path(__file__).parent
FROZEN = "e6c140ca2ebd5260ae7dee100bf1dc318338862285e71d3ac5772029ce11654f"
"""The hash of all files of questions, which were written before Clew was asked any of them."""

Kind = Literal["named", "paraphrased", "foreign", "near_miss", "week"]
OF_DOCUMENTS: tuple[Kind, ...] = ("named", "paraphrased", "foreign", "near_miss")
"""Asked of `kb_retrieve_evidence`; all but the first two have no answer in the repository."""
OF_ALL: tuple[Kind, ...] = ("week", "foreign")
"""Asked of `ask`, which reads code, manifests and history as well."""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question with its key: a quote that holds one of the phrases, or stands in one of the files, answers it."""

    id: str
    kind: Kind
    ask: str
    answers: tuple[str, ...] = ()
    places: tuple[str, ...] = ()

    @property
    def is_answerable(self) -> bool:
        return bool(self.answers or self.places)

    def is_answered_by(self, text: str, path: str) -> bool:
        said = flat(text)
        return path in self.places or any(flat(answer) in said for answer in self.answers)


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


def flat(text: str) -> str:
    """A text as phrases are compared: without case, line breaks, indentation and marks of emphasis."""
    return " ".join(text.lower().replace("`", "").replace("*", "").split())
