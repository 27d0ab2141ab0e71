"""Whatever happens to what is kept, it can be found and mended."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.removing import remove

from clew.edit.locking import locked
from clew.errors import StoreCorrupt, StoreReadOnly
from clew.kb.answer.requests import SearchRequest
from clew.kb.ingest.reconcile import Discrepancy, DiscrepancyKind
from clew.project import Project
from clew.store.sqlite.note import state_of, write_note

Make = Callable[..., Project]
Snapshot = Callable[[Project], Any]

FILES = {
    "docs/one.md": (
        "# One\n\nAbout `--alpha`, REQ-d00001 and [two](two.md#deep).\n\n## Part\n\n1. Do `--beta`.\n2. Rest.\n"
    ),
    "docs/two.md": "---\nowner: Ann\n---\n# Two\n\nAbout `--alpha`.\n\n## Deep\n\nMore on `GAMMA_HOME`.\n",
    "docs/three.txt": "Three\n=====\n\nOn KeyError.\n",
}
_ONE = "SELECT number FROM documents WHERE path = 'docs/one.md'"
_STRAY_SECTION = (
    "INSERT INTO section_rows (hash, end_of_id, document, place, parent, block) VALUES (1, '#x', 77, 0, -1, 0)"
)
LIBRARY, INDEX = ".clew/kb/documents.db", ".clew/search/index.db"


def spoil(project: Project, statement: str) -> None:
    """Change the store behind everybody's back."""
    with sqlite3.connect(project.config.root / LIBRARY) as connection:
        connection.execute(statement)
    connection.close()


# Verifies: REQ-d00190-A
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM documents WHERE path = 'docs/one.md'",
        "DELETE FROM section_rows WHERE end_of_id = '#part' AND document = (" + _ONE + ")",
        "DELETE FROM blocks",
        "DELETE FROM labels",
        "DELETE FROM entities WHERE kind = 'flag'",
        "DELETE FROM mentions",
        "DELETE FROM steps",
        "DELETE FROM cites",
        "DELETE FROM links",
        "UPDATE blocks SET packed = x'00'",
        "UPDATE section_rows SET block = 7",
        "UPDATE section_rows SET parent = -1",
        "UPDATE section_rows SET hash = hash + 1",
        "UPDATE entities SET hash = hash + 1",
        "UPDATE documents SET data = replace(data, 'Ann', 'Bo')",
        "UPDATE documents SET data = 'no JSON'",
        "UPDATE documents SET tag = 'other'",
        "UPDATE mentions SET count = count + 1",
        "INSERT INTO links VALUES (999, 'docs/one.md', '', 0, 'of nothing')",
        "INSERT INTO aliases VALUES ('doc:old.md', 'doc:never.md')",
        _STRAY_SECTION,
    ],
)
def test_any_row_of_the_store_that_is_lost_or_altered_is_noticed_and_mended(
    make: Make, snapshot: Snapshot, statement: str
) -> None:
    project = make(FILES)
    project.kb.index()
    before = snapshot(project)
    rows = {path: project.kb.library.rows_of(path) for path in FILES}
    spoil(project, statement)
    found = project.kb.reconcile(repair=False)
    assert found.left == sum(found.counts.values()) > 0
    mended = project.kb.reconcile()
    assert (mended.repaired, mended.left) == (True, 0)
    assert snapshot(project) == before
    assert {path: project.kb.library.rows_of(path) for path in FILES} == rows
    assert project.kb.reconcile().counts == {}


# Verifies: REQ-d00190-A
def test_a_section_of_no_document_stops_no_indexing_and_is_called_a_section(make: Make, snapshot: Snapshot) -> None:
    project = make(FILES)
    project.kb.index()
    before = snapshot(project)
    spoil(project, _STRAY_SECTION)
    assert project.kb.index().problems == ()
    assert snapshot(project) == before
    assert project.kb.reconcile(repair=False).differences == (Discrepancy(DiscrepancyKind.ROWS, "sections"),)


# Verifies: REQ-d00190-A
def test_a_lost_row_never_takes_good_units_out_of_the_index(make: Make) -> None:
    project = make(FILES)
    project.kb.index()
    spoil(project, "DELETE FROM section_rows WHERE end_of_id = '#part' AND document = (" + _ONE + ")")
    found = project.kb.reconcile(repair=False)
    assert (DiscrepancyKind.DAMAGED, "docs/one.md") in {(each.kind, each.id) for each in found.differences}
    assert DiscrepancyKind.STRAY not in {each.kind for each in found.differences}


def _noise(place: Path) -> None:
    """Begin every table with what is no part of a database; only their names are left."""
    with closing(sqlite3.connect(place)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        first = [page for (page,) in connection.execute("SELECT rootpage FROM sqlite_master WHERE rootpage > 1")]
    content = bytearray(place.read_bytes())
    for page in first:
        content[(page - 1) * size : page * size] = os.urandom(size)
    place.write_bytes(content)


def _cut(place: Path) -> None:
    place.write_bytes(place.read_bytes()[: place.stat().st_size // 2])


def _emptied(place: Path) -> None:
    place.write_bytes(b"")


# Verifies: REQ-d00190-B
@pytest.mark.parametrize("file", [LIBRARY, INDEX])
@pytest.mark.parametrize("damage", [_noise, _cut, _emptied])
@pytest.mark.parametrize("way", ["index", "reconcile"])
def test_a_damaged_file_is_replaced_and_filled_again(
    make: Make, snapshot: Snapshot, file: str, damage: Callable[[Path], None], way: str
) -> None:
    project = make(FILES)
    project.kb.index()
    before = snapshot(project)
    project.close()
    damage(project.config.root / file)
    again = make()
    getattr(again.kb, way)()
    assert snapshot(again) == before
    assert again.kb.reconcile().counts == {}


# Verifies: REQ-d00190-B
def test_who_meets_the_damage_is_told_what_mends_it(make: Make) -> None:
    project = make(FILES)
    project.kb.index()
    project.close()
    file = project.config.root / LIBRARY
    time = file.stat().st_mtime_ns
    _noise(file)
    # As a failing disk does it to a file too large for a checksum of all of it: any other change is met before
    # anything is asked.
    os.utime(file, ns=(time, time))
    write_note(file, state_of(file.stat()))
    with pytest.raises(StoreCorrupt, match="clew kb reconcile"):
        make().kb.status()


# Verifies: REQ-d00190-B
def test_a_store_without_one_of_its_tables_is_made_anew(make: Make, snapshot: Snapshot) -> None:
    project = make(FILES)
    project.kb.index()
    before = snapshot(project)
    project.close()
    spoil(project, "DROP TABLE links")
    again = make()
    again.kb.index()
    assert snapshot(again) == before


# Verifies: REQ-d00190-B
def test_a_store_that_is_deleted_or_made_anew_while_it_is_open_is_opened_again(make: Make, snapshot: Snapshot) -> None:
    project, other = make(FILES), make()
    project.kb.index()
    before = snapshot(project)
    remove(project.config.root / ".clew/kb")
    assert project.kb.status().documents == 0
    assert project.kb.index().added == 3
    assert snapshot(project) == before
    other.kb.library.renew()
    assert project.kb.status().documents == 0
    other.kb.index()
    assert snapshot(project) == before


# Verifies: REQ-d00190-B
def test_a_search_index_that_another_process_made_anew_is_opened_again(make: Make, snapshot: Snapshot) -> None:
    project, other = make(FILES), make()
    project.kb.index()
    before = snapshot(project)
    other.index.rebuild()
    assert project.kb.finder.find(SearchRequest(query="GAMMA_HOME")).sections[0].section.id == "doc:docs/two.md#deep"
    remove(project.config.root / ".clew/search")
    assert project.kb.index().indexed_again == 3
    assert snapshot(project) == before


# Verifies: REQ-d00190-B
def test_where_no_store_can_be_made_that_is_said(make: Make) -> None:
    # Clew makes its own folder: one that it has not made is not believed.
    assert make(FILES).store is not None
    project = make({".clew/kb": "in the way"})
    with pytest.raises(StoreReadOnly, match="cannot be made"):
        project.kb.index()


# Verifies: REQ-d00190-C
def test_nothing_is_mended_while_somebody_else_reads_documents(make: Make) -> None:
    project = make(FILES)
    project.kb.index()
    spoil(project, "DELETE FROM links")
    with (project.config.root / ".clew/kb/writer.lock").open("a+b") as file, locked(file, 0.0):
        report = project.kb.reconcile()
    assert (report.repaired, report.left, report.note) == (False, 1, "Another process is reading the documents.")
    assert project.kb.reconcile().left == 0
