"""Frozen questions about public repositories: a file for each, in the folder of the benchmark that asks them."""

import hashlib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

Q = TypeVar("Q")


class QuestionSet(msgspec.Struct, Generic[Q], frozen=True, forbid_unknown_fields=True):
    repository: str
    """OWNER/NAME as its host spells it; the clone is a folder of that name."""
    commit: str
    held_out: bool
    question: tuple[Q, ...]

    @property
    def name(self) -> str:
        return self.repository.partition("/")[2]


def sets_in(folder: Path, question: type[Q]) -> tuple[QuestionSet[Q], ...]:
    """All sets of a folder, those for development first."""
    read = [
        msgspec.convert(tomllib.loads(each.read_text(encoding="utf-8")), QuestionSet[question])  # type: ignore[valid-type]
        for each in _files(folder)
    ]
    return tuple(sorted(read, key=lambda each: (each.held_out, each.name)))


def hash_of(folder: Path) -> str:
    """The hash of all files of questions of a folder, by which a change of them is told."""
    return hashlib.sha256(b"".join(each.read_bytes() for each in _files(folder))).hexdigest()


def _files(folder: Path) -> Iterable[Path]:
    return sorted(folder.glob("questions_*.toml"))
