"""The questions and their keys: one file for each repository, in own words; of its texts only the phrases of the keys.

Half of the repositories are held out: nothing is tuned on them, and their misses are never printed.
"""

from pathlib import Path
from typing import Literal

import msgspec

from benchmarks import question_sets

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


QuestionSet = question_sets.QuestionSet[Question]


def sets() -> tuple[QuestionSet, ...]:
    return question_sets.sets_in(FOLDER, Question)


def frozen() -> str:
    return question_sets.hash_of(FOLDER)


def flat(text: str) -> str:
    """A text as phrases are compared: without case, line breaks, indentation and marks of emphasis."""
    return " ".join(text.lower().replace("`", "").replace("*", "").split())
