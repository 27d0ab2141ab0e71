"""Files of the user's own, outside of any project."""

from itertools import islice
from pathlib import Path


def matching(folder: Path, pattern: str, most: int) -> list[Path]:
    """Some of the files below a folder whose paths match a pattern; none where the folder cannot be read."""
    try:
        return list(islice(folder.glob(pattern), most))
    except OSError:
        return []
