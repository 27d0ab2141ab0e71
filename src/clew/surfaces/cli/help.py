"""`clew help`: the commands by task, each with an example that can be typed."""

# Implements: REQ-d00443

import shutil
import sys
import textwrap
from pathlib import Path

from clew import __version__
from clew.text.terminal import coloured

WIDTH = 100
"""Columns where there is no terminal."""
_LONGEST_EXAMPLE = 36


def overview(prepared: str) -> int:
    """Print the page that `make docs` prepared: headings, and below them examples with their explanations."""
    width = min(shutil.get_terminal_size().columns, 120) if sys.stdout.isatty() else WIDTH
    print(coloured(f"clew {__version__}", "bold") + ": one thread through everything a project knows.")
    for line in Path(prepared).read_text(encoding="utf-8").splitlines():
        example, tab, summary = line.partition("\t")
        if tab:
            print("\n".join(_row(example, summary, width)))
        else:
            print(coloured(line, "bold") if line and not line.startswith("`") else line)
    return 0


def _row(example: str, summary: str, width: int) -> list[str]:
    column = min(_LONGEST_EXAMPLE, width // 2)
    first = f"  {coloured(example, 'cyan')}"
    rest = textwrap.wrap(summary, max(width - column - 2, 20)) or [""]
    if len(example) > column - 2:
        return [first, *(" " * (column + 2) + row for row in rest)]
    padded = first + " " * (column - len(example))
    return [padded + rest[0], *(" " * (column + 2) + row for row in rest[1:])]
