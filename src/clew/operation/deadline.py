"""One deadline for a whole call: a walk or a search looks at it between its steps."""

import time
from collections.abc import Callable

from clew.errors import TimedOut


class Deadline:
    def __init__(
        self, check: Callable[[], None], seconds: float, *, monotonic: Callable[[], float] | None = None
    ) -> None:
        self._check = check
        self._seconds = seconds
        self._monotonic = monotonic or time.monotonic
        self._began = self._monotonic()
        self.step = "start"
        """What is being done, for who has to say why it was not finished."""

    def __call__(self) -> None:
        """Raises Cancelled when the caller took the request back, and TimedOut when the time is over."""
        self._check()
        if self._monotonic() - self._began > self._seconds:
            raise TimedOut(
                f"The answer was not ready after {self._seconds:g} s (step: {self.step}).",
                hint="Ask for less, or raise kb.timeout_seconds in clew.toml.",
                data={"limit_ms": round(self._seconds * 1000), "step": self.step},
            )

    def elapsed_ms(self) -> int:
        return round((self._monotonic() - self._began) * 1000)
