"""Damage as a failing disk does it: the content of a file changes, and the system knows of no write."""

import os
from pathlib import Path


def spoil(path: Path, content: bytes) -> None:
    status = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
