"""What lies in one folder, whatever the project selects or git ignores."""

import os
from pathlib import Path


def names_in(folder: Path) -> list[str]:
    """The names in a folder, sorted; none where there is no such folder. OSError where it may not be listed."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []


def files_below(folder: Path) -> list[Path]:
    """Every file in a folder and the folders below it, sorted. Linked folders are not entered."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
