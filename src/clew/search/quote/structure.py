"""Lines of requirement files that tell programs something: `**Level**: DEV | **Status**: Active` below the heading of a
requirement, and `*End* *Title* | **Hash**: 1a2b3c4d` behind its text.

They are no part of what a document says, so no answer quotes them. What is shown of the format in a code block is.
"""

import re

from clew.formats.elspais.fields import FLAG_FIELD, REFERENCE_FIELDS, WORD_FIELDS

_NAMES = "|".join((*WORD_FIELDS, *REFERENCE_FIELDS, FLAG_FIELD))
_FIELD = r"[ \t]*+\*\*[^*|\r\n]++\*\*[^|\r\n]*+"
_FIELDS = rf"[ \t]*+\*\*(?:{_NAMES})(?::\*\*|\*\*:)[^|\r\n]*+(?:\|{_FIELD})*+(?=\r?$)"
_LINES = re.compile(
    r"^[ \t]*+(?P<mark>`{3,}+|~{3,}+)[^\n]*+\n(?:.*?^[ \t]*+(?P=mark)|.*+\Z)"
    r"|^[ \t]*+(?P<end>(?-i:\*End\*)[ \t]++\*[^\r\n]*+)"
    rf"|^(?P<fields>{_FIELDS}(?:\r?\n{_FIELDS})*+)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_END, _LEVEL = "*End*", "**level"


def structure(text: str) -> list[tuple[int, int]]:
    """Where such lines stand, in order."""
    if _END not in text and _LEVEL not in text.lower():
        return []
    return [found.span() for found in _LINES.finditer(text) if found["end"] or _is_metadata(found["fields"] or "")]


def _is_metadata(fields: str) -> bool:
    """Whether lines of fields are those of a requirement: a level and something beside it. A page may well say what its
    status is, or for which level of readers it was written."""
    return _LEVEL in fields.lower() and ("|" in fields or "\n" in fields)
