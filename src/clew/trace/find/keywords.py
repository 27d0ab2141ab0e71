"""Finding nodes by keywords.

A keyword is a word or a few words in a row. It is found in any case and in any form of the word: `token` finds
`Tokens`. From four letters on it also finds words that begin with it, which count for less: `auth` finds
`authentication`.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from clew.errors import InvalidArgument
from clew.graph.model import Node
from clew.text.stem import stem
from clew.trace.find.query import Listed, listed
from clew.trace.find.texts import WORD, Words

MOST_KEYWORDS = 40
LONGEST_KEYWORD = 200
SHORTEST_BEGINNING = 4

SAME_WORD, BEGINNING = 2, 1
"""What a keyword counts where it is found as a word, or as the beginning of one."""


def matching(words: Words, keywords: Listed, *, match_all: bool) -> list[Node]:
    """The nodes whose text has all keywords, or any, those with the most and the best matches first, else by id.

    Costs as much as the found words occur, however large the graph.
    """
    found: dict[str, int] | None = None
    for keyword in checked(keywords):
        rated = _rated(words, WORD.findall(keyword.casefold()))
        if found is None:
            found = dict(rated)
        elif match_all:
            found = {id: quality + rated[id] for id, quality in found.items() if id in rated}
        else:
            for id, quality in rated.items():
                found[id] = found.get(id, 0) + quality
    by_quality: dict[int, list[str]] = {}
    for id, quality in (found or {}).items():
        by_quality.setdefault(quality, []).append(id)
    return [words.nodes[id] for quality in sorted(by_quality, reverse=True) for id in sorted(by_quality[quality])]


def checked(keywords: Listed) -> tuple[str, ...]:
    """The keywords that were meant, or an error that says what is wrong with them."""
    words = tuple(keyword for keyword in listed(keywords) if WORD.search(keyword))
    if not words:
        raise InvalidArgument("There is no keyword to look for.", hint="Pass a list of words, such as tide, table.")
    if len(words) > MOST_KEYWORDS:
        raise InvalidArgument(
            f"{len(words)} keywords were given; at most {MOST_KEYWORDS} are allowed.", hint="Look for fewer at once."
        )
    longest = max(words, key=len)
    if len(longest) > LONGEST_KEYWORD:
        raise InvalidArgument(
            f"The keyword '{longest[:20]}...' has {len(longest)} characters; at most {LONGEST_KEYWORD} are allowed.",
            hint="Look for single words.",
        )
    return words


def _rated(words: Words, keyword: Sequence[str]) -> Mapping[str, int]:
    """By id: how good a match each node is for a keyword of one or more words in a row."""
    first, *others = (_rated_word(words, word) for word in keyword)
    if not others:
        return first
    candidates = [id for id in first if all(id in other for other in others)]
    rated = {id: _quality_of_phrase(keyword, WORD.findall(words.folded(id))) for id in candidates}
    return {id: quality for id, quality in rated.items() if quality}


def _rated_word(words: Words, word: str) -> Mapping[str, int]:
    same: dict[str, int] = {}
    beginning: dict[str, int] = {}
    for known in _beginning_with(words.vocabulary, _root(word)):
        quality = _likeness(word, known)
        if quality:
            (same if quality == SAME_WORD else beginning).update(dict.fromkeys(words.index.holders(known), quality))
    return {**beginning, **same}


def _root(word: str) -> str:
    """What all forms of a word begin with: a stem differs from them in its last letter at most (`policy`, `polici`)."""
    root = stem(word)[:-1]
    return root if root and word.startswith(root) else word


def _beginning_with(vocabulary: Sequence[str], start: str) -> Iterator[str]:
    for at in range(bisect_left(vocabulary, start), len(vocabulary)):
        if not vocabulary[at].startswith(start):
            return
        yield vocabulary[at]


def _quality_of_phrase(phrase: Sequence[str], found: Sequence[str]) -> int:
    starts = range(len(found) - len(phrase) + 1)
    return max((min(map(_likeness, phrase, found[start : start + len(phrase)])) for start in starts), default=0)


def _likeness(word: str, found: str) -> int:
    if word == found or stem(word) == stem(found):
        return SAME_WORD
    return BEGINNING if len(word) >= SHORTEST_BEGINNING and found.startswith(word) else 0
