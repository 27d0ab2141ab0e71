"""Lines of the project's files that hold a word, by git."""

import os
import re

from clew.derived.code_file import STUBS
from clew.why.inquiry import Inquiry
from clew.workspace.git import api as git
from clew.workspace.paths import display


def grep(inquiry: Inquiry, word: str, *patterns: str) -> list[tuple[str, int, str]]:
    """The lines of the project's files that hold a word."""
    options = ("-n", "-w", "-F", "-z", "-I", "--untracked", "-e", word, "--")
    output = git.answer(
        inquiry.root,
        "grep",
        *options,
        *(f":(glob)**/{each}" for each in patterns),
        seconds=inquiry.seconds,
        patterns=True,
    )
    found: list[tuple[str, int, str]] = []
    for row in (output or b"").split(b"\n"):
        parts = row.split(b"\0", 2)
        if len(parts) == 3 and parts[1].isdigit():
            found.append((display(os.fsdecode(parts[0])), int(parts[1]), parts[2].decode("utf-8", "replace")))
    return found


_SHORTEST_NAME = 4


def is_telling(inquiry: Inquiry, name: str) -> bool:
    """Whether a name means one symbol of the project alone, so that a line that holds it is about that one."""
    is_name = len(name) >= _SHORTEST_NAME and re.fullmatch(r"\w+", name) is not None and not name.startswith("__")
    if not is_name:
        return False
    found = inquiry.project.code.file.named(name, 4)
    return len([each for each in found if not each.path.endswith(STUBS)] or found) == 1
