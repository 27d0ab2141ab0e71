"""What other processes do to a store in the tests: `python -m tests.store.worker TASK ENGINE LOCATION ...`.

Tasks that race wait for a line on standard input once they are ready, and say so.
"""

import os
import random
import sys
from collections.abc import Callable

from tests.store.engines import ENGINES

from clew.errors import Conflict
from clew.store.interface import Store

Opener = Callable[[], Store]


def say(text: str) -> None:
    # Not buffered: what has been said survives the process.
    os.write(1, f"{text}\n".encode())


def wait_for_start() -> None:
    say("ready")
    sys.stdin.readline()


def create(open_store: Opener) -> None:
    wait_for_start()
    store = open_store()
    say(str(store.describe()["schema_version"]))
    store.close()


def put_many(open_store: Opener, prefix: str, number: str) -> None:
    store = open_store()
    wait_for_start()
    for index in range(int(number)):
        with store.transaction(actor=prefix, reason="many at once") as transaction:
            transaction.put("notes", f"{prefix}-{index}", {"index": index})
    store.close()


def increment(open_store: Opener, number: str) -> None:
    store = open_store()
    wait_for_start()
    for _ in range(int(number)):
        with store.transaction(actor="counter") as transaction:
            record = transaction.get("counters", "shared")
            transaction.put("counters", "shared", record.data + 1 if record else 1)
    store.close()


def claim(open_store: Opener, name: str) -> None:
    store = open_store()
    wait_for_start()
    try:
        with store.transaction(actor=name) as transaction:
            transaction.put("locks", "only-one", name, if_version=0)
        say("won")
    except Conflict:
        say("lost")
    store.close()


def setting(open_store: Opener, value: str) -> None:
    store = open_store()
    wait_for_start()
    say(store.setting("key", value.encode()).decode())
    store.close()


def hold_job(open_store: Opener) -> None:
    """Starts a job and works on it until standard input ends, or until it is killed."""
    store = open_store()
    say(store.start_job("index").id)
    sys.stdin.read()


def nursery(open_store: Opener) -> None:
    """For each line `LOCATION SEED` a child that writes there until it is killed; then `reaped`.

    Children are forked, which is quick; nothing is open here when they are.
    """
    engine = ENGINES[sys.argv[2]]
    for line in iter(sys.stdin.readline, ""):
        location, seed = line.rsplit(maxsplit=1)
        child = os.fork()
        if child == 0:
            try:
                write_until_killed(lambda location=location: engine.open(location), int(seed))
            finally:
                os._exit(1)
        os.waitpid(child, 0)
        say("reaped")


def write_until_killed(open_store: Opener, seed: int) -> None:
    """Says its number, `step` in the midst of its work, and `acknowledged NAME SIZE` after each transaction."""
    say(str(os.getpid()))
    chance = random.Random(seed)
    say("step")
    store = open_store()
    number = 0
    while True:
        number += 1
        name, size = f"{seed}-{number}", chance.randint(1, 4)
        with store.transaction(actor="doomed") as transaction:
            say("step")
            for part in range(size):
                transaction.put("parts", f"{name}-{part}", {"name": name, "size": size, "text": "x" * 300})
                say("step")
            ledger = transaction.get("ledger", "total")
            transaction.put("ledger", "total", ledger.data + size if ledger else size)
            say("step")
        say(f"acknowledged {name} {size}")


TASKS: dict[str, Callable[..., None]] = {
    task.__name__: task for task in (create, put_many, increment, claim, setting, hold_job, nursery)
}

if __name__ == "__main__":
    _, task, engine, location, *arguments = sys.argv
    TASKS[task](lambda: ENGINES[engine].open(location), *arguments)
