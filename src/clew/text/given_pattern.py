"""Regular expressions that a client or a project gave, compiled within bounds.

The library writes out what a count demands: `a{1000}` makes a thousand nodes, and counts within counts multiply. What
else a pattern of this length can hold is compiled in milliseconds, so the nodes are counted before, and no process of
its own is needed. Groups that are used again from elsewhere are refused, and so are counts of errors: one that uses
itself fills the memory long before a limit of time ends that, and while errors are counted the library looks at no
clock.

A pattern is first taken at its worst, as though every count in it held for all of it. Only where that is too much are
its groups told apart; where that would need every rule of the library, the pattern is refused. Matching has its limit
of time where it is done.
"""

import re
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

LONGEST = 2_000
"""Characters of a pattern."""
MOST_NODES = 50_000
"""Characters and classes that a pattern may come to, each as often as it is repeated at least."""

_DIGITS = re.compile(r"\{((?:[0-9\s]|#[^\n]*\n)*)")
"""A possible beginning of a count. A pattern may allow blanks and comments inside it."""
_PASSED_OVER = re.compile(r"#[^\n]*\n|\s")
_COUNT = re.compile(r"\{([0-9]*)(?:,[0-9]*)?\}")
_OPENING = re.compile(r"\((?:(?![?*])|\?(?:P?<[A-Za-z_][A-Za-z0-9_]*>|[aimsuL]*:|[=!>|]|<[=!]))")
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\\[]|\\.|\[:\^?[A-Za-z]+:\])*\]", re.DOTALL)
_ATOM = re.compile(r"\\[pPN]\{[A-Za-z _=&-]*\}|\\.|[^\\{(\[)]", re.DOTALL)
_ERRORS = re.compile(r"\\[pPN]\{[^}]*\}|\\.|(\{[\s\d<=+,]*[eids]\s*[}<=+,:][^}]*\}?)", re.DOTALL)
"""A count of errors within which a text is taken for a match."""
_CALL = re.compile(r"\\.|(\(\?(?:R|&|[0-9]|[+-]{0}[0-9]|P{0}[>&])[^)]*\)?)".format(r"(?:\s|#[^\n]*\n)*"), re.DOTALL)
"""A group that is used again from elsewhere, maybe from itself: by number, by name, or counted from here. The library
passes over blanks and comments in it where a pattern says so."""
_LONGEST_NUMBER = 12


class PatternTooLarge(ValueError):
    """A pattern comes to too many nodes, or how many they are cannot be told."""


def compile_given(pattern: str, flags: int = 0) -> "regex.Pattern[str]":
    """The compiled pattern. ValueError gives the reason why it cannot be compiled."""
    import regex

    check_size(pattern)
    try:
        # The library itself would remember hundreds of patterns, however large each of them is.
        return regex.compile(pattern, flags, cache_pattern=False)
    except RecursionError:
        raise ValueError("its groups are nested too deeply") from None
    except (regex.error, OverflowError) as error:
        raise ValueError(str(error)) from error


def check_size(pattern: str) -> None:
    """Refuse a pattern that would be too large with its counts written out."""
    if len(pattern) > LONGEST:
        raise PatternTooLarge(f"it has {len(pattern):,} characters; at most {LONGEST:,} are allowed")
    if call := next(filter(None, (found[1] for found in _CALL.finditer(pattern))), None):
        raise PatternTooLarge(f"with `{call}`, which uses a group again, matching it may take all memory")
    if errors := next(filter(None, (found[1] for found in _ERRORS.finditer(pattern))), None):
        raise PatternTooLarge(f"with `{errors}`, which allows errors, matching it may take all memory and not end")
    if _at_worst(pattern) > MOST_NODES and _nodes(pattern) > MOST_NODES:
        raise PatternTooLarge(f"with its repetitions written out, it has more than {MOST_NODES:,} characters")


def _at_worst(pattern: str) -> int:
    return (len(pattern) + 1) * prod(_number(_PASSED_OVER.sub("", count)) for count in _DIGITS.findall(pattern))


def _number(digits: str) -> int:
    """A number of repetitions, at least 1, because a part that is repeated no times is compiled as well. Python refuses
    to read numbers of thousands of digits."""
    significant = digits.lstrip("0")[: _LONGEST_NUMBER + 1]
    return max(1, int(significant or "0"))


def _nodes(pattern: str) -> int:
    """Number of nodes with the counts written out. Raises PatternTooLarge if it cannot be computed."""
    outer: list[int] = []
    """For each open group what was before it, in its own group."""
    before = last = place = 0
    while place < len(pattern):
        # Of the group that is open, what a count that follows would not repeat, and what it would.
        if count := _COUNT.match(pattern, place):
            last *= _number(count[1])
            place = count.end()
        elif opening := _OPENING.match(pattern, place):
            outer.append(before + last)
            before = last = 0
            place = opening.end()
        elif pattern[place] == ")" and outer:
            before, last = outer.pop(), before + last + 1
            place += 1
        elif part := _CLASS.match(pattern, place) or _ATOM.match(pattern, place):
            before, last = before + last, len(part[0])
            place = part.end()
        else:
            raise PatternTooLarge(
                "its counts are large, and their nesting is too complex; write smaller counts, or plain groups"
            )
    return sum(outer) + before + last
