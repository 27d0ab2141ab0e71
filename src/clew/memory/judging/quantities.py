"""Quantities in a text: numbers with their units and bounds, in one spelling.

`15 minutes`, `15 min` and `a quarter of an hour` are not all understood; what is, is compared in base units. A number
that follows a noun (`dock 4`) is a label, and a version keeps its spelling.
"""

import re

import msgspec

from clew.memory.judging.vocabulary import NO_LABEL_AFTER
from clew.text.keywords import STOP_WORDS

_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "ninety": 90, "hundred": 100, "once": 1, "twice": 2, "both": 2,
}  # fmt: skip
_SECONDS = {
    "ms": 0.001, "millisecond": 0.001, "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3_600,
    "hr": 3_600, "hour": 3_600, "d": 86_400, "day": 86_400, "night": 86_400, "week": 604_800, "month": 2_592_000,
    "quarter": 7_776_000, "year": 31_536_000,
}  # fmt: skip
_BYTES = {"b": 1, "byte": 1, "kb": 1e3, "kib": 1_024, "mb": 1e6, "mib": 1_048_576, "gb": 1e9, "gib": 1_073_741_824,
          "tb": 1e12}  # fmt: skip
_METRES = {"mm": 0.001, "cm": 0.01, "m": 1, "km": 1e3}
_GRAMS = {"g": 1, "kg": 1e3, "t": 1e6, "tonne": 1e6}
_RATES = {"hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9}
_SCALES = (("time", _SECONDS), ("size", _BYTES), ("length", _METRES), ("mass", _GRAMS), ("rate", _RATES))
_RHYTHMS = {"hourly": 3_600, "daily": 86_400, "nightly": 86_400, "weekly": 604_800, "monthly": 2_592_000,
            "yearly": 31_536_000}  # fmt: skip
_LIKE = 0.07
"""Two spans of time are the same below this relative distance: a month has 30 or 31 days."""

_SPELLED = "|".join(sorted(_WORDS, key=len, reverse=True))
_NUMBER = re.compile(
    rf"""(?P<clock>\b\d{{1,2}}:\d{{2}}\b)
    | (?P<version>\bv\d+(?:\.\d+)*\b|\b\d+\.\d+\.\d+(?:\.\d+)*\b)
    | (?P<number>(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?=[\s.,;:)%]|$|[A-Za-z]{{1,3}}\b)|\b(?:{_SPELLED})\b)
      (?:[\s-]?(?P<unit>%|percent\b|[A-Za-z]+(?:/[A-Za-z]+)?))?
    | \b(?P<rhythm>{"|".join(_RHYTHMS)})\b
    | \b(?P<one>half\s+an?|an?|each|every|per)\s+(?P<span>second|minute|hour|day|night|week|month|quarter|year)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NOUN_BEFORE = re.compile(r"([A-Za-z][\w-]*)\s+$")
_MOST = re.compile(
    r"(?:at most|up to|no more than|not more than|limited to|limit of|within|maximum(?: of)?|max\.?|only|fewer than|"
    r"less than|under|below|no longer than|must not exceed|never more than)\s*(?:an?\s+)?$",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"(?:at least|no less than|no fewer than|not less than|minimum(?: of)?|min\.?|more than|over|above|larger than|"
    r"longer than|older than|greater than|faster than|exceeds?|from|when they exceed)\s*(?:an?\s+)?$",
    re.IGNORECASE,
)
_MOST_AFTER = re.compile(r"^\s*(?:\w+\s+){0,2}(?:or less|or fewer|at most|at the most)\b", re.IGNORECASE)
_LEAST_AFTER = re.compile(r"^\s*(?:\w+\s+){0,2}(?:or more|at least|or older|or longer)\b", re.IGNORECASE)


class Quantity(msgspec.Struct, frozen=True):
    text: str
    value: float
    dimension: str
    """`time`, `size`, ...; `label` for a number that names something; the noun that is counted; or empty."""
    bound: str
    """`most`, `least`, or empty."""
    start: int
    end: int

    def equals(self, other: "Quantity") -> bool:
        if self.dimension == other.dimension == "time" and self.value and other.value:
            return abs(self.value - other.value) <= _LIKE * max(abs(self.value), abs(other.value))
        if "version" in (self.dimension, other.dimension):
            return self.text == other.text
        return self.value == other.value


def quantities(text: str) -> list[Quantity]:
    """The quantities of a text, in order."""
    found = [_quantity(text, match) for match in _NUMBER.finditer(text) if not _is_pronoun(text, match)]
    return _with_rates(text, found)


def _with_rates(text: str, found: list[Quantity]) -> list[Quantity]:
    """`30 ticks per second` is one quantity."""
    rated: list[Quantity] = []
    for each in found:
        last = rated[-1] if rated else None
        if last is None or not each.text.lower().startswith("per ") or len(text[last.end : each.start].split()) > 1:
            rated.append(each)
        else:
            value = last.value / each.value
            rated[-1] = Quantity(text[last.start : each.end], value, "rate", last.bound, last.start, last.end)
    return rated


def _is_pronoun(text: str, match: re.Match[str]) -> bool:
    """True for `one` and `both` without something that they count."""
    number = (match["number"] or "").casefold()
    unit = (match["unit"] or "").casefold()
    return number == "both" or (number == "one" and (not unit or unit in STOP_WORDS))


def _quantity(text: str, match: re.Match[str]) -> Quantity:
    start = match.start()
    if match["clock"]:
        hours, minutes = match["clock"].split(":")
        return Quantity(match["clock"], int(hours) + int(minutes) / 60, "clock", "", start, match.end())
    if match["version"]:
        return Quantity(match["version"].lstrip("vV"), 0.0, "version", "", start, match.end())
    if match["rhythm"]:
        return Quantity(match["rhythm"], _RHYTHMS[match["rhythm"].casefold()], "time", "", start, match.end())
    if match["one"]:
        half = 0.5 if match["one"].casefold().startswith("half") else 1
        value = half * _SECONDS[match["span"].casefold()]
        return Quantity(match[0], value, "time", _bound(text, start, match.end()), start, match.end())
    return _counted(text, match)


def _counted(text: str, match: re.Match[str]) -> Quantity:
    number, unit = match["number"], (match["unit"] or "")
    spelled = number.casefold()
    value = float(_WORDS[spelled]) if spelled in _WORDS else float(number.replace(",", "").rstrip("."))
    start, end = match.start(), match.end("number")
    bound = _bound(text, start, match.end())
    low = unit.casefold()
    for dimension, scale in _SCALES:
        factor = scale.get(low) or scale.get(low.rstrip("s") if len(low) > 2 else low)
        if factor is not None and not (low == "m" and dimension == "length" and unit == "M"):
            return Quantity(text[start : match.end()], value * factor, dimension, bound, start, match.end())
    if low in ("%", "percent"):
        return Quantity(text[start : match.end()], value, "percent", bound, start, match.end())
    before = _NOUN_BEFORE.search(text[:start])
    if before and before[1].casefold() not in NO_LABEL_AFTER and not bound and not before[1].casefold().endswith("ly"):
        kind = "version" if "." in number else "label"
        return Quantity(number, value, kind, "", start, end)
    return Quantity(number, value, "", bound, start, end)


def _bound(text: str, start: int, end: int) -> str:
    before, after = text[max(start - 24, 0) : start], text[end : end + 30]
    if _MOST.search(before) or _MOST_AFTER.search(after):
        return "most"
    return "least" if _LEAST.search(before) or _LEAST_AFTER.search(after) else ""
