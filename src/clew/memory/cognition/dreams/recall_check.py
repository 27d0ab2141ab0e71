"""Questions with known answers that somebody asked by test_recall_accuracy: how many of them are still answered."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from clew.errors import StoreError
from clew.memory.cognition.records import INSUFFICIENT
from clew.memory.texts.scrub import scrub
from clew.text.hashing import content_hash

if TYPE_CHECKING:
    from clew.memory.service import MemoryView

QUESTIONS = "question"
"""The collection of the store."""
_MOST = 100
_FOUND = 10
_SIGNIFICANT = 0.05


class SavedQuestion(msgspec.Struct, frozen=True):
    query: str
    expected: tuple[str, ...]


class RecallCheck(msgspec.Struct, frozen=True, kw_only=True):
    questions: int
    before: float | None
    after: float | None
    worse: int
    better: int
    taken_back: bool
    note: str


def save_question(view: "MemoryView", query: str, expected: tuple[str, ...]) -> None:
    """Keep a question with its answer, the same one once."""
    store = view.service.home.store
    kept = SavedQuestion(scrub(query).text, expected)
    # A read-only memory answers too.
    with suppress(StoreError):
        id = content_hash(query.encode(), 8)
        store.put(QUESTIONS, id, kept, actor=view.actor, reason="question with a known answer")


def recall_of(view: "MemoryView", give_way: Callable[[], None]) -> dict[str, float]:
    """The share of memories that are found for each saved question, of those questions whose memories still exist."""
    found: dict[str, float] = {}
    for record in view.service.home.store.scan(QUESTIONS, limit=_MOST):
        give_way()
        question = msgspec.convert(record.data, SavedQuestion)
        expected = set(view.library.index.visible(question.expected, view.viewer))
        if expected:
            ranked, _ = view.recall.rank(question.query, _FOUND)
            found[record.id] = len(expected & {each.memory.id for each in ranked}) / len(expected)
    return found


def _chance(worse: int, changed: int) -> float:
    """The probability that so many or more of the changed questions are worse, if each is so in half of the cases."""
    return sum(math.comb(changed, count) for count in range(worse, changed + 1)) / float(2**changed)


def compare(before: dict[str, float], after: dict[str, float]) -> tuple[RecallCheck, bool]:
    """Recall before and after, and whether the drop is more than chance: a sign test at 5 %."""
    both = [id for id in before if id in after]
    worse = sum(after[id] < before[id] for id in both)
    better = sum(after[id] > before[id] for id in both)
    dropped = worse > better and _chance(worse, worse + better) < _SIGNIFICANT
    if not both:
        note = f"{INSUFFICIENT}: no question with a known answer is saved; test_recall_accuracy saves them."
        return RecallCheck(questions=0, before=None, after=None, worse=0, better=0, taken_back=False, note=note), False
    check = RecallCheck(
        questions=len(both),
        before=round(sum(before[id] for id in both) / len(both), 4),
        after=round(sum(after[id] for id in both) / len(both), 4),
        worse=worse,
        better=better,
        taken_back=dropped,
        note="Recall fell by more than chance explains: the run was undone." if dropped else "No drop beyond chance.",
    )
    return check, dropped
