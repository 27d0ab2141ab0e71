"""Findings in an editor, and the actions that mend them."""

import os
import sys
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from tests import forked
from tests.lsp.conftest import Session, session_in
from tests.packaging.environment import Installed

STALE = "spec/ops-harbour.md"
CURVE = "src/fairwater/curve.py"


# Verifies: REQ-d00522-C
def test_findings_appear_and_disappear_with_what_is_saved(own: Session) -> None:
    ask, editor = own.ask, own.editor
    (broken,) = [
        each
        for each in ask(editor.findings, "spec/dev-surface.md", {"trace.broken_reference", "trace.uncovered_assertion"})
        if each.code == "trace.broken_reference"
    ]
    assert (broken.source, broken.severity, broken.range.start.line) == ("clew", 1, 56)
    assert broken.message.startswith("REQ-d00008 implements REQ-o00009, which does not exist.\nCorrect the id")

    ask(editor.open, "tests/test_new.py", "")
    ask(editor.save, "tests/test_new.py", "# Verifies: REQ-d09999\ndef test_new():\n    pass\n")
    (broken,) = ask(editor.findings, "tests/test_new.py", {"trace.broken_reference"})
    assert (broken.range.start.line, broken.range.end.character) == (0, 22)
    ask(editor.save, "tests/test_new.py", "# Verifies: REQ-d00006-C\ndef test_new():\n    pass\n")
    assert ask(editor.findings, "tests/test_new.py", set()) == []
    ask(editor.findings, "spec/dev-surface.md", {"trace.broken_reference"})


# Verifies: REQ-d00522-E
def test_an_action_writes_the_hash_and_the_finding_goes(own: Session) -> None:
    ask, editor = own.ask, own.editor
    ask(editor.open, STALE)
    (stale,) = ask(editor.findings, STALE, {"trace.stale_hash"})
    found = ask(editor.actions, STALE, stale.range.start, [stale])
    action = found["Write the new hash of REQ-o00003"]
    before = (editor.root / STALE).read_text(encoding="utf-8")
    assert "7ae621c6" in before, "nothing is written before the editor applies it"
    assert ask(editor.apply, action.edit) == STALE
    assert (editor.root / STALE).read_text(encoding="utf-8") == before.replace("7ae621c6", "96605ecf")
    assert ask(editor.findings, STALE, set()) == []


# Verifies: REQ-d00522-E
def test_the_action_is_offered_on_the_line_of_the_hash_too(own: Session) -> None:
    ask, editor = own.ask, own.editor
    ask(editor.open, STALE)
    lines = (editor.root / STALE).read_text(encoding="utf-8").split("\n")
    (line,) = (number for number, text in enumerate(lines) if "7ae621c6" in text)
    # An editor sends the findings of the line, and there are none here.
    found = ask(editor.actions, STALE, lsp.Position(line, 0), [])
    assert found["Write the new hash of REQ-o00003"].edit is not None
    assert "Write the new hash of REQ-o00003" not in ask(editor.actions, STALE, lsp.Position(line - 1, 0), [])


# Verifies: REQ-d00522-E
def test_no_action_is_offered_for_a_text_that_is_not_saved(own: Session) -> None:
    ask, editor = own.ask, own.editor
    (stale,) = ask(editor.findings, STALE, {"trace.stale_hash"})
    ask(editor.open, STALE, "Another first line.\n" + (editor.root / STALE).read_text(encoding="utf-8"))
    assert ask(editor.actions, STALE, stale.range.start, [stale]) == {}


# Verifies: REQ-d00522-E
def test_an_action_writes_a_suggested_link_above_the_function(own: Session) -> None:
    ask, editor = own.ask, own.editor
    ask(editor.open, CURVE)
    place = next(
        place
        for line, text in enumerate((editor.root / CURVE).read_text(encoding="utf-8").splitlines())
        if text.startswith("def ") and (place := _linkable(own, line)) is not None
    )
    title, action = next((title, each) for title, each in place.items() if title.startswith("Link to "))
    id = title.removeprefix("Link to ").partition(":")[0]
    before = (editor.root / CURVE).read_text(encoding="utf-8")
    ask(editor.apply, action.edit)
    after = (editor.root / CURVE).read_text(encoding="utf-8")
    assert after.replace(f"# Implements: {id}\n", "", 1) == before
    linked = forked.run(
        [sys.executable, "-m", "clew", "show", id], cwd=editor.root, capture_output=True, text=True, check=True
    )
    assert CURVE in linked.stdout


# Verifies: REQ-d00522-E
def test_a_rejected_link_is_not_offered_again(own: Session) -> None:
    ask, editor = own.ask, own.editor
    ask(editor.open, CURVE)
    lines = (editor.root / CURVE).read_text(encoding="utf-8").splitlines()
    line, place = next(
        (line, place)
        for line, text in enumerate(lines)
        if text.startswith("def ") and (place := _linkable(own, line)) is not None
    )
    reject = next(each for title, each in place.items() if title.startswith("Do not suggest"))
    ask(editor.execute, reject)
    assert reject.title not in (_linkable(own, line) or {})


def _linkable(session: Session, line: int) -> dict[str, Any] | None:
    return session.ask(session.editor.actions, CURVE, lsp.Position(line, 4)) or None


# Verifies: REQ-d00522-F
def test_a_folder_that_is_no_project_of_clew_is_served_too(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("REQ-d00001\n", encoding="utf-8")
    for session in session_in(tmp_path):
        assert session.ask(session.editor.hover, "notes.txt", "REQ-d00001") == ""
        assert session.editor.told.server_info.name == "clew"


# Verifies: REQ-d00522-F
def test_without_the_packages_of_the_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    script = "import sys; sys.modules['pygls'] = None; from clew.surfaces.cli.main import main; sys.exit(main(['lsp']))"
    done = Installed(Path(sys.executable)).script(tmp_path, "-c", script)
    assert done.returncode == 2
    assert "pip install 'clew-mcp[lsp]'" in done.stderr
    assert os.linesep not in done.stdout
