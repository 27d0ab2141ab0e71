"""The spellings that callers may use for the enumerations of a register."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TypeVar

from clew.errors import InvalidArgument
from clew.formats.register.model import LinkKind, Word

AnyWord = TypeVar("AnyWord", bound=Word)

LINK_KINDS = (LinkKind.PARENT, LinkKind.DEPENDS_ON, LinkKind.CONFLICTS, LinkKind.REFINES, LinkKind.VERIFIES)
"""The kinds that lead from requirement to requirement; the others belong to the safety case."""


def parse(written: str, type_: type[AnyWord], what: str, allowed: Sequence[AnyWord] | None = None) -> AnyWord:
    """The value that `depends_on`, `depends-on` or `DependsOn` names."""
    options = {_folded(option.word): option for option in allowed or tuple(type_)}
    found = options.get(_folded(written))
    if found is not None:
        return found
    words = [option.word for option in options.values()]
    close = get_close_matches(written.strip().lower()[:40], words, n=1)
    suggestion = f"Did you mean '{close[0]}'? " if close else ""
    raise InvalidArgument(
        f"Unknown {what}: '{written[:80]}'.", hint=f"{suggestion}{what.capitalize()} is one of {', '.join(words)}."
    )


def _folded(text: str) -> str:
    return text.strip().lower().replace("-", "").replace("_", "")
