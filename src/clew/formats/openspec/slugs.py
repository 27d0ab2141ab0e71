"""Slugs: short names that stay the same as long as the name they were made from.

A slug is the name in lower case (Unicode NFKC, full case folding) with every run of anything but letters, digits and
marks turned into one hyphen; letters of every language stay. A name without any letter or digit gets the word for what
it names. Where a parent has several children whose names give the same slug, the second is `name-2`, and so on
in the order of the file. A requirement that states `**ID**: something` is named by that instead of its heading.
"""

import re
import unicodedata

_APART = re.compile(r"[^a-z0-9]+")


def slug(name: str, otherwise: str) -> str:
    """The slug of a name; `otherwise` where the name holds nothing to make one from."""
    if name.isascii():
        return _APART.sub("-", name.lower()).strip("-") or otherwise
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    kept = "".join(sign if unicodedata.category(sign)[0] in "LNM" else " " for sign in folded)
    return "-".join(kept.split()) or otherwise


class Slugs:
    """Gives out slugs that are unique among the children of one parent."""

    def __init__(self, otherwise: str) -> None:
        self._otherwise = otherwise
        self._taken: dict[str, int] = {}

    def take(self, name: str) -> str:
        wanted = slug(name, self._otherwise)
        number = self._taken.get(wanted, 0) + 1
        candidate = wanted if number == 1 else f"{wanted}-{number}"
        while number > 1 and candidate in self._taken:
            number += 1
            candidate = f"{wanted}-{number}"
        self._taken[wanted] = number
        self._taken.setdefault(candidate, 1)
        return candidate
