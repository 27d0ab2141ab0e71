"""How often files are looked at for changes.

A look asks the system for the time of every file. With many files it is most of what a small question costs, so it is
followed by a rest of a few times its own duration. With fewer, every question looks.
"""

import time

MANY_FILES = 300
REST_SHARE = 4
"""How many times the duration of a look passes before the next one."""


class Rest:
    def __init__(self) -> None:
        self._until = 0.0

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until

    def begin(self, looked_since: float, files: int) -> None:
        """After a look at so many files that began at that time of the monotonic clock."""
        now = time.monotonic()
        self._until = now + (now - looked_since) * REST_SHARE if files >= MANY_FILES else 0.0
