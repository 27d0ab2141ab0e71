"""A writer that is killed: what it was told is written is there, and nothing is there by half."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

DIMENSIONS, STEPS, KILLS, UNITS = 32, 40, 10, 500

Held = dict[int, int]


def steps(seed: int) -> Iterator[tuple[str, list[int]]]:
    chance = random.Random(seed)
    for _ in range(STEPS):
        numbers = chance.sample(range(1, UNITS + 1), chance.choice([1, 50, 400]))
        yield chance.choice(["put", "put", "fold"]), numbers


def vectors_of(numbers: list[int], step: int) -> np.ndarray:
    """Every number of a vector names its unit and the step that wrote it."""
    return np.tile(np.array([[number * 64 + step] for number in numbers], np.float32), (1, DIMENSIONS))


def write(folder: Path, seed: int) -> None:
    from tests.search.vector_spaces import Space

    space = Space(folder, DIMENSIONS)
    for step, (task, numbers) in enumerate(steps(seed)):
        if task == "put":
            space.put(numbers, vectors_of(numbers, step))
        else:
            space.vectors.fold()
        # Not buffered: what has been said survives the process.
        os.write(1, b"done\n")


# Verifies: REQ-d00035-A
def test_a_killed_writer_leaves_a_whole_state_with_everything_it_acknowledged(tmp_path: Path) -> None:
    from tests.search.vector_spaces import opened

    chance = random.Random(5)
    root = Path(__file__).parent.parent.parent
    for seed in range(KILLS):
        folder = tmp_path / str(seed)
        with opened(folder, DIMENSIONS, UNITS):
            pass
        writer = subprocess.Popen(
            [sys.executable, "-m", "tests.search.test_vectors_kill", str(folder), str(seed)],
            stdout=subprocess.PIPE,
            bufsize=0,
            cwd=root,
        )
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
            possible.append(possible[-1] | dict.fromkeys(numbers, step) if task == "put" else possible[-1])
        with opened(folder, DIMENSIONS) as space:
            space.view().check()
            numbers, vectors = space.get(space.units())
            found = {number: int(vector[0]) % 64 for number, vector in zip(numbers, vectors, strict=True)}
            assert found in possible[acknowledged : acknowledged + 2]
            for number, vector in zip(numbers, vectors, strict=True):
                assert np.array_equal(vector, vectors_of([number], found[number])[0])
            space.vectors.fold()
            assert space.get(numbers)[0] == numbers


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
