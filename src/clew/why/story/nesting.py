"""Nesting of lines in languages where indentation decides the block of a line."""

# Implements: REQ-d00361

import io
import tokenize
from collections.abc import Sequence

INDENTED = (".py", ".pyi")


def depends_on_indentation(path: str) -> bool:
    return path.lower().endswith(INDENTED)


def changed_block(before: str, after: str, old: Sequence[int], new: Sequence[int]) -> bool:
    """True if lines are in another depth of blocks than they were, or it cannot be told. The numbers of lines count
    from 1. Lines that continue a statement have the depth of its first line."""
    was, is_now = _depths(before), _depths(after)
    if was is None or is_now is None:
        return True
    return {was.get(line) for line in old} - {None} != {is_now.get(line) for line in new} - {None}


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
