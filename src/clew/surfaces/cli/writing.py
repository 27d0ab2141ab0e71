"""Where a command puts a document: standard output, or a file."""

import sys
from pathlib import Path

from clew.errors import InvalidArgument


def deliver(document: str, file: Path | None) -> None:
    """Print a document, or write it into a file as it is."""
    if file is None:
        sys.stdout.write(document)
        return
    try:
        file.write_text(document, encoding="utf-8", newline="", errors="backslashreplace")
    except OSError as error:
        raise InvalidArgument(
            f"The file '{file}' cannot be written: {error.strerror}.", hint="Name a file in a folder that exists."
        ) from error
