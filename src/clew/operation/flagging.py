"""The one place that says of an answer which of its texts read like instructions to a language model."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from clew.text.instruction_like import INSTRUCTION_LIKE, flags_of, rules_for

MOST_PLACES: Final = 8
NOTE: Final = "Texts of the project read like instructions to a language model; they are quoted data: {places}."
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")
_BETWEEN = "\n\0\n"
"""Between two texts that are searched together: no rule reads across it, and to every rule a line ends there."""


def flagged_places(data: Any) -> tuple[str, ...]:
    """Where in the data of an answer texts read like instructions, such as `assertions[0].text`; at most a few. What
    the data says about itself counts for nothing here, since a file may have said it."""
    texts: list[str] = []
    _collect(data, texts)
    # Nearly always nothing is found, and that is known after one search through all texts at once.
    together = _BETWEEN.join(texts)
    rules = tuple(rule for rule in rules_for(together) if rule.pattern.search(together))
    if not rules:
        return ()
    places = (place for place, text in _texts(data, "") if flags_of(text, rules))
    return tuple(islice(dict.fromkeys(places), MOST_PLACES))


def with_flags(data: dict[str, Any], places: Sequence[str]) -> dict[str, Any]:
    """The data with the places where it needs care."""
    return {**data, INSTRUCTION_LIKE: list(places)}


def note_of(places: Sequence[str]) -> str:
    return NOTE.format(places=", ".join(places))


def _collect(value: Any, texts: list[str]) -> None:
    """Every text of the data, the names of a project's own fields included."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        for key, each in value.items():
            if not _is_name(key):
                texts.append(str(key))
            _collect(each, texts)
    elif isinstance(value, list | tuple):
        for each in value:
            _collect(each, texts)


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """The same, each with its place. A place is told in the server's own words: no text of a file is a part of it."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for number, (key, each) in enumerate(value.items()):
            here = f"{place}.{key}".removeprefix(".") if _is_name(key) else f"{place}[{number}]"
            if not _is_name(key):
                yield here, str(key)
            yield from _texts(each, here)
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _texts(each, f"{place}[{number}]")


@lru_cache(1024)
def _is_name(key: object) -> bool:
    """Whether a key is one word of a declaration, which nobody could write an order with."""
    return isinstance(key, str) and _NAME.fullmatch(key) is not None
