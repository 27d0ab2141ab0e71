"""Standard error without the lines that tell how far long work is: only a slow machine gets them."""

import re

_PROGRESS = re.compile(r"^clew: .* \d+/\d+\n", re.MULTILINE)


def without_progress(stderr: str) -> str:
    return _PROGRESS.sub("", stderr)
