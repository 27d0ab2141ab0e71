"""Whether a file of Markdown specs, once it is written, holds the requirements and journeys that it should."""

from collections import Counter
from collections.abc import Iterable

from clew.errors import Rejected
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import FileRecords, Journey, Requirement

_FAULTS = frozenset({"elspais.missing_end", "elspais.stray_end", "elspais.unclosed_fence"})
"""What shows that a text runs over its end."""


def keeps_blocks(before: bytes, after: bytes, grammar: IdGrammar, added: Iterable[str] = ()) -> bool:
    """Whether all that there was, and what is added, is read in this order, and no end of it is lost."""
    former, found = read(before, grammar), read(after, grammar)
    return _ids(found) == [*_ids(former), *added] and _faults(found) <= _faults(former)


def open_fence(path: str, line: int) -> Rejected:
    """Why a file takes nothing into the code block that begins in a line and is never closed, nor behind it: whatever
    stands there is read as code, so nobody can say what of it is meant to stay."""
    return Rejected(
        f"{path} would not be read as the requirements that it holds: the code block that begins in line {line} is "
        "never closed. Nothing is imported.",
        hint=f"Close the code block of line {line}, and import again.",
    )


def _ids(records: FileRecords) -> list[str]:
    return [each.id for each in records.blocks if isinstance(each, Requirement | Journey)]


def _faults(records: FileRecords) -> Counter[str]:
    return Counter(each.code for each in records.diagnostics if each.code in _FAULTS)
