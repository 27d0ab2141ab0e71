"""One writer at a time, over all processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.edit.locking import locked
from clew.search.dense.files import LOCK, busy


@contextmanager
def writing(folder: Path, patience: float) -> Iterator[None]:
    """Hold the writer's lock. StoreBusy where another holds it for longer than `patience` seconds."""
    with (folder / LOCK).open("a+b") as file, locked(file, patience) as held:
        if not held:
            raise busy(folder)
        yield
