"""Indexes that are damaged while they are served: they are made from the memory, and cost nothing that it holds."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests import forked
from tests.contract.memory_client import WHY, Memory, remembering, write_project
from tests.failing_disk import spoil

SEARCH, OF_MEMORY = ".clew/search/index.db", ".clew/memory-index.db"
HEADER = 4096
FULL_INDEX = """
import resource, signal, sys
from pathlib import Path
from tests.contract.memory_client import WHY, remembering
root = Path(sys.argv[1])
with remembering(root) as memory:
    kept = [memory.store(f"Lamp {number} burns oil of the barrel {number * 7}.") for number in range(3)]
    memory.project.memory.home.store.compact()
    index = memory.project.context.parts.engine().units
    index.compact()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = memory.project.memory.home.store
    put = index.put
    def limited(units):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))
        try:
            return put(units)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    index.put = limited
    stored = memory("store_memory", content="Wicks are cut on Mondays.", rationale=WHY)
    index.put = put
    assert stored["created"], stored
    assert "found as soon as the search index can be written" in " ".join(stored["notes"]), stored
    assert memory.ids("wicks") == [stored["node_id"]]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_project(tmp_path / "harbour")


@pytest.fixture
def memory(root: Path) -> Iterator[Memory]:
    with remembering(root) as client:
        for number in range(40):
            client.store(f"The lamp {number} burns oil of the barrel {number * 7}.")
        yield client


def damage(file: Path) -> None:
    """Change every page but the first, so that the file opens and no table can be read."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = file.read_bytes()
    file.write_bytes(data[:HEADER] + bytes(byte ^ 0x5A for byte in data[HEADER:]))


# Verifies: REQ-d00300-E, REQ-d00301-F
@pytest.mark.parametrize("index", [SEARCH, OF_MEMORY])
def test_what_is_stored_while_an_index_is_damaged_is_acknowledged_and_found(
    memory: Memory, root: Path, index: str
) -> None:
    damage(root / index)
    stored = memory("store_memory", content="Wicks are cut on Mondays.", rationale=WHY)
    assert stored["created"] is True
    assert memory.store("Wicks are cut on Mondays.") == stored["node_id"]
    assert memory.ids("wicks") == [stored["node_id"]]
    assert len(memory.ids("lamp burns oil")) == 10


# Verifies: REQ-d00300-E
@pytest.mark.parametrize("index", [SEARCH, OF_MEMORY])
def test_a_damaged_index_is_made_anew_by_the_question_that_meets_it(memory: Memory, root: Path, index: str) -> None:
    damage(root / index)
    assert len(memory.ids("lamp burns oil")) == 10


# Verifies: REQ-d00300-E
def test_a_damaged_index_is_made_anew_by_the_next_start(root: Path) -> None:
    with remembering(root) as memory:
        id = memory.store("Wicks are cut on Mondays.")
    damage(root / OF_MEMORY)
    with remembering(root) as memory:
        assert memory.ids("wicks") == [id]


# Verifies: REQ-d00300-E, REQ-d00647-E
def test_pages_of_the_index_that_a_failing_disk_swapped_hide_no_memory(root: Path) -> None:
    with remembering(root) as memory:
        id = memory.store("Wicks are cut on Mondays.")
    file = root / OF_MEMORY
    with closing(sqlite3.connect(f"{file.as_uri()}?immutable=1", uri=True)) as connection:
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master").fetchall())
    content = bytearray(file.read_bytes())
    first, second = (slice((roots[name] - 1) * HEADER, roots[name] * HEADER) for name in ("memories", "links"))
    content[first], content[second] = content[second], content[first]
    spoil(file, content)
    with remembering(root) as memory:
        recent = memory("get_recent_context")
        assert [each["node_id"] for each in recent["memories"]] == [id]
        assert memory.ids("wicks") == [id]


# Verifies: REQ-d00300-E
@pytest.mark.parametrize(
    ("letters", "others"),
    [(b"deleted_at", b"deletee_at"), (b"shown_last", b"shown_lost"), (b"TABLE links", b"TABLE lynks")],
    ids=["a column", "a column in two statements", "a table"],
)
def test_an_index_with_one_letter_of_its_tables_changed_is_made_anew(root: Path, letters: bytes, others: bytes) -> None:
    with remembering(root) as memory:
        id = memory.store("Wicks are cut on Mondays.")
    file = root / OF_MEMORY
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = file.read_bytes()
    assert letters in data
    file.write_bytes(data.replace(letters, others, 1))
    with remembering(root) as memory:
        stored = memory("store_memory", content="Lamps burn oil.", rationale=WHY)
        assert stored["created"] is True
        assert memory.store("Lamps burn oil.") == stored["node_id"]
        assert memory.ids("wicks") == [id]
        assert memory("get_recent_context")["count"] == 2
    assert others not in file.read_bytes()


# Verifies: REQ-d00301-F
def test_what_is_stored_is_acknowledged_where_the_index_cannot_grow(root: Path) -> None:
    done = forked.run(
        [sys.executable, "-c", FULL_INDEX, str(root)], check=False, capture_output=True, text=True, cwd=Path.cwd()
    )
    assert done.returncode == 0, done.stderr


# Verifies: REQ-d00247-H
def test_a_memory_that_was_damaged_while_the_index_was_filled_is_found_once_it_can_be_read(
    memory: Memory, root: Path
) -> None:
    id = memory.store("Wicks are cut on Mondays.")
    with closing(sqlite3.connect(root / ".clew/memory.db")) as connection:
        change = "UPDATE entries SET data = replace(data, ?, ?) WHERE id = ?"
        connection.execute(change, ("Mondays", "Mondaiz", id))
        connection.commit()
        damage(root / SEARCH)
        for _ in range(2):
            answer = memory("search_graph", query="wicks")
            assert answer["results"] == []
            assert "is damaged" in " ".join(answer["notes"])
        connection.execute(change, ("Mondaiz", "Mondays", id))
        connection.commit()
    answer = memory("search_graph", query="wicks")
    assert [hit["node_id"] for hit in answer["results"]] == [id]
    assert answer["notes"] == []
