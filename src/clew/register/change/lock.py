"""One writer at a time, over all processes, whether they run Clew or req: both lock the same file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.edit.locking import locked
from clew.errors import StoreBusy, StoreReadOnly

PATIENCE_SECONDS = 30.0


def lock_file(register: Path) -> Path:
    return register.with_name(f".{register.name}.lock")


@contextmanager
def writing(register: Path, patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Hold the register's lock. StoreBusy where another holds it for longer than `patience` seconds."""
    place = lock_file(register)
    try:
        file = place.open("a+b")
    except OSError as error:
        raise StoreReadOnly(
            f"The lock {place} cannot be opened: {error.strerror or error}.",
            hint="Make the folder of the register writable. Nothing was written.",
        ) from error
    with file, locked(file, patience) as held:
        if not held:
            raise StoreBusy(
                f"Another process has held the lock {place} for more than {patience:g} seconds.",
                hint="Try again. If it stays so, find the program that hangs and end it. Nothing was written.",
                data={"lock": str(place)},
            )
        yield
