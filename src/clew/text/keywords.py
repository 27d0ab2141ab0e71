"""Keywords: the words of a text that name its subject."""

import re
from functools import lru_cache

from clew.text.stem import stem

_STOP_WORDS = """
    about above after again against all also although always among and another any anything are around
    because been before being below between both but
    can cannot could
    did does doing done down due during
    each either else etc even ever every everything
    few for from further
    get gets given gives had has have having her here hers him his how however
    instead into its itself
    just least less let lets like made make makes many may means might more most much must
    neither never nor not nothing now
    off often once one only onto other others otherwise our ours out over own
    per quite rather really
    said same say shall she should since some something still such
    than that the their theirs them themselves then there therefore these they this those through thus too toward
    two
    under unless until upon use used uses using
    very via
    was well were what whatever when where whether which while who whole whom whose why will with within without would
    yet you your yours
    a am an as at be by do go he i if in is it me my no of on or so to up us we
    cant couldnt didnt doesnt dont hadnt hasnt havent im isnt ive thats theres theyre wasnt werent wont wouldnt youre
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
STOP_TERMS = STOP_WORDS | {stem(word) for word in STOP_WORDS}
"""The same for texts whose words are stemmed already."""

SHORTEST_KEYWORD = 3
"""Characters."""

_WORD = re.compile(r"\w+(?:-\w+)*")
_APOSTROPHES = str.maketrans("", "", "'\u2019")


def keywords(text: str) -> tuple[str, ...]:
    """The keywords of `text`: lower-case, in the order they first appear, without stop words or repeats.

    Punctuation separates words, except a hyphen inside one (`read-only`) and an apostrophe, which is dropped
    (`agent's` is `agents`). Identifiers keep their underscores.
    """
    words = _WORD.findall(text.lower().translate(_APOSTROPHES))
    return tuple(dict.fromkeys(word for word in words if len(word) >= SHORTEST_KEYWORD and word not in STOP_WORDS))


@lru_cache(maxsize=1_024)
def stems(text: str) -> frozenset[str]:
    """The stems of the keywords of a text."""
    return frozenset(stem(word) for word in keywords(text))


def overlap(one: str, other: str) -> float:
    """The share of the shorter text's keywords that the other text has too, from 0 to 1."""
    first, second = stems(one), stems(other)
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0
