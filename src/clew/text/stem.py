"""Stem an English word by the Porter2 rules, so that `flows`, `flowing` and `flow` are one search term.

A stem need not be a word; it only has to be the same for words of one family. Words that are not lower-case ASCII
letters are returned as they are.
"""

import threading
from functools import lru_cache

_SHORTEST_STEMMED = 3
"""Characters."""
_of_thread = threading.local()


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of `word`, which is lower case and without apostrophes."""
    if len(word) < _SHORTEST_STEMMED or not (word.isascii() and word.isalpha()):
        return word
    try:
        stemmer = _of_thread.stemmer
    except AttributeError:
        import Stemmer  # here, so that a start without a search does not load it

        # One for each thread, because they are not thread-safe; without their own cache, because `stem` has one.
        stemmer = _of_thread.stemmer = Stemmer.Stemmer("english", 0)
    found: str = stemmer.stemWord(word)
    return found
