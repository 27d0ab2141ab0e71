"""Purging what was mirrored among the documents: their indexes keep texts packed, so that bytes do not show them."""

import zlib
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from tests.contract.memory_client import Memory, remembering, write_project
from tests.memory.test_purge import OTHER, SECRET, TEXT, holding, owner, take_out

from clew.derived.file import DerivedFile
from clew.kb.ingest.library_file import SCHEMA as DOCUMENTS
from clew.memory.purge.files import left_in, state_folders
from clew.memory.purge.traces import Traces
from clew.search.index import UnitIndex
from clew.search.lexical.tables import texts
from clew.search.units import Unit


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Enough documents that their texts are packed by a dictionary."""
    pages = {f"docs/page{n:03}.md": f"# Pier {n}\n\nThe lamp of pier {n} has {n} panes.\n" for n in range(150)}
    root = write_project(tmp_path / "harbour", pages)
    with remembering(root) as client:
        yield client


def mirrored(memory: Memory) -> str:
    """A memory whose file was indexed among the documents."""
    secret = memory.store(TEXT)
    owner(memory.project).service.mirror.switch_on("docs/amemory", "person")
    assert memory.project.kb.index().added == 151
    assert packed_in(memory.root) == {"dictionary", "unit", "block"}
    return secret


def packed_in(root: Path, secret: str = SECRET) -> set[str]:
    """What holds a text after unpacking."""
    found = set()
    with closing(UnitIndex(root / ".clew" / "search" / "index.db")) as index, index.reading() as connection:
        if any(secret in zlib.decompress(data).decode() for (data,) in connection.execute(_DICTIONARY)):
            found.add("dictionary")
        numbers = [number for (number,) in connection.execute("SELECT unit FROM unit_texts")]
        if any(secret in "".join(said) for said in texts(connection, numbers).values()):
            found.add("unit")
    place = root / ".clew" / "kb" / "documents.db"
    if place.exists():
        with closing(DerivedFile(place, DOCUMENTS)) as documents, documents.reading() as connection:
            if any(secret.encode() in zlib.decompress(data) for (data,) in connection.execute(_BLOCKS)):
                found.add("block")
    return found


_DICTIONARY, _BLOCKS = "SELECT packed FROM unit_dictionary", "SELECT packed FROM blocks"


# Verifies: REQ-d00320-A
@pytest.mark.parametrize("reindexed", [False, True])
def test_nothing_packed_is_left_of_a_mirror_among_the_documents(memory: Memory, reindexed: bool) -> None:
    secret = mirrored(memory)
    if reindexed:
        memory("forget_concept", node_id=secret, reason="obsolete", rationale="it is old and wrong")
        owner(memory.project).service.mirror.sync()
        memory.project.kb.index()
        assert packed_in(memory.root) == {"dictionary"}
    done = take_out(memory.project, ids=(secret,))
    assert (done.left_in, packed_in(memory.root), holding(memory.root)) == ((), set(), [])
    memory.project.kb.index()
    assert (packed_in(memory.root), holding(memory.root)) == (set(), [])
    assert packed_in(memory.root, "pier 77 has 77 panes") == {"unit", "block"}


# Verifies: REQ-d00320-A
def test_a_document_of_the_project_that_says_the_same_stays(memory: Memory) -> None:
    (memory.root / "docs" / "keys.md").write_text(f"# Keys\n\n{TEXT}\n", encoding="utf-8")
    memory.project.kb.index()
    secret, other = memory.store(TEXT), memory.store(OTHER)
    done = take_out(memory.project, ids=(secret,))
    assert (done.also_cleaned, done.left_in) == ((), ())
    assert packed_in(memory.root) >= {"unit", "block"}
    assert memory.ids("ropes coiled") == [other]


# Verifies: REQ-d00320-A
def test_what_is_packed_is_looked_through_at_the_end(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = mirrored(memory)
    home = memory.project.memory.home
    folders, traces = state_folders(home), Traces([TEXT])
    for file in (memory.root / "docs" / "amemory").iterdir():
        file.unlink()
    state = (memory.root / ".clew").resolve()
    named = left_in(home, folders, traces)
    assert {str(state / "kb" / "documents.db"), str(state / "search")} <= set(named)
    # What others are packed by is looked at too.
    monkeypatch.setattr("clew.search.purging.repack", lambda connection: None)
    done = take_out(memory.project, ids=(secret,))
    assert (done.left_in, packed_in(memory.root)) == ((str(state / "search"),), {"dictionary"})
    monkeypatch.undo()
    take_out(memory.project, ids=(memory.store(OTHER),))
    assert packed_in(memory.root) == set()


def unlike(number: int) -> str:
    """A text that hardly becomes smaller when it is packed."""
    return " ".join(sha256(f"{number} {word}".encode()).hexdigest() for word in range(60))


# Verifies: REQ-d00320-A
def test_an_index_that_is_compacted_is_packed_by_what_is_left(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    mirrored(memory)
    monkeypatch.setattr("clew.search.index._WORTH_TIDYING", 1)
    with closing(UnitIndex(memory.root / ".clew" / "search" / "index.db")) as index:
        index.put(Unit(id=f"long{n}", part="rule", title="", body=unlike(n)) for n in range(300))
        index.delete([*index.hashes("rule"), *(id for id in index.hashes("section") if "amemory" in id)])
        assert "dictionary" in packed_in(memory.root)
        assert index.tidy()
        assert "dictionary" not in packed_in(memory.root)
