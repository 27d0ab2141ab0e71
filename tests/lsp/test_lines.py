"""Lines of a text: an editor ends them at LF, CRLF and CR alone, and shows no byte order mark."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from tests.lsp.conftest import session_in

MARK = b"\xef\xbb\xbf"
PAGED = b"def peal():\n    return 1\n\x0c\n# one\xe2\x80\xa8two\x0bthree\n\npeal()\n"
FILES = {
    "clew.toml": b"",
    "bells.py": PAGED,
    "marked.py": MARK + b"def toll(): return 1\ntoll()\n",
    "old.py": b"def chime():\r    return 1\rchime()\r",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, data in FILES.items():
        (tmp_path / path).write_bytes(data)
    return tmp_path


# Verifies: REQ-d00786-C
@pytest.mark.parametrize("opened", [False, True])
def test_places_are_in_the_lines_that_the_editor_shows(root: Path, opened: bool) -> None:
    for session in session_in(root):
        ask, editor = session.ask, session.editor
        for path in ("bells.py", "marked.py", "old.py") if opened else ():
            ask(editor.open, path)
        assert ask(editor.references, "bells.py", "def peal", "peal") == ["bells.py:6"]
        assert ask(editor.references, "bells.py", "peal()", "peal", declaration=True) == ["bells.py:1", "bells.py:6"]
        assert ask(editor.references, "marked.py", "def toll", "toll") == ["marked.py:2"]
        assert ask(editor.references_at, "marked.py", lsp.Position(0, 4)) == ["marked.py:2"]
        assert ask(editor.references, "old.py", "def chime", "chime") == ["old.py:3"]


# Verifies: REQ-d00786-C
def test_an_edit_behind_a_form_feed_is_applied_where_the_editor_made_it(root: Path) -> None:
    for session in session_in(root):
        ask, editor = session.ask, session.editor
        ask(editor.open, "bells.py")
        ask(editor.change, "bells.py", lsp.Range(lsp.Position(5, 0), lsp.Position(5, 4)), "hush")
        # The saved file still says what the name means; the place is where the editor has another word now.
        assert ask(editor.references_at, "bells.py", lsp.Position(5, 1)) == []
        assert ask(editor.references_at, "bells.py", lsp.Position(0, 5)) == ["bells.py:6"]
