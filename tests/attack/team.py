"""Eight processes write to one PostgreSQL, and they and PostgreSQL itself are killed at random moments.

Afterwards every write that was acknowledged is there, none is there by half, the numbers of the events rise without
two of them meaning the same, and every event that was told just before PostgreSQL was killed is there.
"""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.attack.outcome import Outcome
from tests.postgres import OwnPostgres, own_server

from clew.store.interface import Store
from clew.text.database_address import Address

WRITERS = 8
PARTS = 2
"""Records of each second transaction; the others have one record, and take one question."""
_SCHEMA = "clew_attacked"
_WRITES_PER_KILL = 25
_KILLS_PER_CRASH = 8
"""After so many killed writers, the database itself is killed."""


def run(rounds: int) -> Outcome:
    """Until so many writes were acknowledged."""
    with own_server() as server, server.database("attacked") as url:
        attack = Attack(server, url)
        attack.until(rounds)
        return Outcome(len(attack.acknowledged), attack.faults(), dict(attack.counts))


def open_store(url: str) -> Store:
    from clew.store.postgres.engine import open_postgres

    return open_postgres(Address(url), _SCHEMA, create=True, busy_timeout=300.0)


class Attack:
    def __init__(self, server: OwnPostgres, url: str) -> None:
        self.server = server
        self.url = url
        self.acknowledged: set[str] = set()
        self.counts: Counter[str] = Counter()
        self._chance = random.Random(22)
        self._alive: dict[str, int] = {}
        self._told: dict[int, str] = {}

    def until(self, wanted: int) -> None:
        open_store(self.url).close()
        command = [sys.executable, "-m", "tests.attack.team", self.url]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2], process_group=0
        ) as forker:
            assert forker.stdin is not None
            assert forker.stdout is not None

            def start() -> None:
                self.counts["writers"] += 1
                assert forker.stdin is not None
                forker.stdin.write(f"w{self.counts['writers']}\n".encode())
                forker.stdin.flush()

            try:
                for _ in range(WRITERS):
                    start()
                while len(self.acknowledged) < wanted:
                    self._listen(forker.stdout.readline().decode().split(), start)
            finally:
                # Also those that were started just now.
                os.killpg(forker.pid, signal.SIGKILL)
                # What was said before the end counts too.
                for line in forker.stdout:
                    self._note(line.decode().split())

    def _note(self, words: list[str]) -> None:
        match words:
            case ["started", name, pid]:
                self._alive[name] = int(pid)
            case ["acknowledged", name]:
                self.acknowledged.add(name)
            case ["unknown", _]:
                self.counts["writes with an unknown end"] += 1

    def _listen(self, words: list[str], start: "Callable[[], None]") -> None:
        self._note(words)
        # Those that were started last may not have said so yet, while what the killed ones said is still read.
        if words[0] != "acknowledged" or len(self.acknowledged) % _WRITES_PER_KILL or not self._alive:
            return
        name = self._chance.choice(sorted(self._alive))
        os.kill(self._alive.pop(name), signal.SIGKILL)
        self.counts["killed writers"] += 1
        if self.counts["killed writers"] % _KILLS_PER_CRASH == 0:
            with closing(open_store(self.url)) as store:
                self._told |= {event.seq: event.id for event in store.events(after=max(self._told, default=0))}
            self.server.kill()
            self.server.start()
            self.counts["killed databases"] += 1
        start()

    def faults(self) -> tuple[str, ...]:
        with closing(open_store(self.url)) as store:
            records, events = store.scan("parts"), store.events()
            found = Counter(str(record.data) for record in records)
            wrong = [f"{name} was acknowledged and is not there" for name in self.acknowledged - found.keys()]
            wrong += [f"{name} is there by half" for name, parts in found.items() if parts != parts_of(name)]
            there = {event.seq: event.id for event in events}
            wrong += [
                f"the event {seq} was told and is not there" for seq in self._told if there.get(seq) != self._told[seq]
            ]
            self.counts["events told before a kill"] = len(self._told)
            if len(events) != len(records) or len({event.seq for event in events}) != len(events):
                wrong.append(f"there are {len(events)} events for {len(records)} records")
            return tuple(wrong + store.check())


def parts_of(name: str) -> int:
    return PARTS if int(name.rpartition("-")[2]) % 2 else 1


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def write_until_killed(url: str, name: str) -> None:
    from clew.errors import StoreError

    store: Store | None = None
    number = 0
    say(f"started {name} {os.getpid()}")
    while True:
        number += 1
        id = f"{name}-{number}"
        try:
            store = store or open_store(url)
            if parts_of(id) == 1:
                store.put("parts", f"{id}-0", id, actor=name)
            else:
                with store.transaction(actor=name) as transaction:
                    for part in range(PARTS):
                        transaction.put("parts", f"{id}-{part}", id)
        except StoreError:
            say(f"unknown {id}")
            # The database is being started again.
            signal.sigtimedwait((), 0.05)
        else:
            say(f"acknowledged {id}")


def main(url: str) -> None:
    """For each line a child that writes under that name. Children are forked, which is quick."""
    import clew.store.postgres.engine  # noqa: F401 - once for all of them

    for line in iter(sys.stdin.readline, ""):
        if os.fork() == 0:
            try:
                write_until_killed(url, line.strip())
            finally:
                os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
