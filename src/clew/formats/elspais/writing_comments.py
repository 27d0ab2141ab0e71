"""Editing references in comments of code and tests, one line at a time."""

import re

_KEYWORD = re.compile(r"implements|refines|verifies|validates|tests", re.IGNORECASE)


def with_reference(line: str, written: str, text: str) -> str | None:
    """The line with another reference in the place of one; None where the reference does not stand there.

    What stands before the keyword is code. A line without keyword continues the list of the line above.
    """
    keyword = _KEYWORD.search(line)
    start = keyword.end() if keyword is not None else 0
    head, tail = line[:start], line[start:]
    pattern = re.compile(rf"(?<![\w-]){re.escape(written)}(?![\w+]|-\w)")
    changed, number = pattern.subn(lambda match: text, tail)
    return head + changed if number else None
