"""Matching a pattern against very many texts: most are ruled out by words that they lack, and the others are matched
together."""

import string
from bisect import bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate

from clew.trace.find.keywords import Words
from clew.trace.find.query import SearchPattern

Alternatives = tuple[str, ...]

_LITERAL = frozenset(string.ascii_letters + string.digits) - {"i", "I"}
"""Characters that match only themselves, in either case. An i also matches Turkish letters not folded to it."""
_KINDS_OF_CHARACTERS = frozenset("dDsSwWbBAZnrtfv")
_QUANTIFIERS = frozenset("?*+{")
_DEEPEST = 20
_TELLING = 3
"""Shorter parts are in words of all kinds."""


def needed_words(pattern: str) -> tuple[Alternatives, ...]:
    """Parts of words, in folded case, of which a matching text contains at least one from each group.

    Nothing is needed of a text where the pattern is not simple enough to tell.
    """
    try:
        return _either(_Reader(pattern).branches(depth=0))
    except _NotSimple:
        return ()


def may_match(pattern: str, words: Words) -> AbstractSet[str] | None:
    """The ids of the nodes with the words that a pattern needs; None if all nodes have to be searched."""
    found: AbstractSet[str] | None = None
    for parts in needed_words(pattern):
        having = words.having(*parts) if min(map(len, parts)) >= _TELLING else None
        if having is not None and len(having) < len(words.nodes):
            found = having if found is None else found & having
    return found


def matching(pattern: SearchPattern, texts: Sequence[str]) -> list[int]:
    """The indexes of the texts that a pattern matches, for a pattern that can be matched on all of them joined."""
    starts = [0, *accumulate([len(text) + 1 for text in texts])]
    found: list[int] = []
    at = undecided = 0
    for start, end in pattern.spans("\n".join(texts)):
        if end < starts[undecided]:
            continue
        while starts[at + 1] <= start:
            at += 1
        if at >= undecided and end < starts[at + 1]:
            found.append(at)
            undecided = at + 1
        else:
            # The match goes beyond one text, and hides what may match in each of those it touches.
            last = min(bisect_right(starts, end), len(texts))
            found += [each for each in range(max(at, undecided), last) if pattern(texts[each])]
            undecided = max(undecided, last)
        if undecided == len(texts):
            break
    return found


class _NotSimple(Exception):
    """The pattern has a part that this reader does not analyse."""


class _Reader:
    """Reads a pattern from left to right, as far as needed to find the texts that every match must contain."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def branches(self, depth: int) -> list[list[Alternatives]]:
        """The required texts of each alternative, up to the end of a group or of the pattern."""
        found = [self._branch(depth)]
        while self._peek() == "|":
            self._at += 1
            found.append(self._branch(depth))
        if (self._peek() == ")") != (depth > 0):
            raise _NotSimple
        return found

    def _branch(self, depth: int) -> list[Alternatives]:
        needed: list[Alternatives] = []
        run = ""
        while (character := self._peek()) not in ("", "|", ")"):
            self._at += 1
            group: tuple[Alternatives, ...] = ()
            if character == "(":
                group = self._group(depth + 1)
            elif character == "[":
                self._pass_class()
            elif character == "\\":
                self._pass_escape()
            quantifier = self._quantifier()
            if character in _LITERAL and quantifier in ("", "+"):
                run += character
                if not quantifier:
                    continue
            needed += [(run.casefold(),)] if run else []
            run = ""
            needed += group if quantifier in ("", "+") else ()
        return [*needed, (run.casefold(),)] if run else needed

    def _group(self, depth: int) -> tuple[Alternatives, ...]:
        if self._peek() == "?" or depth > _DEEPEST:
            raise _NotSimple
        inner = self.branches(depth)
        self._at += 1
        return _either(inner)

    def _pass_class(self) -> None:
        self._at += self._peek() == "^"
        self._at += self._peek() == "]"
        while (character := self._peek()) != "]":
            if character in ("", "["):
                raise _NotSimple
            self._at += 2 if character == "\\" else 1
        self._at += 1

    def _pass_escape(self) -> None:
        character = self._peek()
        if character == "" or (character.isalnum() and character not in _KINDS_OF_CHARACTERS):
            raise _NotSimple
        self._at += 1

    def _quantifier(self) -> str:
        """Skip a quantifier; returns its first character."""
        kind = self._peek() if self._peek() in _QUANTIFIERS else ""
        while kind and (character := self._peek()) in _QUANTIFIERS:
            if character == "{":
                self._at = self._pattern.find("}", self._at)
                if self._at < 0:
                    raise _NotSimple
                kind = "{"
            self._at += 1
        return kind

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]


def _either(branches: Sequence[Sequence[Alternatives]]) -> tuple[Alternatives, ...]:
    """The required texts if one of several branches matches: one text of each, the longest."""
    if len(branches) == 1:
        return tuple(branches[0])
    if not all(branches):
        return ()
    longest = (max(branch, key=lambda group: min(map(len, group))) for branch in branches)
    return (tuple(word for group in longest for word in group),)
