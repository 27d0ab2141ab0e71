"""Questions to git of one walk through the history, with one deadline for all of them."""

import time
from collections.abc import Callable
from typing import TypeVar

from clew.errors import ClewError

T = TypeVar("T")
Otherwise = TypeVar("Otherwise")

_LEAST_SECONDS = 0.5
"""What is asked before the deadline gets a moment."""


class GitQuestions:
    """What git does not answer in time is left out. `is_whole` is false from then on: nothing that was found without it
    may be kept, or be said to be all."""

    def __init__(self, seconds: float, most: int | None = None) -> None:
        self._until = time.monotonic() + seconds
        self._left = most
        self.is_whole = True

    def may_go_on(self) -> bool:
        """True while there is time, and fewer questions were asked than there may be; what is not asked for lack of
        time is missing."""
        if time.monotonic() >= self._until:
            self.is_whole = False
            return False
        return self._left is None or self._left > 0

    @property
    def seconds(self) -> float:
        return max(self._until - time.monotonic(), _LEAST_SECONDS)

    def ask(self, question: Callable[[float], T], otherwise: Otherwise) -> T | Otherwise:
        """The answer to a question, which gets the seconds that are left; `otherwise` where there is none."""
        if time.monotonic() >= self._until:
            self.is_whole = False
            return otherwise
        if self._left is not None:
            self._left -= 1
        try:
            return question(self.seconds)
        except ClewError:
            self.is_whole = False
            return otherwise
