"""The stem of an English word, by the Porter2 rules, so that `flows`, `flowing` and `flow` are one search term.

Written from the published description of the algorithm. A stem need not be a word; it only has to be the same for words
of one family. Words that are not lower-case ASCII letters are returned as they are.
"""

from functools import lru_cache
from typing import NamedTuple

_VOWELS = frozenset("aeiouy")
_DOUBLES = frozenset(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"))
_BEFORE_LI = frozenset("cdeghkmnrt")

_IRREGULAR = {
    "skis": "ski",
    "skies": "sky",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
}
_UNCHANGED = frozenset(("sky", "news", "howe", "atlas", "cosmos", "bias", "andes"))
_COMPLETE_WITHOUT_S = frozenset(
    ("inning", "outing", "canning", "herring", "earring", "evening", "proceed", "exceed", "succeed")
)
_LONG_PREFIXES = ("gener", "commun", "arsen", "past", "univers", "later", "emerg", "organ", "inter")
"""Where the first region starts later than the rule says, to keep `generate` and `general` apart."""

_SECOND = (
    *(("ational", "ate"), ("ization", "ize"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive")),
    *(("tional", "tion"), ("biliti", "ble"), ("lessli", "less"), ("entli", "ent"), ("ation", "ate"), ("alism", "al")),
    *(("aliti", "al"), ("ousli", "ous"), ("iviti", "ive"), ("fulli", "ful"), ("ogist", "og"), ("enci", "ence")),
    *(("anci", "ance"), ("abli", "able"), ("izer", "ize"), ("ator", "ate"), ("alli", "al"), ("bli", "ble")),
)
_THIRD = (
    *(("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("icate", "ic"), ("iciti", "ic"), ("ical", "ic")),
    *(("ness", ""), ("ful", "")),
)
_FOURTH = (
    *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize"),
    *("al", "er", "ic"),
)


class _Regions(NamedTuple):
    """Where the two regions of a word start: what follows the first, and the second, vowel and consonant."""

    first: int
    second: int


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of `word`, which is lower case and without apostrophes."""
    if len(word) < 3 or word in _UNCHANGED or not (word.isascii() and word.isalpha()):
        return word
    if (known := _IRREGULAR.get(word)) is not None:
        return known
    word = _mark_consonant_y(word)
    regions = _regions(word)
    word = _plural(word)
    if word in _COMPLETE_WITHOUT_S:
        return word
    word = _past_or_gerund(word, regions)
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    return _final(_suffixes(word, regions), regions).lower()


def _mark_consonant_y(word: str) -> str:
    """`word` with each `y` that is a consonant (first, or after a vowel) as `Y`."""
    if "y" not in word:
        return word
    letters = list(word)
    for at, letter in enumerate(letters):
        if letter == "y" and (at == 0 or letters[at - 1] in _VOWELS):
            letters[at] = "Y"
    return "".join(letters)


def _after_vowel_and_consonant(word: str, start: int) -> int:
    for at in range(start + 1, len(word)):
        if word[at] not in _VOWELS and word[at - 1] in _VOWELS:
            return at + 1
    return len(word)


def _regions(word: str) -> _Regions:
    first = next((len(prefix) for prefix in _LONG_PREFIXES if word.startswith(prefix)), 0)
    first = first or _after_vowel_and_consonant(word, 0)
    return _Regions(first, _after_vowel_and_consonant(word, first))


def _has_vowel(part: str) -> bool:
    return any(letter in _VOWELS for letter in part)


def _ends_in_short_syllable(word: str) -> bool:
    if word == "past":
        return True
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return (
        len(word) > 2
        and word[-1] not in _VOWELS
        and word[-1] not in "wxY"
        and word[-2] in _VOWELS
        and word[-3] not in _VOWELS
    )


def _plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word[-1] == "s" and word[-2] not in "us" and _has_vowel(word[:-2]):
        return word[:-1]
    return word


def _past_or_gerund(word: str, regions: _Regions) -> str:
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            return word[: len(word) - len(suffix)] + "ee" if len(word) - len(suffix) >= regions.first else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            return _without_past_or_gerund(word, word[: -len(suffix)], suffix, regions)
    return word


def _without_past_or_gerund(word: str, rest: str, suffix: str, regions: _Regions) -> str:
    if suffix == "ing" and len(rest) == 2 and rest[1] == "y" and rest[0] not in _VOWELS:
        return rest[0] + "ie"
    if not _has_vowel(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if rest[-2:] in _DOUBLES:
        return rest if len(rest) == 3 and rest[0] in "aeo" else rest[:-1]
    if len(rest) <= regions.first and _ends_in_short_syllable(rest):
        return rest + "e"
    return rest


def _suffixes(word: str, regions: _Regions) -> str:
    word = _second(word, regions.first)
    word = _third(word, regions)
    return _fourth(word, regions.second)


def _second(word: str, region: int) -> str:
    for suffix, replacement in _SECOND:
        if word.endswith(suffix):
            at = len(word) - len(suffix)
            return word[:at] + replacement if at >= region else word
    if word.endswith("ogi"):
        return word[:-1] if len(word) - 3 >= region and word[-4:-3] == "l" else word
    if word.endswith("li") and len(word) - 2 >= region and word[-3] in _BEFORE_LI:
        return word[:-2]
    return word


def _third(word: str, regions: _Regions) -> str:
    if word.endswith("ative"):
        return word[:-5] if len(word) - 5 >= regions.second else word
    for suffix, replacement in _THIRD:
        if word.endswith(suffix):
            at = len(word) - len(suffix)
            return word[:at] + replacement if at >= regions.first else word
    return word


def _fourth(word: str, region: int) -> str:
    if word.endswith("ion"):
        return word[:-3] if len(word) - 3 >= region and word[-4] in "st" else word
    for suffix in _FOURTH:
        if word.endswith(suffix):
            at = len(word) - len(suffix)
            return word[:at] if at >= region else word
    return word


def _final(word: str, regions: _Regions) -> str:
    at = len(word) - 1
    if word[at] == "e" and (at >= regions.second or (at >= regions.first and not _ends_in_short_syllable(word[:at]))):
        return word[:at]
    if word[at] == "l" and at >= regions.second and word[at - 1] == "l":
        return word[:at]
    return word
