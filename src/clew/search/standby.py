"""An index on this machine in place of one in a database that does not answer.

It holds words only, is filled by those who search, and is thrown away when the database answers again: what others
purge meanwhile is not left in it. Each process has one of its own, with a lock that ends with the process, so that the
next one throws away what was left.
"""

# Implements: REQ-d00492

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp

from clew.config import EmbedSettings
from clew.derived.file import throw_away
from clew.edit.locking import locked
from clew.operation.paging import Cursors
from clew.search.engine import SearchEngine
from clew.workspace.find import paths_named

ANSWERS_SECONDS = 5.0
"""How long a database that did not answer is left alone."""
KEPT_SECONDS = 60.0
"""How long after that nobody has asked in vain when the database is taken to be back."""
NOTE = (
    "The team's database does not answer: this was searched on this machine, by words, in the files and the copy of the"
    " memory."
)
_PREFIX = "standby-"
_LOCK = "lock"
_PATIENCE = 2.0


class Standby:
    def __init__(self, folder: Path, cursors: Cursors) -> None:
        """`folder` is that of the index in whose place this one answers."""
        self._held = ExitStack()
        with _swept(folder):
            own = Path(mkdtemp(prefix=_PREFIX, dir=folder))
            self._held.enter_context(locked(self._held.enter_context((own / _LOCK).open("ab")), _PATIENCE))
        self.engine = SearchEngine(own, cursors=cursors, embed=EmbedSettings(kind="none"), note=NOTE)
        self._until = 0.0
        self.extend()

    def extend(self) -> None:
        """Answer for a while: the database did not just now."""
        self._until = time.monotonic() + ANSWERS_SECONDS

    @property
    def answers(self) -> bool:
        return time.monotonic() < self._until

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self._until + KEPT_SECONDS

    def close(self) -> None:
        self.engine.close()
        self._held.close()
        throw_away(self.engine.folder)


def sweep(folder: Path) -> None:
    """Throw away what processes left that were killed."""
    if any(paths_named(folder, f"{_PREFIX}*")):
        with _swept(folder):
            pass


@contextmanager
def _swept(folder: Path) -> Iterator[None]:
    """A block in which nothing of killed processes is there, and no other process makes or sweeps anything."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "standby.lock").open("ab") as common, locked(common, _PATIENCE) as is_alone:
        for left in paths_named(folder, f"{_PREFIX}*") if is_alone else ():
            if _is_left(left):
                throw_away(left)
        yield


def _is_left(folder: Path) -> bool:
    try:
        with (folder / _LOCK).open("ab") as file, locked(file, 0) as is_free:
            return is_free
    except OSError:
        return True
