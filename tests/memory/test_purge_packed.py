"""Purging what was mirrored among the documents: their indexes keep texts packed, so that bytes do not show them."""

import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.contract.memory_client import Memory, remembering, write_project
from tests.memory.test_purge import OTHER, SECRET, TEXT, content, holding, owner, take_out

from clew.derived.file import DerivedFile
from clew.derived.packed import PackedText, earlier_names, packed_texts
from clew.kb.ingest.library_file import SCHEMA as DOCUMENTS
from clew.memory.purge.derived import DerivedFiles
from clew.memory.purge.files import left_in, state_folders
from clew.memory.purge.traces import Traces
from clew.search.index import UnitIndex
from clew.search.index_tables import SCHEMA
from clew.search.lexical.packing import UnitText
from clew.search.lexical.tables import texts
from clew.search.units import Unit
from clew.workspace.find import files_below


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


def carved(root: Path, secret: str = SECRET) -> list[str]:
    """The files of Clew that hold a text in bytes that zlib packed, wherever these lie: also in pages that are free,
    and in logs."""
    files = [file for folder in root.rglob(".clew") for file in files_below(folder)]
    return sorted(str(file) for file in files if any(secret.encode() in said for said in unpacked(content(file))))


def unpacked(data: bytes) -> Iterator[bytes]:
    """What begins in some bytes as zlib begins, as far as it goes on."""
    start = -1
    while (start := data.find(b"\x78\x9c", start + 1)) >= 0:
        press, said = zlib.decompressobj(), b""
        with suppress(zlib.error):
            for at in range(start, len(data), 64):
                said += press.decompress(data[at : at + 64])
                if press.eof:
                    break
        yield said


_EMBED = (
    "INSERT INTO embeddings (embedder, number, text_hash, vectors) SELECT 'e', number, text_hash, id FROM indexed_units"
)
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
    assert (done.left_in, packed_in(memory.root), holding(memory.root), carved(memory.root)) == ((), set(), [], [])
    # What others say stays where it is.
    assert packed_in(memory.root, "pier 77 has 77 panes") == {"unit", "block"}
    assert memory.project.kb.index().added == 0
    assert (packed_in(memory.root), holding(memory.root), carved(memory.root)) == (set(), [], [])


# Verifies: REQ-d00320-A
@pytest.mark.parametrize("name", ["keys.md", "keys.html"])
def test_what_a_document_said_before_it_was_edited_is_taken_out(memory: Memory, name: str) -> None:
    page = memory.root / "docs" / name
    page.write_text(f"<h1>Keys</h1>\n\n{TEXT}\n", encoding="utf-8")
    memory.project.kb.index()
    secret = memory.store(TEXT)
    page.write_text("<h1>Keys</h1>\n\nNobody has one.\n", encoding="utf-8")
    assert packed_in(memory.root) >= {"unit", "block"}
    done = take_out(memory.project, ids=(secret,))
    assert done.also_cleaned == (f"took what docs/{name} said before out of {documents(memory)}",)
    assert (done.left_in, packed_in(memory.root), holding(memory.root), carved(memory.root)) == ((), set(), [], [])
    # It is read again, and nothing else is.
    report = memory.project.kb.index()
    assert (report.added, report.unchanged, report.indexed_again) == (1, 150, 0)
    assert packed_in(memory.root, "Nobody has one") == {"unit", "block"}


def documents(memory: Memory) -> Path:
    return (memory.root / ".clew" / "kb" / "documents.db").resolve()


# Verifies: REQ-d00320-A, REQ-d00320-D
def test_an_earlier_heading_is_taken_out_and_others_are_kept(memory: Memory) -> None:
    pages = {"keys.md": f"# Keys\n\n## {TEXT}\n\n{OTHER}\n", "ropes.md": f"# Ropes\n\n## Old ropes\n\n{TEXT}\n"}
    pages["rooms.md"] = f"# Rooms\n\n## Room of {SECRET}\n\nThe room of {SECRET} has two doors to the pier.\n"
    after = pages | {
        "keys.md": pages["keys.md"].replace(TEXT, "Piers"),
        "ropes.md": pages["ropes.md"].replace("Old ropes", "New ropes"),
        "rooms.md": pages["rooms.md"].replace(f"## Room of {SECRET}", "## Doors"),
    }
    for contents in (pages, after):
        for name, text in contents.items():
            (memory.root / "docs" / name).write_text(text, encoding="utf-8")
        memory.project.kb.index()
    assert len(earlier_names(documents(memory))) == 3
    memory.store(TEXT)
    done = take_out(memory.project, text_=TEXT)
    assert done.also_cleaned == (f"took what docs/keys.md said before out of {documents(memory)}",)
    kept = [(f"doc:docs/rooms.md#room-of-{SECRET}", "docs/rooms.md"), ("doc:docs/ropes.md#old-ropes", "docs/ropes.md")]
    assert (done.left_in, sorted(earlier_names(documents(memory)))) == ((), kept)
    assert take_out(memory.project, text_=SECRET).left_in == ()
    assert sorted(earlier_names(documents(memory))) == kept


# Verifies: REQ-d00320-A
def test_what_was_deleted_from_the_documents_before_leaves_no_bytes(memory: Memory) -> None:
    page = memory.root / "docs" / "keys.md"
    page.write_text(f"# Keys\n\n{TEXT}\n", encoding="utf-8")
    memory.project.kb.index()
    secret = memory.store(TEXT)
    page.unlink()
    memory.project.kb.index()
    assert carved(memory.root), "in the log of the store of documents"
    done = take_out(memory.project, ids=(secret,))
    assert (done.left_in, holding(memory.root), carved(memory.root)) == ((), [], [])


# Verifies: REQ-d00320-A
def test_a_store_of_documents_that_an_earlier_version_made_is_thrown_away(memory: Memory) -> None:
    secret = mirrored(memory)
    place = documents(memory)
    memory.project.close()
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript("DROP VIEW packed_texts; CREATE VIEW packed_texts AS SELECT 1 AS path, 2 AS packed;")
    with remembering(memory.root) as again:
        done = take_out(again.project, ids=(secret,))
    assert f"deleted {place.parent}, which is made again from the project's files" in done.also_cleaned
    assert (done.left_in, packed_in(memory.root), carved(memory.root)) == ((), set(), [])


# Verifies: REQ-d00320-A
def test_a_store_of_documents_with_a_damaged_page_is_thrown_away(memory: Memory) -> None:
    secret = mirrored(memory)
    place = documents(memory)
    memory.project.close()
    damage(place, "blocks")
    with remembering(memory.root) as again:
        done = take_out(again.project, ids=(secret,))
        assert f"deleted {place.parent}, which is made again from the project's files" in done.also_cleaned
        assert (done.left_in, packed_in(memory.root), carved(memory.root)) == ((), set(), [])
        assert again.project.kb.index().added == 150


def damage(place: Path, table: str) -> None:
    """Make the first page of a table unreadable."""
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with place.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


# Verifies: REQ-d00320-D
def test_a_word_that_documents_say_costs_no_index(memory: Memory) -> None:
    """Whatever of it stands in files of the project now, also in other words and in a name, is the project's own."""
    wrapped = TEXT.replace(" is ", "\nis ")
    pages = {"keys.md": f"# Keys of {SECRET}\n\nThe {SECRET} is old.\n", "keys.html": f"<p>The <b>{SECRET}</b></p>"}
    pages |= {f"{SECRET}.md": "# No key\n\nNothing is said here.\n"}
    for name, text in pages.items():
        (memory.root / "docs" / name).write_text(text, encoding="utf-8")
    (memory.root / "spec").mkdir()
    (memory.root / "spec" / "one.md").write_text(f"# REQ-p00001: Keys\n\n{wrapped}\n", encoding="utf-8")
    memory.project.kb.index()
    memory.store(TEXT)
    state = memory.root / ".clew"
    series = series_of(state)
    done = take_out(memory.project, text_=SECRET)
    assert (done.purged, done.left_in) == (1, ())
    assert not any("kb" in said or "search" in said for said in done.also_cleaned)
    assert series_of(state) == series
    report = memory.project.kb.index()
    assert (report.added, report.indexed_again, report.unchanged) == (0, 0, 153)


def series_of(state: Path) -> str:
    with closing(UnitIndex(state / "search" / "index.db")) as index:
        return index.series


# Verifies: REQ-d00320-D
def test_what_is_not_purged_keeps_its_embeddings(memory: Memory) -> None:
    (memory.root / "docs" / "keys.md").write_text(f"# Keys\n\nThe {SECRET} is old.\n", encoding="utf-8")
    memory.project.kb.index()
    secret, other, both = memory.store(TEXT), memory.store(OTHER), memory.store(f"{TEXT} {OTHER}")
    place = memory.root / ".clew" / "search" / "index.db"
    with closing(UnitIndex(place)) as index, index.writing() as connection:
        connection.execute(_EMBED)
    done = take_out(memory.project, ids=(secret,))
    assert done.still_held_by == (both,)
    with closing(UnitIndex(place)) as index, index.reading() as connection:
        kept = {id for (id,) in connection.execute("SELECT vectors FROM embeddings")}
        there = {id for (id,) in connection.execute("SELECT id FROM indexed_units JOIN embeddings USING (number)")}
    assert kept == there
    assert {f"memory:{other}", f"memory:{both}"} <= kept
    assert f"memory:{secret}" not in kept
    assert len(kept) == 153


# Verifies: REQ-d00320-D
def test_a_purge_right_after_an_update_keeps_the_embeddings_that_wait_for_their_units(memory: Memory) -> None:
    memory.project.kb.index()
    secret, other = memory.store(TEXT), memory.store(OTHER)
    place = memory.root / ".clew" / "search" / "index.db"
    with closing(UnitIndex(place)) as index, index.writing() as connection:
        connection.execute(_EMBED)
    owner(memory.project).curator.edit(secret, f"{TEXT} Nobody else has it.", "it is more exact so")
    with closing(UnitIndex(place)) as index, index.writing() as connection:
        connection.execute(f"{_EMBED} WHERE id = 'memory:{secret}'")
        every = [id for (id,) in connection.execute("SELECT vectors FROM embeddings")]
        # As the version before made it.
        connection.execute(f"PRAGMA user_version = {SCHEMA.version - 100}")
    assert len(every) == 153
    memory.project.close()
    with remembering(memory.root) as again:
        take_out(again.project, ids=(secret,))
    with closing(UnitIndex(place)) as index, index.reading() as connection:
        kept = [id for (id,) in connection.execute("SELECT vectors FROM embeddings")]
    assert kept == [id for id in every if id != f"memory:{secret}"]
    assert f"memory:{other}" in kept


# Verifies: REQ-d00320-A
def test_an_index_that_cannot_be_read_at_the_end_is_named_and_left_alone(memory: Memory) -> None:
    memory.store(TEXT)
    home = memory.project.memory.home
    projects = [DerivedFiles(folder, folder.parent, Traces([TEXT])) for folder in state_folders(home)]
    place = memory.root / ".clew" / "search" / "index.db"
    memory.project.close()
    place.write_bytes(b"this is no database" * 400)
    assert str(place.parent.resolve()) in left_in(home, projects, Traces([TEXT]))
    assert place.read_bytes() == b"this is no database" * 400


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
    traces = Traces([TEXT])
    projects = [DerivedFiles(folder, folder.parent, traces) for folder in state_folders(home)]
    for file in (memory.root / "docs" / "amemory").iterdir():
        file.unlink()
    state = (memory.root / ".clew").resolve()
    named = left_in(home, projects, traces)
    assert {str(state / "kb" / "documents.db"), str(state / "search")} <= set(named)
    # What others are packed by is looked at too.
    monkeypatch.setattr("clew.search.purging.repack", lambda connection: None)
    done = take_out(memory.project, ids=(secret,))
    assert (done.left_in, packed_in(memory.root)) == ((str(state / "search"),), {"dictionary"})
    monkeypatch.undo()
    take_out(memory.project, ids=(memory.store(OTHER),))
    assert packed_in(memory.root) == set()


# Verifies: REQ-d00320-A
def test_a_purge_unpacks_every_text_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    mirrored(memory)
    secret = memory.store(f"{OTHER} {SECRET}")
    unpacked: Counter[str] = Counter()

    def counted_texts(connection: Any, units: Iterable[int]) -> dict[int, UnitText]:
        found = texts(connection, units)
        unpacked.update(f"unit {number}" for number in found)
        return found

    def counted_blocks(place: Path, *, after: int = 0) -> Iterator[PackedText]:
        for each in packed_texts(place, after=after):
            unpacked[f"document {each.number}"] += 1
            yield each

    monkeypatch.setattr("clew.search.purging.texts", counted_texts)
    monkeypatch.setattr("clew.memory.purge.derived.packed_texts", counted_blocks)
    take_out(memory.project, ids=(secret,))
    assert len(unpacked) > 300
    assert set(unpacked.values()) == {1}


def unlike(number: int) -> str:
    """A text that hardly becomes smaller when it is packed."""
    return " ".join(sha256(f"{number} {word}".encode()).hexdigest() for word in range(60))


# Verifies: REQ-d00320-A
def test_an_index_that_is_compacted_is_packed_by_what_is_left(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    mirrored(memory)
    monkeypatch.setattr("clew.derived.file._WORTH_TIDYING", 1)
    with closing(UnitIndex(memory.root / ".clew" / "search" / "index.db")) as index:
        index.put(Unit(id=f"long{n}", part="rule", title="", body=unlike(n)) for n in range(300))
        index.delete([*index.hashes("rule"), *(id for id in index.hashes("section") if "amemory" in id)])
        assert "dictionary" in packed_in(memory.root)
        assert index.tidy()
        assert "dictionary" not in packed_in(memory.root)
