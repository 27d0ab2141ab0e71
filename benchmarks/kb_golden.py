"""The golden set: questions with the sections and the phrases that answer them, frozen before anything was tuned on it.

The file carries the hash of its own questions. One that was changed since is refused, so a figure always belongs to the
questions it was measured on. Half of each kind are for tuning; the others only judge.
"""

import hashlib
import tomllib
from pathlib import Path
from typing import Literal, get_args

import msgspec

from benchmarks.workspace import BenchmarkFailed

FILE = Path(__file__).with_name("kb_questions.toml")
SPLIT_SEED = "2026-11-16"

Kind = Literal["named", "paraphrased"]
"""Whether the one who asks calls the subject by its name, or describes it in words that the documents do not use."""


class GoldenQuestion(msgspec.Struct, frozen=True):
    id: str
    kind: Kind
    text: str
    answers: tuple[str, ...]
    """One of these phrases answers the question."""
    sections: tuple[str, ...]
    """The sections that hold one of them, by id."""

    def is_answered_by(self, text: str) -> bool:
        said = flat(text)
        return any(flat(answer) in said for answer in self.answers)


def flat(text: str) -> str:
    """A text as phrases are compared: without case, line breaks and indentation."""
    return " ".join(text.lower().split())


def golden() -> tuple[GoldenQuestion, ...]:
    data = tomllib.loads(FILE.read_text(encoding="utf-8"))
    questions = msgspec.convert(data["questions"], tuple[GoldenQuestion, ...])
    if (present := fingerprint(questions)) != data["frozen"]:
        raise BenchmarkFailed(f"{FILE.name} was changed since it was frozen: its questions give {present}.")
    return questions


def fingerprint(questions: tuple[GoldenQuestion, ...]) -> str:
    return hashlib.sha256(msgspec.json.encode(questions)).hexdigest()


def halves(questions: tuple[GoldenQuestion, ...]) -> tuple[tuple[GoldenQuestion, ...], tuple[GoldenQuestion, ...]]:
    """The half for tuning and the half that is held out, of each kind, in the order of the file."""
    drawn = sorted(questions, key=lambda question: hashlib.sha256(f"{SPLIT_SEED}{question.id}".encode()).digest())
    tuning: set[str] = set()
    for kind in get_args(Kind):
        own = [question.id for question in drawn if question.kind == kind]
        tuning.update(own[: len(own) // 2])
    return (
        tuple(question for question in questions if question.id in tuning),
        tuple(question for question in questions if question.id not in tuning),
    )
