"""Lines of requirement files that are meant for programs: `**Level**: DEV | **Status**: Active` below the heading of a
requirement, and `*End* *Title* | **Hash**: 1a2b3c4d` after its text.

They are no part of what a document says, so no answer quotes them. What is shown of the format in a code block is, and
so is a line with any field that no requirement has: `**Level**: Beginner | **Duration**: 45 minutes`.
"""

import re
from functools import cache

_END, _LEVEL = "*End*", "**level"


def structure(text: str) -> list[tuple[int, int]]:
    """The spans of such lines, in order."""
    if _END not in text and _LEVEL not in text.lower():
        return []
    return [found.span() for found in _lines().finditer(text) if found["end"] or _is_metadata(found["fields"] or "")]


@cache
def _lines() -> re.Pattern[str]:
    # Few texts have such lines, and a hook that shows memories has no time to load a format.
    from clew.formats.elspais.fields import FLAG_FIELD, REFERENCE_FIELDS, WORD_FIELDS

    names = "|".join((*WORD_FIELDS, *REFERENCE_FIELDS, FLAG_FIELD))
    field = rf"[ \t]*+\*\*(?:(?:{names})(?::\*\*|\*\*:)[^|\r\n]*+|{FLAG_FIELD}\*\*[ \t]*+)"
    fields = rf"{field}(?:\|{field})*+(?=\r?$)"
    # Code is fenced as `text.sentences` has it: a line with other words neither ends a block nor begins and ends one.
    return re.compile(
        r"^[ \t]*+(?P<mark>`{3,}+(?![^\r\n]*`)|~{3,}+)[^\n]*+\n(?:.*?^[ \t]*+(?P=mark)[`~]*+[ \t]*+\r?$|.*+\Z)"
        r"|^[ \t]*+(?P<end>(?-i:\*End\*)[ \t]++\*[^\r\n]*+)"
        rf"|^(?P<fields>{fields}(?:\r?\n{fields})*+)",
        re.MULTILINE | re.DOTALL | re.IGNORECASE,
    )


def _is_metadata(fields: str) -> bool:
    """True if lines of fields are those of a requirement: a level and something beside it. A page may well name its
    status, or the level of its readers."""
    return _LEVEL in fields.lower() and ("|" in fields or "\n" in fields)
