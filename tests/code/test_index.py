"""The index of source files: its limit, its privacy, and what becomes of a damaged one."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.code.asking import answer, opened, places, write

from clew.graph.code.keeper import CodeKeeper

HORN = "def blow():\n    return 1\n"
GO = "import horn\nhorn.blow()\n"


@contextmanager
def keeping(root: Path, largest: int) -> Iterator[CodeKeeper]:
    keeper = CodeKeeper(root, lambda: root / ".clew" / "code", 1_000_000, largest)
    try:
        yield keeper
    finally:
        keeper.close()


# Verifies: REQ-d00740-E
def test_an_index_that_is_full_says_so_and_keeps_up_with_the_files_in_it(tmp_path: Path) -> None:
    write(tmp_path, {"horn.py": HORN, "go.py": GO})
    (tmp_path / ".clew" / "code").mkdir(parents=True)
    with keeping(tmp_path, 10_000_000) as keeper:
        assert keeper.ensure() == ()
    with keeping(tmp_path, 1) as keeper:
        assert keeper.ensure() == ()
        write(tmp_path, {"late.py": GO, "later.py": GO, "go.py": f"\n{GO}"})
        (note,) = keeper.ensure()
        assert "limit of 0 MB: 2 files could not be read into it" in note
        assert [each.path for each in keeper.file.with_name("blow")] == ["go.py", "horn.py"]
        assert [line for line, *_ in _sites(keeper, "go.py", "blow")] == [3]
        (tmp_path / "late.py").unlink()
        (note,) = keeper.ensure()
        assert "1 file could not be read" in note
    with keeping(tmp_path, 10_000_000) as keeper:
        assert keeper.ensure() == ()
        assert [each.path for each in keeper.file.with_name("blow")] == ["go.py", "horn.py", "later.py"]


def _sites(keeper: CodeKeeper, path: str, name: str) -> Iterator[tuple[int, ...]]:
    record = keeper.file.record(path)
    assert record is not None
    numbers = dict(record.facts.sites)[record.facts.names.index(name)]
    return (numbers[at : at + 5] for at in range(0, len(numbers), 5))


# Verifies: REQ-d00740-F
def test_the_index_is_for_its_user_alone_and_a_damaged_one_is_thrown_away(tmp_path: Path) -> None:
    with opened(tmp_path, {"horn.py": HORN, "go.py": GO}) as project:
        assert places(answer(project, "blow")) == ["go.py:2"]
        (file,) = Path(project.context.derived_folder).rglob("code.db")
        assert file.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE records SET facts = symbols")
    with opened(tmp_path, {}) as project:
        assert places(answer(project, "blow")) == ["go.py:2"]


# Verifies: REQ-d00740-D
def test_chains_and_circles_of_any_length_are_answered(tmp_path: Path) -> None:
    bell = "class A:\n    def ring(self): ...\n"
    functions = "".join(f"def f{n}(): return f{n - 1}()\n" for n in range(1, 3_000))
    classes = "".join(f"class A{n}(A{n - 1}): ...\n" for n in range(1, 3_000))
    files = {
        "functions.py": f"from bell import A\ndef f0(): return A()\n{functions}f2999().ring()\n",
        "classes.py": f"from bell import A as A0\n{classes}A20().ring()\nA2999().ring()\n",
        "circle.py": "from bell import A\ndef f(x): return g(x) or A()\ndef g(x): return f(x)\ng(1).ring()\n",
        "bell.py": bell,
    }
    with opened(tmp_path, files) as project:
        found = answer(project, "bell.py::A.ring")
    assert {"circle.py:4", "classes.py:3001", "functions.py:3002"} <= set(places(found))
