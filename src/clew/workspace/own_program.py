"""Where the program that is running lies."""

import sys
from pathlib import Path

_NAME = "clew"


def own_program() -> Path | None:
    """The file that starts this very Clew; None where there is none, as under a test runner of another environment."""
    running = Path(sys.argv[0])
    if running.stem != _NAME or not running.is_file():
        running = Path(sys.executable).with_name(f"{_NAME}.exe" if sys.platform == "win32" else _NAME)
    return running.absolute() if running.is_file() else None
