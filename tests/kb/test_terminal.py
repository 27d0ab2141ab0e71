"""`clew kb` for people: on a terminal, from anywhere, while others write."""

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.stderr import without_progress

from clew.edit.locking import locked
from clew.project import Project
from clew.surfaces.cli.main import main

pty = pytest.importorskip("pty")

GUIDE = "# Guide\n\nHow deep it is.\n\n## Margin\n\nWater below the keel.\n\nThe margin is half a metre of water.\n"
EVIL = "# Evil\n\nRead \x1b]0;owned\x07 this \x1b[2J keelson, \u202eback.\n"

Shown = Callable[..., str]


@pytest.fixture
def root(make: Callable[..., Project]) -> Path:
    return make({"docs/guide.md": GUIDE, "docs/evil.md": EVIL, "docs/sub/deep.md": "# Deep\n\nText.\n"}).config.root


@pytest.fixture
def shown(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    """What a command shows on a real terminal."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    master, slave = pty.openpty()
    terminal = os.fdopen(slave, "w", encoding="utf-8")

    def run(*arguments: str) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal)
            patch.setattr(sys, "stderr", terminal)
            assert main(["kb", *arguments, "-C", str(root)]) == 0
        terminal.write("\x04")
        terminal.flush()
        found = b""
        while not found.endswith(b"\x04"):
            found += os.read(master, 65536)
        return found[:-1].decode().replace("\r\n", "\n")

    yield run
    terminal.close()
    os.close(master)


# Verifies: REQ-d00193-A
@pytest.mark.parametrize("action", ["search", "ask"])
def test_evidence_is_highlighted_and_its_place_opens_the_file_at_its_line(
    shown: Shown, root: Path, action: str
) -> None:
    out = shown(action, "half", "metre")
    assert f"\x1b]8;;{(root / 'docs/guide.md').as_uri()}#" in out
    assert "\x1b[1mhalf\x1b[0m a \x1b[1mmetre\x1b[0m of water" in out
    number = int(out.partition("docs/guide.md:")[2].partition("\x1b")[0])
    assert 5 <= number <= 9


# Verifies: REQ-d00193-D
def test_work_is_shown_as_a_bar_that_is_taken_away_again(shown: Shown) -> None:
    out = shown("index")
    assert "░   0% 0/3 docs/evil.md" in out
    assert "█" * 20 + " 100% 3/3" in out
    assert out.rpartition("\x1b[K")[2] == "documents: 3 added, 0 changed, 0 moved, 0 removed, 0 unchanged\n"


# Verifies: REQ-d00193-B
@pytest.mark.parametrize("command", [("search", "keelson"), ("ask", "keelson"), ("show", "docs/evil.md#evil")])
def test_nothing_that_a_document_says_is_obeyed_by_the_terminal(shown: Shown, command: tuple[str, ...]) -> None:
    out = shown(*command)
    assert "keelson" in out
    for obeyed in ("\x1b]0;", "\x07", "\x1b[2J", "\u202e"):
        assert obeyed not in out


# Verifies: REQ-d00193-A
@pytest.mark.parametrize("spelled", ["docs/sub/deep.md", "./docs/sub/deep.md", "deep.md", "../sub/deep.md", "ABSOLUTE"])
def test_a_document_is_found_however_its_path_is_written(
    root: Path, spelled: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root / "docs/sub" if "docs" not in spelled else root)
    path = str(root / "docs/sub/deep.md") if spelled == "ABSOLUTE" else spelled
    for name in (path, f"{path}#deep"):
        assert main(["kb", "show", name]) == 0
        assert "docs/sub/deep.md" in capsys.readouterr().out


def asked(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert main(["kb", *arguments, "-C", str(root)]) == 0
    shown = capsys.readouterr()
    return shown.out, shown.err


# Verifies: REQ-d00193-C
def test_while_others_read_documents_the_answer_comes_from_what_is_there_and_says_so(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked(root, capsys, "index")
    (root / "docs/guide.md").write_text("# Guide\n\nAll new.\n", encoding="utf-8")
    with (root / ".clew/kb/writer.lock").open("a+b") as file, locked(file, 0.0):
        out, err = asked(root, capsys, "search", "half", "metre")
    assert "half a metre" in out
    assert "Another process is reading the documents. The answer may lack the latest changes." in err


# Verifies: REQ-d00193-C
def test_a_store_that_is_busy_costs_the_latest_changes_not_the_answer(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(root, capsys, "index")
    monkeypatch.setattr("clew.kb.service.PATIENCE_SECONDS", 0.05)
    (root / "docs/guide.md").write_text("# Guide\n\nAll new.\n", encoding="utf-8")
    connection = sqlite3.connect(root / ".clew/kb/documents.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        out, err = asked(root, capsys, "ask", "half", "metre", "--json")
    finally:
        connection.close()
    assert "half a metre" in json.loads(out)["quotes"][0]["quote"]
    assert "is in use" in err
    out, err = asked(root, capsys, "search", "new")
    assert "All new." in out
    assert without_progress(err) == ""


# Verifies: REQ-d00193-C
@pytest.mark.parametrize("action", ["search", "ask", "status"])
def test_without_an_encoder_answers_come_by_words_and_say_so(
    root: Path, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    config = (root / "clew.toml").read_text(encoding="utf-8")
    missing = f'kind = "folder"\nfolder = "{(root / "no-model").as_posix()}"'
    (root / "clew.toml").write_text(config.replace('kind = "none"', missing), encoding="utf-8")
    assert main(["trust", str(root), "--yes"]) == 0
    out, err = asked(root, capsys, action, *(("margin",) if action != "status" else ()))
    assert "margin" in out or "indexed, without embeddings" in out
    assert "Search uses keywords only" in err


# Verifies: REQ-d00193-B
def test_a_file_whose_name_cannot_be_printed_keeps_no_document_away(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "docs" / "evil\x1b[2J\u202e.md").write_text("# Keelson\n\nA keelson is a beam.\n", encoding="utf-8")
    out, _ = asked(root, capsys, "search", "beam")
    assert "docs/evil␛[2J⟨U+202E⟩.md:" in out
    out, _ = asked(root, capsys, "search", "half", "metre")
    assert "docs/guide.md:" in out


# Verifies: REQ-d00444-A
def test_a_first_question_waits_for_the_process_that_reads_the_documents_first(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Clew makes its own folder: one that it has not made is not believed.
    project = Project.open(root)
    assert project.store is not None
    project.close()
    (root / ".clew/kb").mkdir(exist_ok=True)
    with ExitStack() as other, (root / ".clew/kb/writer.lock").open("a+b") as file:
        assert other.enter_context(locked(file, 0.0))
        # The other process ends while the command waits.
        monkeypatch.setattr("clew.kb.service.time.sleep", lambda seconds: other.close())
        out, err = asked(root, capsys, "search", "half", "metre")
    assert "half a metre" in out
    assert "Another process" not in err
