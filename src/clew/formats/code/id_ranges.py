"""Ranges of ids, as people write them: `REQ-d00001-A..C` stands for the list A, B, C."""

import re

from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference

LARGEST_RANGE = 100
"""More than that at once is rather a slip of the pen."""
_RANGE = re.compile(r"(\S+?)(?:\s*(?:\.{2,3}|…|–|—)\s*|\s+(?:to|through|thru|-)\s+)(\S+)")
_SIGNS = ("..", "…", "–", "—", " to ", " through ", " thru ", " - ")
_NUMBERED = re.compile(r"(.*?)([0-9]+)\Z")
_RANGE_WRAPPING = "[](){}<>`'\"*,;:!?"


def spelled_out(text: str, grammar: IdGrammar) -> str:
    """The text with every range of ids or labels written as the list that it stands for."""
    if not any(sign in text for sign in _SIGNS):
        return text

    def list_of(match: re.Match[str]) -> str:
        first = grammar.parse_reference(match[1].strip(_RANGE_WRAPPING))
        last = match[2].strip(_RANGE_WRAPPING).rstrip(".")
        found = _between(first, last, grammar) if first is not None else None
        if found is None:
            return match[0]
        return ", ".join(found) + "," * match[2].endswith(",")

    return _RANGE.sub(list_of, text)


def _between(first: ParsedReference, last: str, grammar: IdGrammar) -> list[str] | None:
    """The references from the first to the last; None where these are no ends of a range."""
    end = grammar.parse_reference(last)
    if len(first.labels) == 1:
        if grammar.is_label(last):
            label = last
        elif end is not None and end.target == first.target and len(end.labels) == 1:
            label = end.labels[0]
        else:
            return None
        labels = _labels(first.labels[0], label)
        return None if labels is None else [grammar.assertion_id(first.target, each) for each in labels]
    if first.labels or end is None or end.labels:
        return None
    one, other = _NUMBERED.match(first.target), _NUMBERED.match(end.target)
    if one is None or other is None or one[1] != other[1]:
        return None
    numbers = _numbers(int(one[2]), int(other[2]))
    return None if numbers is None else [f"{one[1]}{number:0{len(one[2])}d}" for number in numbers]


def _labels(first: str, last: str) -> list[str] | None:
    if first.isdecimal() and last.isdecimal():
        numbers = _numbers(int(first), int(last))
        return None if numbers is None else [f"{number:0{len(first)}d}" for number in numbers]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        codes = _numbers(ord(first), ord(last))
        return None if codes is None else [chr(code) for code in codes]
    return None


def _numbers(first: int, last: int) -> range | None:
    return range(first, last + 1) if 0 < last - first < LARGEST_RANGE else None
