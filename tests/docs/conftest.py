import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import forked
from tests.in_process import run

ROOT = Path(__file__).parents[2]

# Where a user's own files are, if not at home: an example that writes there must not meet a test of another page.
OF_A_USER = ("CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder with a copy of the demo at the place where the documentation has it."""
    ignore = shutil.ignore_patterns(".clew", "__pycache__", ".pytest_cache")
    shutil.copytree(ROOT / "examples" / "demo", tmp_path / "examples" / "demo", ignore=ignore)
    return tmp_path


@pytest.fixture(scope="session")
def _committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo in a repository of its own, read once: its examples do not read it anew each."""
    demo = tmp_path_factory.mktemp("committed") / "demo"
    shutil.copytree(ROOT / "examples" / "demo", demo, ignore=shutil.ignore_patterns(".clew", "__pycache__"))
    for step in ("init -q -b main", "add -A", "-c user.name=A -c user.email=a@example.com commit -q -m first"):
        subprocess.run(["git", *step.split()], cwd=demo, check=True)
    assert run(demo, "status").returncode == 0
    return demo


@pytest.fixture
def committed(_committed: Path, tmp_path: Path) -> Path:
    # A copy of a state folder is another machine's for Clew, and a store in it for reading only.
    shutil.copytree(_committed, tmp_path / "demo", ignore=shutil.ignore_patterns(".clew"))
    return tmp_path / "demo"


@pytest.fixture(scope="session")
def _history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history") / "demo"
    subprocess.run([sys.executable, ROOT / "examples" / "history.py", folder], check=True)
    return folder


@pytest.fixture
def with_history(_history: Path, tmp_path: Path) -> Path:
    """The copy of the demo that `make run` opens."""
    shutil.copytree(_history, tmp_path / "demo")
    return tmp_path / "demo"


@pytest.fixture
def clew(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the installed command with a home folder of its own."""
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if name not in OF_A_USER}
    environment = {**kept, "HOME": str(home), "COLUMNS": "120"}
    command = Path(sys.executable).with_name("clew")

    def start(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        return forked.run(
            [str(command), *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    return start
