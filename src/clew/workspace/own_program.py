"""Path of the running program."""

import sys
from pathlib import Path

_NAME = "clew"
DISTRIBUTION = "clew-mcp"
"""The name of Clew in the package index, and of the command that serves."""


def own_program() -> Path | None:
    """The file that starts this very Clew; None where there is none, as under a test runner of another environment."""
    running = Path(sys.argv[0])
    if running.stem != _NAME or not running.is_file():
        running = Path(sys.executable).with_name(f"{_NAME}.exe" if sys.platform == "win32" else _NAME)
    return running.absolute() if running.is_file() else None


def is_run_by_uvx() -> bool:
    """True if this is an environment that uvx made in its cache, which is gone once the cache is emptied."""
    folder = Path(sys.prefix).resolve().parent
    return folder.name.startswith(("archive-v", "environments-v")) and (folder.parent / "CACHEDIR.TAG").is_file()
