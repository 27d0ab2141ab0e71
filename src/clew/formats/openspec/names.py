"""Names of requirements: equal, meant to be equal, or similar."""

from collections.abc import Iterable
from difflib import get_close_matches

_SIMILAR = 0.75


def folded(name: str) -> str:
    """A name for finding typing errors: case and spaces do not count. For equality they do."""
    return " ".join(name.casefold().split())


def misspelled(name: str, known: Iterable[str]) -> str | None:
    """The known name that differs from this one in case and spaces only."""
    wanted = folded(name)
    return next((each for each in known if each != name and folded(each) == wanted), None)


def similar(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that this one may have been meant as, the likeliest first, three at most."""
    by_fold = {folded(each): each for each in known if each != name}
    close = get_close_matches(folded(name)[:200], by_fold, n=3, cutoff=_SIMILAR)
    return tuple(by_fold[each] for each in close)


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence that names similar ones; empty where there are none."""
    close = similar(name, known)
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
