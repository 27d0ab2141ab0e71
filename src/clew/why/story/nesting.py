"""Nesting of lines in languages where indentation decides the block of a line."""

# Implements: REQ-d00361

import io
import tokenize
from collections.abc import Sequence

INDENTED = (".py", ".pyi")


def depends_on_indentation(path: str) -> bool:
    return path.lower().endswith(INDENTED)


class Nesting:
    """Depths of the lines of a file before and after a commit. The numbers of lines count from 1. Lines that continue a
    statement have the depth of its first line. A text that could not be read is empty."""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = (_depths(text) if text else None for text in (before, after))

    def is_kept(self, old: Sequence[int], new: int) -> bool:
        """True if a line is in the same depth of blocks as it was; False also where it cannot be told."""
        if self._before is None or self._after is None:
            return False
        now = self._after.get(new)
        return now is None or {self._before.get(line) for line in old} <= {None, now}


def _depths(text: str) -> dict[int, int] | None:
    """The depth of each line with code; None for a text that is no Python."""
    found: dict[int, int] = {}
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.INDENT:
                depth += 1
            elif token.type == tokenize.DEDENT:
                depth -= 1
            elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER):
                for line in range(token.start[0], token.end[0] + 1):
                    found.setdefault(line, depth)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return found
