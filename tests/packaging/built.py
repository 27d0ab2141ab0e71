"""What a release consists of: the wheel and the source archive, built as a release builds them."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.packaging.tools import PROJECT


class Built(NamedTuple):
    wheel: Path
    sdist: Path


def build(target: Path, source: Path = PROJECT) -> Built:
    """The wheel and the source archive of a folder, written by the backend that pyproject.toml names."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", target], cwd=source, check=True, stdout=subprocess.PIPE
    )
    (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    return Built(wheel, sdist)
