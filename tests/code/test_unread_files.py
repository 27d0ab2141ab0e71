"""Files whose uses cannot be read: an answer names those that may hold the name."""

import sys
from pathlib import Path

import pytest
from tests.code.asking import answer, opened, places, write

from clew.graph.code import keeper

BELLS = "def toll_slowly():\n    return 1\n\n\ndef chime_softly():\n    return 2\n"


def notes(project: object, target: str) -> str:
    return " ".join(answer(project, target)["notes"])  # type: ignore[arg-type]


# Verifies: REQ-d00742-G
def test_a_file_with_an_error_is_named_where_it_holds_the_name(tmp_path: Path) -> None:
    files = {"bells.py": BELLS, "broken.py": "from bells import toll_slowly\n\ntoll_slowly(\n", "fine.py": "x = 1\n"}
    with opened(tmp_path, files) as project:
        found = answer(project, "toll_slowly")
        assert (found["uses"], found["looked_at"]) == ([], 1)
        said = " ".join(found["notes"])
        assert "Uses could not be read in files that may hold the name 'toll_slowly': broken.py (line 3: " in said
        assert "broken.py" not in notes(project, "chime_softly")
        write(tmp_path, {"broken.py": "from bells import toll_slowly\n\ntoll_slowly()\n"})
        found = answer(project, "toll_slowly")
        assert places(found) == ["broken.py:3"]
        assert "broken.py" not in " ".join(found["notes"])


# Verifies: REQ-d00742-G
def test_a_file_with_an_error_is_named_beside_uses_too(tmp_path: Path) -> None:
    files = {"bells.py": BELLS + "\n\ntoll_slowly()\n", "broken.py": "toll_slowly(\n", "broken.ts": "toll_slowly("}
    with opened(tmp_path, files) as project:
        found = answer(project, "toll_slowly")
        assert places(found) == ["bells.py:9"]
        assert "broken.py (line 1: " in " ".join(found["notes"])
        assert "broken.ts" not in " ".join(found["notes"])


# Verifies: REQ-d00742-G
def test_a_large_file_is_named_where_it_holds_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "LARGEST_FILE", 4_000)
    monkeypatch.setattr(keeper, "LARGEST_SCAN", 20_000)
    large = "# a line of a long table\n" * 300
    files = {"bells.py": BELLS, "large.py": "toll_slowly\n" + large, "largest.py": large * 4}
    with opened(tmp_path, files) as project:
        assert "large.py (it is larger than 0.004 MB)" in notes(project, "toll_slowly")
        # Nothing is known of the words in one that is larger still.
        said = notes(project, "chime_softly")
        assert "largest.py (it is larger than 0.004 MB)" in said
        assert "large.py" not in said.replace("largest.py", "")


# Verifies: REQ-d00742-G
@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions of POSIX")
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"bells.py": BELLS, "closed.py": "toll_slowly()\n"})
    read = keeper.read_bytes

    def refusing(root: Path, path: str, *, limit: int) -> bytes:
        # Root may open every file, so the refusal is the system's only for others.
        if path == "closed.py":
            raise keeper.ClewError("closed")
        return read(root, path, limit=limit)

    monkeypatch.setattr(keeper, "read_bytes", refusing)
    with opened(tmp_path, {}) as project:
        assert "closed.py (it cannot be opened)" in notes(project, "toll_slowly")


# Verifies: REQ-d00742-G
def test_many_files_with_errors_are_counted(tmp_path: Path) -> None:
    files = {"bells.py": BELLS, **{f"broken{number}.py": "toll_slowly(\n" for number in range(7)}}
    with opened(tmp_path, files) as project:
        said = notes(project, "toll_slowly")
        assert said.count("broken") == 4
        assert "and 3 more files." in said
