"""Deleting what a running project may be writing into at this moment."""

import shutil
from pathlib import Path


def remove(folder: Path) -> None:
    """Delete a folder, with what comes into it meanwhile."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
