import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from clew.surfaces.cli.commands import init

REQUIREMENT = """\
# REQ-p00001: A title

**Level**: PRD | **Status**: Active | **Implements**: -

## Assertions

A. It SHALL work.

*End* *A title* | **Hash**: 00000000
"""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, so that no test ever meets the configuration of whoever runs it."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    for variable in ("XDG_CONFIG_HOME", "APPDATA", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def plant(project: Path) -> Callable[..., Path]:
    """Put files into the project: plant({"docs/a.md": "text"})."""

    def put(files: dict[str, str]) -> Path:
        for path, text in files.items():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(text, encoding="utf-8", newline="")
        return project

    return put


@pytest.fixture
def requirement() -> str:
    return REQUIREMENT


@pytest.fixture
def run_init(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the command the way the main program does: by the protocol of command modules."""

    def run(*arguments: str, folder: Path | None = None) -> Outcome:
        parser = argparse.ArgumentParser(prog="clew init")
        init.configure(parser)
        code = init.run(parser.parse_args([str(folder or project), *arguments]))
        return Outcome(code, capsys.readouterr().out)

    return run


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, bytes]]:
    """Every file below a folder with its bytes, to prove that nothing changed."""

    def take(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    return take


@pytest.fixture
def protect(tmp_path: Path) -> Iterator[Callable[[Path], None]]:
    """Take the right to write away; skips where the user has it regardless, as root usually does."""
    probe = tmp_path / "probe"
    probe.mkdir()
    probe.chmod(0o500)
    if os.access(probe, os.W_OK):
        pytest.skip("this user may write anywhere")
    protected: list[Path] = []

    def take(path: Path) -> None:
        protected.append(path)
        path.chmod(0o500)

    yield take
    for path in protected:
        path.chmod(0o700)
