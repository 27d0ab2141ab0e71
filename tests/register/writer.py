"""A process that changes a register, for the tests that start several and kill some.

    writer.py add PLACE COUNT           add requirements
    writer.py mix PLACE SEED            add, update, link, batch and record tests, ten of each
    writer.py hold PLACE                take the lock, say so, and hold it until standard input ends
    writer.py nursery PLACE             for each line `SEED STEPS` of standard input, start a writer that changes the
                                        register until STEPS lines of its code have run, and then dies

Each acknowledged change is printed as one line.
"""

import os
import random
import signal
import sys
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from clew.register.change.batch import apply_batch
from clew.register.change.changes import add, link, update
from clew.register.change.draft import Draft, current_author
from clew.register.change.evidence import record_test
from clew.register.change.transaction import RegisterFile, writing
from clew.register.operations.edit import AddToRegister, LinkRequirements, UpdateCommand
from clew.register.operations.evidence import RecordTest

STATEMENT = "The system shall lock the account after five failed logins."
TRACED = (
    "transaction.py",
    "storage.py",
    "carrying.py",
    "journal.py",
    "recovery.py",
    "replacing.py",
    "lock.py",
    "draft.py",
)


def new(title: str) -> AddToRegister:
    return AddToRegister(
        title=title, statement=STATEMENT, rationale="Guessing has to stop.", acceptance=("The sixth is refused",)
    )


def say(*words: object) -> None:
    # One write, so that a kill leaves no half line.
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def add_many(file: RegisterFile, count: int) -> None:
    for number in range(count):
        requirement = new(f"Requirement {number}")
        say("added", file.transaction(current_author(), partial(add, new=requirement)).id)


def mix(file: RegisterFile, seed: int) -> None:
    chance = random.Random(seed)
    own = file.transaction(current_author(), lambda draft: add(draft, new(f"Own of {seed}"))).id
    say("added", own)
    for number in range(10):
        step(file, own, f"{seed}-{number}", chance)


def step(file: RegisterFile, own: str, mark: str, chance: random.Random) -> None:
    made = file.transaction(current_author(), lambda draft: add(draft, new(f"Made by {mark}"))).id
    say("added", made)
    file.transaction(current_author(), lambda draft: update(draft, UpdateCommand(id=own, reason=mark, add_tag=(mark,))))
    say("tagged", own, mark)
    file.transaction(current_author(), lambda draft: link(draft, LinkRequirements(source=made, to=own, kind="refines")))
    say("linked", made, own)
    file.transaction(
        current_author(), lambda draft: record_test(draft, RecordTest(id=own, result="pass", notes=mark), "c" * 40)
    )
    say("recorded", own, mark)
    statement = {"statement": STATEMENT, "rationale": "Guessing has to stop.", "acceptance": ["The sixth is refused"]}
    mutations: list[Any] = [
        {"kind": "add", "title": f"Batch of {mark}", **statement},
        {"kind": "link", "from": "$1", "to": own, "link_kind": chance.choice(("parent", "conflicts"))},
    ]
    done = file.transaction(current_author(), lambda draft: apply_batch(draft, mutations, mark))
    say("batched", done.results[0]["id"], own)


def hold(place: Path) -> None:
    with writing(place):
        say("held")
        sys.stdin.read()


def die(file: RegisterFile, seed: int, steps: int) -> None:
    """Change the register for ever; the trace ends the process after so many lines of code."""
    left = steps

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        if event == "line":
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    made: list[str] = []
    while True:
        made.append(file.transaction(current_author(), partial(chained, seed=seed, made=made)))
        say("added", made[-1])


def chained(draft: Draft, seed: int, made: list[str]) -> str:
    """Two changes that belong together: a requirement, and its link to the one before."""
    id = add(draft, new(f"Life {seed} change {len(made)}")).id
    if made:
        link(draft, LinkRequirements(source=id, to=made[-1]))
    return id


def nursery(place: Path) -> None:
    """Writers are forked: starting each anew would be slow."""
    for line in sys.stdin:
        seed, steps = map(int, line.split())
        child = os.fork()
        if child == 0:
            die(RegisterFile(place, patience=300), seed, steps)
        os.waitpid(child, 0)
        say("dead")


def main(command: str, place: Path, *numbers: str) -> None:
    if command == "hold":
        hold(place)
    elif command == "nursery":
        nursery(place)
    elif command == "add":
        add_many(RegisterFile(place), int(numbers[0]))
    else:
        mix(RegisterFile(place), int(numbers[0]))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
