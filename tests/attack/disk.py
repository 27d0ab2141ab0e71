"""A failing disk: bytes of databases change, and the system knows of no write.

So nothing is noticed when a file is opened, and what is read has to be checked where it is read.
"""

import tempfile
from pathlib import Path

from tests.attack.databases import Damaged, damaging
from tests.attack.outcome import Outcome
from tests.failing_disk import spoil


def run(rounds: int) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        faults, counts = damaging(Damaged(Path(folder)), rounds, spoil)
    return Outcome(rounds, tuple(faults), dict(counts))
