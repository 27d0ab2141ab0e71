"""Terms that a document capitalises, repeats or defines."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clew.text.keywords import STOP_WORDS

RECURRING = 2
"""How often a document has a capitalised name before it is a term of it."""
_NAME = re.compile(
    r"(?<![\w/.@#`-])(?:[A-Z][a-z]+|[A-Z]{2,}[a-z]?|[A-Z][a-z]+[A-Z]\w*)(?: (?:[A-Z][a-z]+|[A-Z]{2,}))*(?![\w/@`-])"
)
_OPENS = re.compile(r"(?:^|[.!?:;]\s+|\n\s*|[|(\[\"“*>#-]\s*)$")
_CALENDAR = """
    monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march april
    may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
"""
_NO_TERM = frozenset(_CALENDAR.split()) | frozenset(
    {"note", "tip", "warning", "important", "example", "true", "false", "none"}
)
_DEFINED = (
    re.compile(r"\*\*([^*\n]{2,60})\*\*(?=\s*(?::|—|–|-\s|(?:is|are|means|stands for)\b))"),
    re.compile(r"\*\*([^*\n]{2,60}):\*\*"),
    re.compile(r"(?:^|[.\s])(?:[Aa]n?|[Tt]he)\s+(?<!\*)\*([^*\n]{2,60})\*(?!\*)\s+(?:is|are|means|says)\b"),
    re.compile(r"(?:^|\n)(?<![*\w])\*([^*\n]{2,60})\*(?!\*)\s+(?:is|are|means)\b"),
    re.compile(r"(?:^|\n)([^\n:|`#>*-][^\n:|]{1,59})\n:\s+\S"),
    re.compile(r"<dfn[^<>]*>([^<>]{2,60})</dfn>"),
)


class CapitalisedName(NamedTuple):
    name: str
    opens: bool
    """Whether it stands where every word has a capital: at the beginning of a sentence."""


def capitalised_names(text: str) -> Iterator[CapitalisedName]:
    """The capitalised names of prose."""
    for match in _NAME.finditer(text):
        before = text[max(0, match.start() - 3) : match.start()]
        opens = match.start() == 0 or _OPENS.search(before) is not None
        name = match[0]
        first = name.split(" ", 1)[0].lower()
        if opens and first in STOP_WORDS and " " in name:
            # "The Harbour Office" is about the office.
            name, opens = name.split(" ", 1)[1], False
        if name.lower() not in STOP_WORDS and name.lower() not in _NO_TERM and first not in _NO_TERM:
            yield CapitalisedName(name, opens)


def recurring(found: Iterable[CapitalisedName]) -> frozenset[str]:
    """The names that are terms: those that recur, and at least once where a capital means something."""
    counts: Counter[str] = Counter()
    inside: set[str] = set()
    for each in found:
        counts[each.name] += 1
        if not each.opens:
            inside.add(each.name)
    return frozenset(name for name in inside if counts[name] >= RECURRING)


def defined_in(text: str) -> Iterator[str]:
    """The words that a text says the meaning of."""
    for pattern in _DEFINED:
        for match in pattern.finditer(text):
            name = match[1].strip(" .:`")
            if len(name) > 1 and name.lower() not in _NO_TERM and not name.endswith((".", "!", "?")):
                yield name
