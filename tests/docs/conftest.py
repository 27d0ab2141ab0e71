import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder with a copy of the demo at the place where the documentation has it."""
    ignore = shutil.ignore_patterns(".clew", "__pycache__", ".pytest_cache")
    shutil.copytree(ROOT / "examples" / "demo", tmp_path / "examples" / "demo", ignore=ignore)
    return tmp_path


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
    kept = {name: value for name, value in os.environ.items() if name not in ("CODEX_HOME", "XDG_CONFIG_HOME")}
    environment = {**kept, "HOME": str(home), "COLUMNS": "120"}
    command = Path(sys.executable).with_name("clew")

    def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(command), *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    return run
