"""The file that holds the documents: what it is made for, and what reading it takes."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clew.derived.file import DerivedFile
from clew.kb.ingest.corpus import Ingestion
from clew.kb.ingest.library import Library
from clew.kb.ingest.library_file import KINDS, SCHEMA, version
from clew.project import Project
from clew.search.index import UnitIndex
from clew.search.units import Unit


# Verifies: REQ-o00010-C
@pytest.mark.parametrize("kinds", [("aaa", *KINDS), (*KINDS, "zzz"), KINDS[1:], KINDS[::-1]])
def test_a_file_with_the_numbers_of_other_kinds_of_entities_is_made_anew(
    tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    assert SCHEMA.version == version(KINDS)
    later = SCHEMA._replace(version=version(kinds))
    with closing(DerivedFile(tmp_path / "documents.db", SCHEMA)) as file, file.writing() as connection:
        connection.execute("INSERT INTO entities (hash, kind_number, normal) VALUES (1, 1, 'tide')")
    with closing(DerivedFile(tmp_path / "documents.db", later)) as file, file.reading() as connection:
        assert "another version of Clew" in file.notes[0]
        assert connection.execute("SELECT count(*) FROM entities").fetchone() == (0,)


# Verifies: REQ-d00320-A
def test_the_earlier_names_of_twice_as_many_sections_take_twice_the_work(tmp_path: Path) -> None:
    some, twice = (work(tmp_path / f"{count}.db", count) for count in (50, 100))
    assert twice < 2.5 * some


def work(path: Path, documents: int) -> int:
    """How many hundreds of its instructions SQLite takes to read all earlier names, of which each section has one."""
    steps: list[int] = []
    with closing(DerivedFile(path, SCHEMA)) as file:
        with file.writing() as connection:
            fill(connection, documents)
        with file.reading() as connection:
            connection.set_progress_handler(lambda: steps.append(1), 100)
            found = connection.execute("SELECT name, path FROM earlier_names").fetchall()
            connection.set_progress_handler(None, 0)
    assert sorted(found) == sorted(
        (f"doc:old{number}.md{end}", f"{number}.md") for number in range(documents) for end in ("", "#0", "#1", "#2")
    )
    return len(steps)


def fill(connection: sqlite3.Connection, documents: int) -> None:
    columns = "path, tag, environment, repository, content_hash, size, mtime_ns, reader, data, indexed"
    for number in range(documents):
        values = (f"{number}.md", "", "", "", "", 0, 0, "", b"", 1)
        document = connection.execute(f"INSERT INTO documents ({columns}) VALUES ({', '.join('?' * 10)})", values)
        connection.execute("INSERT INTO aliases VALUES (?, ?)", (f"doc:old{number}.md", f"doc:{number}.md"))
        for place in range(3):
            connection.execute(
                "INSERT INTO section_rows (hash, end_of_id, document, place, parent, block) VALUES (1, ?, ?, ?, -1, 0)",
                (f"#{place}", document.lastrowid, place),
            )
            alias = (f"doc:old{number}.md#{place}", f"doc:{number}.md#{place}")
            connection.execute("INSERT INTO aliases VALUES (?, ?)", alias)


# Verifies: REQ-o00010-D
def test_documents_that_another_process_keeps_busy_do_not_keep_the_index_from_being_tidied(
    make: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make({"docs/one.md": "# One\n\nAbout the tide.\n"})
    # A file whose time is long past is not looked at again, so that nothing is written.
    os.utime(project.config.root / "docs/one.md", (1_000_000_000, 1_000_000_000))
    project.kb.index()
    engine = project.index.engine
    assert engine is not None
    assert isinstance(engine.units, UnitIndex)
    engine.units.put(Unit(id=f"rule{n}", part="rule", title=f"{n}", body=f"word{n} " * 50) for n in range(900))
    monkeypatch.setattr("clew.derived.file._WORTH_TIDYING", 1)
    path = project.kb.library.path
    with (
        closing(Library(path, patience=0.05)) as library,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        assert Ingestion(project.kb._corpus, library, engine).run().unchanged == 1
        other.execute("ROLLBACK")
        assert library.tidy()
    assert not engine.units.tidy()
