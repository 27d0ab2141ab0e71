"""The query language of requirement search.

Words are combined with AND; `OR` stands between alternatives, parentheses group them, "quotes" make a phrase, a leading
minus excludes, and a leading `=` asks for a whole keyword. A pattern is a regular expression, run with a time limit.
"""

import re
import time
from collections.abc import Callable
from typing import Any

import msgspec

from clew.errors import InvalidArgument, InvalidPattern

MAX_QUERY_CHARACTERS = 1_000
MAX_TERMS = 40
PATTERN_SECONDS = 2.0

FIELDS = ("all", "id", "title", "body", "keywords")

_WORD = re.compile(r'-?"[^"]*"|[^\s()]+')
_CAN_BACKTRACK = re.compile(r"[*+?{|(]")
_SEES_THE_EDGES = re.compile(r"\(\?|\\[AZzGK]|[*+?}]\+")
_EMPTY = frozenset({'""', '-""', "-"})


class Term(msgspec.Struct, frozen=True):
    text: str
    """In folded case."""
    whole_keyword: bool = False


class Query(msgspec.Struct, frozen=True):
    """All groups must match, each by one of its terms; none of the excluded may."""

    groups: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...]


def parse(text: str) -> Query:
    check_length(text)
    # Alternatives bind closest, so parentheses around them change nothing and are dropped.
    words = [word for word in _WORD.findall(text) if word not in _EMPTY]
    if len(words) > MAX_TERMS:
        raise InvalidArgument(
            f"The query has {len(words)} words; at most {MAX_TERMS} are allowed.",
            hint="Search for fewer words at once.",
        )
    groups: list[list[Term]] = []
    excluded: list[Term] = []
    alternative = False
    for word in words:
        if word in ("OR", "AND"):
            alternative = word == "OR"
            continue
        if word.startswith("-"):
            excluded.append(_term(word[1:]))
        elif alternative and groups:
            groups[-1].append(_term(word))
        else:
            groups.append([_term(word)])
        alternative = False
    return Query(groups=tuple(tuple(group) for group in groups), excluded=tuple(excluded))


def _term(word: str) -> Term:
    if word.startswith("=") and len(word) > 1:
        return Term(word[1:].casefold(), whole_keyword=True)
    return Term(word.strip('"').casefold())


def check_length(text: str) -> None:
    if len(text) > MAX_QUERY_CHARACTERS:
        raise InvalidArgument(
            f"The query has {len(text)} characters; at most {MAX_QUERY_CHARACTERS} are allowed.",
            hint="Search for the few words that matter.",
        )


def can_be_joined(pattern: str) -> bool:
    """Whether a pattern that matches a text also matches any text that holds it on lines of its own. Lookarounds,
    anchors of the whole text and possessive repetitions can tell the difference."""
    return not _SEES_THE_EDGES.search(pattern)


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """A matcher for a regular expression, in any case, with ^ and $ at every line. All its matches together get
    PATTERN_SECONDS of time."""
    import regex

    check_length(pattern)
    try:
        compiled: Any = regex.compile(pattern, regex.IGNORECASE | regex.MULTILINE)
    except (regex.error, OverflowError, RecursionError) as error:
        raise InvalidPattern(
            f"'{pattern}' is not a regular expression: {error}.", hint="Escape special characters, or pass regex=false."
        ) from error
    if not _CAN_BACKTRACK.search(pattern):
        # Watching the clock costs more than such a pattern ever will.
        return lambda text: compiled.search(text) is not None
    deadline = time.monotonic() + PATTERN_SECONDS

    def matches(text: str) -> bool:
        left = deadline - time.monotonic()
        try:
            if left > 0:
                # Without the interpreter's lock, so that a slow pattern holds up nobody else.
                return compiled.search(text, timeout=left, concurrent=True) is not None
        except TimeoutError:
            pass
        raise InvalidPattern(
            f"'{pattern}' took longer than {PATTERN_SECONDS:g} s.",
            hint="Nested repetitions such as (a|aa)+ explode; simplify the pattern or search for words.",
        ) from None

    return matches
