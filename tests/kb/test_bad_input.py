"""Documents as they are found in the wild, and work that is killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew.formats.documents import docstrings
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.settings import ElspaisSettings
from clew.kb.ingest.citations import Citations
from clew.kb.ingest.prepare import prepare
from clew.project import Project
from clew.workspace.files import FileEntry

Make = Callable[..., Project]
Snapshot = Callable[[Project], Any]


def write(project: Project, path: str, data: bytes) -> None:
    place = project.config.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def texts(project: Project) -> dict[str, str]:
    with project.kb.library.reading() as reading:
        return {id: reading.text(id) or "" for id in reading.section_ids()}


def problems(project: Project) -> set[tuple[str, str]]:
    return {(each.path, each.code) for each in project.kb.status().problems}


# Verifies: REQ-d00191-A
def test_every_usual_encoding_is_read_and_what_is_no_text_is_named(make: Make) -> None:
    project = make()
    page = "# Über\n\nDas Café am Hafen.\n"
    for number, encoding in enumerate(("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252")):
        write(project, f"docs/{number}.md", page.encode(encoding))
    write(project, "docs/image.md", bytes(range(256)) * 4)
    assert project.kb.index().added == 8
    assert texts(project) == {f"doc:docs/{number}.md#uber": page.strip() for number in range(7)}
    assert problems(project) == {("docs/6.md", "documents.encoding"), ("docs/image.md", "documents.binary")}


# Verifies: REQ-d00191-B
def test_documents_of_one_block_of_lists_in_lists_and_of_broken_pages_are_kept_whole(make: Make) -> None:
    code = "```\n" + "".join(f"value_{number} = {number}\n" for number in range(2000)) + "```"
    nested = "".join(f"{'  ' * depth}- level {depth}\n" for depth in range(300))
    project = make({"docs/code.md": code, "docs/nested.md": nested})
    write(project, "docs/broken.html", b"<h1>A<h2>B<p>one<table><tr><td>1<td>2<ul><li>x</h1></ul></table></div><b")
    write(project, "docs/deep.html", b"<ul><li>x" * 500)
    outputs = [
        {"output_type": "stream", "text": ["printed\n"]},
        {"output_type": "error", "traceback": ["KeyError: 'x'"]},
    ]
    cells = [{"cell_type": "code", "source": ["run()"], "outputs": outputs}, {"cell_type": "markdown", "source": "# T"}]
    write(project, "docs/note.ipynb", json.dumps({"cells": cells, "nbformat": 4}).encode())
    report = project.kb.index()
    assert (report.added, report.problems) == (5, ())
    found = texts(project)
    joined = {path: "\n".join(text for id, text in found.items() if path in id).split() for path in ("code", "nested")}
    assert joined == {"code": code.split(), "nested": nested.split()}
    assert found["doc:docs/note.ipynb#preamble"] == "run()\n\nprinted\n\nKeyError: 'x'"
    assert project.kb.reconcile().counts == {}


# Verifies: REQ-d00191-B
def test_front_matter_of_every_type_is_kept(make: Make) -> None:
    front = "+++\ndate = 2024-02-01\nwhen = 2024-02-01T10:00:00Z\nratio = nan\n[author]\nname = 'Ann'\n+++\n"
    project = make({"docs/a.md": f"{front}# T\n", "docs/b.md": "---\n- odd\nkey: {a: 1}\n---\n# T\n"})
    project.kb.index()
    node = project.kb.region.get_node("doc:docs/a.md")
    assert node is not None
    assert node.fields["front_matter"] == {
        "date": "2024-02-01",
        "when": "2024-02-01T10:00:00Z",
        "ratio": None,
        "author": {"name": "Ann"},
    }
    assert project.kb.reconcile().counts == {}


# Verifies: REQ-d00191-C
def test_a_fault_in_a_reader_costs_one_document_and_is_reported(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("not foreseen")

    monkeypatch.setattr(docstrings, "_documented", fails)
    project = make({"docs/a.py": '"""A."""\n', "docs/b.md": "# B\n\nFine.\n"})
    assert project.kb.index().added == 2
    assert texts(project) == {"doc:docs/b.md#b": "# B\n\nFine."}
    assert problems(project) == {("docs/a.py", "documents.unreadable")}


# Verifies: REQ-d00191-D
def test_what_leads_out_of_the_project_or_in_circles_is_left_out_and_named(make: Make, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n")
    project = make({"docs/a.md": "# A\n"})
    docs = project.config.root / "docs"
    (docs / "out.md").symlink_to(tmp_path / "secret.md")
    (docs / "folder").symlink_to(tmp_path)
    (docs / "circle").symlink_to(docs)
    (docs / "self.md").symlink_to(docs / "self.md")
    report = project.kb.index()
    assert report.added == 1
    named = " ".join(report.problems)
    assert "docs/out.md leads out of the project" in named
    assert "docs/folder leads out of the project" in named
    assert "Secret" not in " ".join(texts(project).values())


# Verifies: REQ-d00191-B
def test_a_long_section_costs_no_more_for_each_chunk_than_a_short_one() -> None:
    def steps(paragraphs: int) -> int:
        entry = FileEntry("a.md", 0, 0)
        data = b"# A\n\n" + b"The tide turns here.\n\n" * paragraphs
        counted = 0

        def step(frame: Any, event: str, argument: Any) -> None:
            nonlocal counted
            counted += 1

        sys.setprofile(step)
        try:
            prepare(data, entry, citations)
        finally:
            sys.setprofile(None)
        return counted

    citations = Citations(IdGrammar(ElspaisSettings()))
    steps(1)
    assert steps(3000) < 11 * steps(300)


_CHILD = """
import os, signal, sys
from clew.project import Project

project = Project.open(sys.argv[1])
calls = 0

def step(frame, event, argument):
    global calls
    calls += 1
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

project.kb.library, project.index
sys.setprofile(step)
project.kb.index()
"""


# Verifies: REQ-d00094-D
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process can be killed without warning here")
def test_a_process_that_is_killed_anywhere_leaves_whole_documents_and_the_next_goes_on(
    make: Make, snapshot: Snapshot
) -> None:
    files = {f"docs/{number}.md": f"# Page {number}\n\nOn `--flag-{number}`.\n\n## Part\n\nx\n" for number in range(80)}
    project = make(files)
    root = project.config.root
    project.close()
    for calls in (20_000, 15_000, 12_345):
        child = subprocess.run([sys.executable, "-c", _CHILD, str(root), str(calls)], check=False, env=os.environ)
        assert child.returncode == -signal.SIGKILL
        between = make()
        with between.kb.library.reading() as reading:
            for document in reading.documents():
                assert len(reading.sections_of(document.path)) == 2
        assert between.kb.library.strays() == {}
        between.close()
    again, fresh = make(), make(files, name="fresh")
    assert 0 < again.kb.status().documents < 80
    again.kb.index()
    fresh.kb.index()
    assert snapshot(again) == snapshot(fresh)
    assert again.kb.reconcile().counts == {}
