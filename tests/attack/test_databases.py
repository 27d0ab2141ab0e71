"""The short form: each way to damage a database and each crafted file, on one database each."""

import random
from pathlib import Path

import pytest
from tests.attack.databases import CRAFTED, DAMAGES, Damaged

COMMANDS = (
    ("status",),
    ("why", "src/fairwater/tables.py:3"),
    ("search", "water", "--limit", "5"),
    ("memory", "list"),
)
ATTACKED = (
    *(".clew/parsed.db", ".clew/code/code.db", ".clew/history/history.db", ".clew/search/index.db"),
    *(".clew/clew.db", ".git/clew/memory.db", ".git/clew/memory-index.db"),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Damaged:
    return Damaged(tmp_path_factory.mktemp("attacked"), COMMANDS)


# Verifies: REQ-d00645-B, REQ-d00645-C
@pytest.mark.parametrize(("number", "damage"), list(enumerate(sorted(DAMAGES))))
def test_no_damage_ends_as_a_fault_or_is_shown_as_the_truth(project: Damaged, number: int, damage: str) -> None:
    name = ATTACKED[number % len(ATTACKED)]
    with project.restored():
        (project.root / name).write_bytes(DAMAGES[damage](random.Random(number), project.whole[name]))
        assert project.faults(name) == []


# Verifies: REQ-d00647-A, REQ-d00647-B
@pytest.mark.parametrize("name", ATTACKED)
def test_swapped_pages_never_leave_anything_out_in_silence(project: Damaged, name: str) -> None:
    swap = DAMAGES["two pages in each other's place"]
    for number in range(3):
        with project.restored():
            (project.root / name).write_bytes(swap(random.Random(number), project.whole[name]))
            assert project.faults(name) == []


# Verifies: REQ-d00646-A, REQ-d00646-B
@pytest.mark.parametrize(("number", "craft"), list(enumerate(sorted(CRAFTED))))
def test_no_crafted_file_ends_as_a_fault_or_is_shown_as_the_truth(project: Damaged, number: int, craft: str) -> None:
    name = ATTACKED[number % len(ATTACKED)]
    with project.restored():
        CRAFTED[craft](Path(project.root / name))
        assert project.faults(name, crafted=True) == []
