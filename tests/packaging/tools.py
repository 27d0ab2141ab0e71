"""Fresh environments in `.packaging`, and the tools of `requirements-tools.lock` in one of them."""

import shutil
import subprocess
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
WORK = PROJECT / ".packaging"
TOOLS_LOCK = PROJECT / "requirements-tools.lock"
WORDS_LOCK = PROJECT / "requirements-words.lock"
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def fresh(name: str, *, with_pip: bool = False) -> Path:
    """The interpreter of a new environment."""
    shutil.rmtree(WORK / name, ignore_errors=True)
    venv.create(WORK / name, with_pip=with_pip, symlinks=True)
    return WORK / name / "bin" / "python"


def tool(name: str) -> Path:
    """A program of the tools, which are installed when their lock has changed."""
    installed = WORK / "tools" / TOOLS_LOCK.name
    if not installed.exists() or installed.read_bytes() != TOOLS_LOCK.read_bytes():
        run(fresh("tools", with_pip=True), *PIP, "install", "--require-hashes", "-r", TOOLS_LOCK)
        shutil.copyfile(TOOLS_LOCK, installed)
    return WORK / "tools" / "bin" / name


def run(program: Path, *arguments: str | Path) -> None:
    """Run a program that has to succeed; what it prints is shown."""
    subprocess.run([program, *arguments], cwd=PROJECT, check=True)
