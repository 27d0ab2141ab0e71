"""A writer that is killed: what it was told is written is there, and nothing is there by half."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

DIMENSIONS, STEPS, KILLS = 32, 40, 12

Held = dict[int, int]


def steps(seed: int) -> Iterator[tuple[str, list[int]]]:
    chance = random.Random(seed)
    for _ in range(STEPS):
        numbers = chance.sample(range(4000), chance.choice([1, 50, 1500]))
        yield chance.choice(["put", "put", "put", "delete", "compact"]), numbers


def after(held: Held, step: int, task: str, numbers: list[int]) -> Held:
    if task == "put":
        return held | dict.fromkeys(numbers, step)
    return {number: made for number, made in held.items() if task == "compact" or number not in set(numbers)}


def vectors_of(numbers: list[int], step: int) -> np.ndarray:
    """Every number of a vector names its unit and the step that wrote it."""
    return np.tile(np.array([[number * 64 + step] for number in numbers], np.float32), (1, DIMENSIONS))


def write(folder: Path, seed: int) -> None:
    from clew.search.dense.vectors import VectorSpace

    space = VectorSpace(folder, "embedder", DIMENSIONS)
    for step, (task, numbers) in enumerate(steps(seed)):
        if task == "put":
            space.put(numbers, vectors_of(numbers, step))
        elif task == "delete":
            space.delete(numbers)
        else:
            space.compact()
        # Not buffered: what has been said survives the process.
        os.write(1, b"done\n")


# Verifies: REQ-d00035-A
def test_a_killed_writer_leaves_a_whole_state_with_everything_it_acknowledged(tmp_path: Path) -> None:
    from clew.search.dense.vectors import VectorSpace

    chance = random.Random(5)
    for seed in range(KILLS):
        folder = tmp_path / str(seed)
        writer = subprocess.Popen([sys.executable, __file__, str(folder), str(seed)], stdout=subprocess.PIPE, bufsize=0)
        assert writer.stdout is not None
        acknowledged, enough = 0, chance.randrange(STEPS)
        while acknowledged < enough and writer.stdout.readline():
            acknowledged += 1
        writer.send_signal(signal.SIGKILL)
        acknowledged += len(writer.stdout.read().splitlines())
        writer.wait()
        writer.stdout.close()
        possible = [Held()]
        for step, (task, numbers) in enumerate(steps(seed)):
            possible.append(after(possible[-1], step, task, numbers))
        space = VectorSpace(folder, "embedder", DIMENSIONS)
        space.check()
        numbers, vectors = space.get(space.numbers())
        found = {int(number): int(vector[0]) % 64 for number, vector in zip(numbers, vectors, strict=True)}
        assert found in possible[acknowledged : acknowledged + 2]
        assert all(
            np.array_equal(vector, vectors_of([int(n)], found[int(n)])[0])
            for n, vector in zip(numbers, vectors, strict=True)
        )
        space.put([9999], vectors_of([9999], 0))
        assert len(VectorSpace(folder, "embedder", DIMENSIONS)) == len(found) + 1


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
