"""Many readers or one writer. No test waits for time to pass: a writer without patience closes the door at once."""

import threading
from collections.abc import Callable

import pytest

from clew.graph.lock import ReadWriteLock

LONG = 30
"""Seconds after which a lock that should be free counts as stuck."""


def finished(work: Callable[[], None]) -> bool:
    """Whether work in another thread comes to an end."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(LONG)
    return not thread.is_alive()


def write(lock: ReadWriteLock) -> None:
    with lock.writing():
        pass


def read(lock: ReadWriteLock) -> None:
    with lock.reading():
        pass


# Verifies: REQ-d00003-F
def test_a_reader_or_writer_that_fails_leaves_the_lock_free() -> None:
    lock = ReadWriteLock()
    with pytest.raises(ZeroDivisionError), lock.reading():
        raise ZeroDivisionError
    assert finished(lambda: write(lock))
    with pytest.raises(ZeroDivisionError), lock.writing():
        raise ZeroDivisionError
    assert finished(lambda: read(lock))


class Watched(threading.Condition):
    """Tells which threads wait without an end."""

    def __init__(self) -> None:
        super().__init__()
        self.met = {name: threading.Event() for name in ("writer", "reader")}

    def wait(self, timeout: float | None = None) -> bool:
        if timeout is None:
            self.met[threading.current_thread().name].set()
        return super().wait(timeout)


# Verifies: REQ-d00003-F
def test_a_reader_waits_for_a_writer_that_waited_long_enough() -> None:
    lock = ReadWriteLock(patience=0)
    lock._changed = watched = Watched()
    order: list[str] = []

    def written() -> None:
        with lock.writing():
            order.append("written")

    def read_behind() -> None:
        with lock.reading():
            order.append("read")
            watched.met["reader"].set()

    writer = threading.Thread(target=written, name="writer", daemon=True)
    reader = threading.Thread(target=read_behind, name="reader", daemon=True)
    with lock.reading():
        writer.start()
        assert watched.met["writer"].wait(LONG)
        reader.start()
        assert watched.met["reader"].wait(LONG)
    for thread in (writer, reader):
        thread.join(LONG)
    assert order == ["written", "read"]


# Verifies: REQ-d00003-F
def test_a_slow_reader_holds_up_no_other_reader() -> None:
    lock = ReadWriteLock()
    with lock.reading():
        assert finished(lambda: read(lock))
