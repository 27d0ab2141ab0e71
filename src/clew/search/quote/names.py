"""What a question names, and how much of it is names.

Whoever calls something by its name expects the name in the answer. Whoever describes it in everyday words does not. A
question about a neighbouring product consists of names, some of which stand somewhere in almost any documentation.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from clew.search.lexical.query import telling_words
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem
from clew.text.words import split

if TYPE_CHECKING:
    from clew.search.embed.word_vectors import WordVectors

_PARTS = re.compile(r"[^\W_]+")
_CAPITALS = re.compile(r"\b[A-Z][a-z]+(?:'[a-z]+)?(?: [A-Z][a-z]+)+\b")
_UNCOMMON = 0.5
"""How much an uncommon word counts against a name: it may be either."""
_ENOUGH = 0.25
"""A question is a named one from this share of names on."""


def names_in(question: str, known: "WordVectors | None") -> dict[str, bool]:
    """What a question names: names and identifiers (True), and words that are not common (False). Without vectors
    nobody knows which words are common."""
    found: dict[str, bool] = {}
    for word, is_name in telling_words(question):
        if is_name or (known is not None and not _is_common(word, known)):
            found[word] = found.get(word, False) or is_name
    if known is not None:
        found |= dict.fromkeys(_names_of_common_words(question, known), True)
    return found


def _names_of_common_words(question: str, known: "WordVectors") -> Iterator[str]:
    """Names such as Time Machine: capital words one after the other, each of which says little by itself. Names of
    several things, which stand beside each other by chance, have words that are names by themselves."""
    for run in _CAPITALS.finditer(question):
        words = run[0].split()
        while words and words[0].lower() in STOP_WORDS:
            # It begins the sentence.
            words = words[1:]
        if len(words) > 1 and all(_is_common(word, known) for word in words):
            yield " ".join(words)


def naming(question: str, rarities: Mapping[str, float], known: "WordVectors | None") -> float:
    """How much of a question is names, by the rarity of its terms: from 0 to 1, which is reached by a quarter."""
    counts: dict[str, float] = {}
    for word, is_name in names_in(question, known).items():
        parts, compounds = split(word)
        for term in (*map(stem, parts), *compounds):
            counts[term] = max(counts.get(term, 0.0), 1.0 if is_name else _UNCOMMON)
    named = sum(rarity * counts.get(term, 0.0) for term, rarity in rarities.items())
    whole = sum(rarities.values())
    return min(1.0, named / whole / _ENOUGH) if whole > 0 else 0.0


def _is_common(word: str, known: "WordVectors") -> bool:
    """`somebody's` and `spreadsheet-like` are as common as their parts."""
    return all(known.knows(part) or known.knows(stem(part)) for part in _PARTS.findall(word.lower()))
