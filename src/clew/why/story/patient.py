"""Questions to git that may take longer than an answer waits: asked once, kept, and there for the next answer."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from clew.derived.history import CommitHistory
from clew.errors import ClewError
from clew.why.story.asking import GitQuestions
from clew.workspace.keeping import start_thread

T = TypeVar("T")

MOST_SECONDS = 60
"""Time of a search behind its answer."""


class SearchedPast(msgspec.Struct, frozen=True):
    """The history that a question is about, and the seconds that it may take."""

    root: Path
    history: CommitHistory
    head: str
    seconds: float


class _Question:
    """A question under way, which several may wait for."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: object = None


_RUNNING: dict[tuple[str, ...], _Question] = {}
_LOCK = threading.Lock()


def asked_once(
    root: Path,
    history: CommitHistory,
    about: tuple[str, ...],
    kind: type[T],
    work: Callable[[], T | None],
    seconds: float,
    is_whole: Callable[[T], bool] = lambda _: True,
) -> T | None:
    """The answer to a question that is known by `about`. None where there is none, or none in time; what comes later is
    kept with the history, if it is whole."""
    kept = history.kept(kind, *about)
    if kept is not None:
        return kept
    key = (str(root), *about)
    with _LOCK:
        question = _RUNNING.get(key)
        if question is None:
            begun = question = _RUNNING[key] = _Question()
            start_thread("clew-blame", lambda: _ask(begun, key, history, about, work, is_whole))
    question.done.wait(max(seconds, 0.0))
    answer = question.answer
    return answer if isinstance(answer, kind) else None


def advanced(
    past: SearchedPast,
    about: tuple[str, ...],
    first: T,
    step: Callable[[T, GitQuestions], T],
    is_done: Callable[[T], bool],
) -> T:
    """A search through the history as far as it is after the seconds that the question may take. It goes on behind the
    answer for a while; the state behind each step is kept, and the next question goes on from there."""
    kind = type(first)

    def state() -> T:
        kept = past.history.kept(kind, *about)
        return kept if kept is not None else first

    def work() -> bool:
        questions = GitQuestions(MOST_SECONDS)
        reached = state()
        while not is_done(reached) and questions.may_go_on():
            reached = step(reached, questions)
            past.history.keep(reached, *about)
        return True

    if not is_done(found := state()):
        asked_once(past.root, past.history, (*about, "under way"), bool, work, past.seconds, is_whole=lambda _: False)
        found = state()
    return found


def _ask(
    question: _Question,
    key: tuple[str, ...],
    history: CommitHistory,
    about: tuple[str, ...],
    work: Callable[[], T | None],
    is_whole: Callable[[T], bool],
) -> None:
    try:
        with suppress(ClewError):
            question.answer = answer = work()
            if answer is not None and is_whole(answer):
                history.keep(answer, *about)
    finally:
        with _LOCK:
            _RUNNING.pop(key, None)
        question.done.set()
