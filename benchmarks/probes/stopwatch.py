"""Samples of the time that passed, and of the part in which a processor worked for this process or for its children."""

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.cpu: list[float] = []

    @contextmanager
    def sample(self) -> Iterator[None]:
        """Measure what is done inside."""
        cpu, started = _cpu_seconds(), time.perf_counter()
        yield
        self.seconds.append(time.perf_counter() - started)
        self.cpu.append(_cpu_seconds() - cpu)

    def as_data(self) -> dict[str, list[float]]:
        return {"seconds": self.seconds, "cpu": self.cpu}


def _cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
