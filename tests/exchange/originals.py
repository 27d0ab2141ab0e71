"""The tools whose formats Clew reads and writes, from the Python package index, in an environment of their own."""

import subprocess
import sys
from pathlib import Path

from tests.node import INSTALL_SECONDS, WORK, run

PACKAGES = ("strictdoc==0.30.4", "sphinx-needs==9.1.0", "doorstop==3.2", "reqif==0.1.0", "bmw-lobster-core==1.0.6")
HOME = WORK / "exchange-tools-1"
COMPLETE = HOME / "complete"
"""Is there once everything is installed: a half-installed environment is never used."""
PATIENCE_SECONDS = 300


def install() -> None:
    if COMPLETE.exists():
        return
    WORK.mkdir(exist_ok=True)
    advice = "Check that this machine reaches the Python package index, then run `make exchange` again."
    run([sys.executable, "-m", "venv", "--clear", str(HOME)], WORK, "make an environment", advice)
    pip = [str(HOME / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *PACKAGES], check=True, timeout=2 * INSTALL_SECONDS)
    COMPLETE.touch()


def original(program: str, folder: Path, *arguments: str) -> str:
    """What a tool says; an assertion fails with it where the tool is not content."""
    done = subprocess.run(
        [str(HOME / "bin" / program), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{program} {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
