"""The index that is built in the background is built by Clew, whatever lies in the folder."""

import ast
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from clew.store.sqlite.engine import open_sqlite
from clew.store.sqlite.faults import damaged
from clew.surfaces.cli.background import start_indexing

SOURCE = Path(__file__).parents[2] / "src" / "clew"
MODULES = ("clew", "msgspec", "sqlite3", "argparse", "sitecustomize")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with modules in it that leave a mark."""
    root = tmp_path / "clone"
    root.mkdir()
    (root / "clew.toml").write_text('[embedder]\nkind = "none"\n')
    for module in MODULES:
        (root / f"{module}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{module} ')\n")
    monkeypatch.chdir(root)
    return root


# Verifies: REQ-d00648-A
def test_building_the_index_runs_no_module_of_the_folder(clone: Path) -> None:
    assert start_indexing(clone).wait() == 0
    assert not (clone.parent / "ran").exists()
    # The trap is real.
    subprocess.run([sys.executable, "-m", "clew"], check=False, capture_output=True)
    assert (clone.parent / "ran").read_text() == "clew "


# Verifies: REQ-d00648-A
def test_the_rescue_that_an_error_names_runs_no_module_of_the_folder(clone: Path) -> None:
    store = clone / ".clew" / "clew.db"
    store.parent.mkdir()
    open_sqlite(store).close()
    command = shlex.split(damaged(store, "for a test").hint.split("`")[1])
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "Rescued 0 records" in done.stdout
    assert not (clone.parent / "ran").exists()


# Verifies: REQ-d00648-A
def test_every_process_of_python_leaves_the_current_folder_out() -> None:
    started = [
        (path, [each.value if isinstance(each, ast.Constant) else None for each in node.elts[:3]])
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.List | ast.Tuple) and node.elts and ast.unparse(node.elts[0]) == "sys.executable"
    ]
    assert len(started) >= 4
    assert [path for path, words in started if words != [None, "-P", "-m"]] == []
