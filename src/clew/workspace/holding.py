"""The formats of requirements that a folder holds, by the names in it: nothing is opened."""

# Implements: REQ-d00850

import os
from collections import deque
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from clew.workspace.root import REGISTER, SPECS

_ELSPAIS = ".elspais.toml"
_OF_OPENSPEC = ("specs", "changes")
_MOST_NAMES = 400
"""A folder of requirements in which none of the first names is a Markdown file counts as something else, such as the
tests that Ruby keeps in `spec`."""


class RequirementFormat(StrEnum):
    """A format in which a project keeps requirements of its own."""

    MARKDOWN = "requirements"
    OPENSPEC = "OpenSpec"
    REGISTER = "register"


def formats_in(root: Path, folders: Sequence[str]) -> frozenset[RequirementFormat]:
    """The formats that a project holds; `folders` are those of its requirements, below its root."""
    found = set()
    if (root / _ELSPAIS).exists() or any(_holds_markdown(root / folder) for folder in folders):
        found.add(RequirementFormat.MARKDOWN)
    if any((root / SPECS / name).is_dir() for name in _OF_OPENSPEC):
        found.add(RequirementFormat.OPENSPEC)
    if (root / REGISTER).is_file():
        found.add(RequirementFormat.REGISTER)
    return frozenset(found)


def _holds_markdown(folder: Path) -> bool:
    left, waiting = _MOST_NAMES, deque([str(folder)])
    while waiting and left:
        try:
            with os.scandir(waiting.popleft()) as entries:
                for entry in entries:
                    left -= 1
                    if entry.name.endswith(".md") and not entry.name.lower().startswith("readme"):
                        return True
                    if not left:
                        return False
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return False
