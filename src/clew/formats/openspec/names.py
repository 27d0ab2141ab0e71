"""Names of requirements: their slugs, and which are equal, meant to be equal, or similar.

A slug is a short name that stays the same as long as the name it was made from: the name in lower case (Unicode NFKC,
full case folding) with every run of anything but letters, digits and marks turned into one hyphen; letters of every
language stay. A name without any letter or digit gets the word for what it names. Where a parent has several children
whose names give the same slug, the second is `name-2`, and so on in the order of the file. A requirement that states
`**ID**: something` is named by that instead of its heading.
"""

import re
import unicodedata
from collections.abc import Iterable

_SIMILAR = 0.75

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


def folded(name: str) -> str:
    """A name for finding typing errors: case and spaces do not count. For equality they do."""
    return " ".join(name.casefold().split())


def misspelled(name: str, known: Iterable[str]) -> str | None:
    """The known name that differs from this one in case and spaces only."""
    wanted = folded(name)
    return next((each for each in known if each != name and folded(each) == wanted), None)


def similar(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that this one may have been meant as, the likeliest first, three at most."""
    from difflib import get_close_matches  # few names are not known

    by_fold = {folded(each): each for each in known if each != name}
    close = get_close_matches(folded(name)[:200], by_fold, n=3, cutoff=_SIMILAR)
    return tuple(by_fold[each] for each in close)


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence that names similar ones; empty where there are none."""
    close = similar(name, known)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
