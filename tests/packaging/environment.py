"""Environments that lack the packages of the encoder, and the command line inside them."""

import os
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

import clew
from clew.search.embed.minilm import VOCABULARY, WEIGHTS

ENCODER = (WEIGHTS.package, VOCABULARY.package)
PYTHON_VARIABLE = "CLEW_WITHOUT_ENCODER"
"""Names the interpreter of an installation without the encoder, where the tests shall not make an imitation of one."""
COMMAND_VARIABLE = "CLEW_MCP_COMMAND"
"""The words that start `clew-mcp`, as a list of JSON, where another installation than this one shall serve."""
RUN_SECONDS = 300


class Installed(NamedTuple):
    """An installation of Clew."""

    python: Path

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of Clew in a folder."""
        return self.script(folder, "-m", "clew", *arguments)

    def script(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, *arguments],
            cwd=folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )

    def environment(self) -> dict[str, str]:
        """The environment of this process, but for what would bring other packages in."""
        return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def installed_without_encoder(folder: Path) -> Installed:
    """An environment with links to every package that this one has, but for those of the encoder."""
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    left_out = {file.parts[0] for name in ENCODER for file in distribution(name).files or ()}
    (packages / "clew").symlink_to(Path(clew.__file__).parent, target_is_directory=True)
    for place in map(Path, sys.path):
        if place.name not in {"site-packages", "dist-packages"}:
            continue
        for path in place.iterdir():
            link = packages / path.name
            if path.suffix != ".pth" and path.name not in left_out and not link.is_symlink() and not link.exists():
                link.symlink_to(path)
    return Installed(folder / "bin" / "python")
