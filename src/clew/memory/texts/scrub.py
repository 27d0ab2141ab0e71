"""Secrets are taken out of a text before it is stored; the answer names their kind and place, never their value.

A secret is known by its shape (`secret_kinds.TOKENS`), by what it is assigned to (`assigned.py`),
or by its check digit (`personal.py`).
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from clew.memory.texts.secret_kinds import NAME_MARKS, TOKENS, compiled

_FEWEST_DIGITS = 9
"""Of a number of a person; texts with fewer have none."""


class Redaction(msgspec.Struct, frozen=True):
    kind: str
    start: int
    end: int
    """Characters of the text as it was given."""
    field: str = "content"
    """Field in which it was found: content, rationale, tags[0], metadata.owner, ..."""


class Scrubbed(msgspec.Struct, frozen=True):
    text: str
    found: tuple[Redaction, ...] = ()


def scrub(text: str, field: str = "content") -> Scrubbed:
    """The text with each secret replaced by its kind."""
    found = tuple(_found(text, field))
    if not found:
        return Scrubbed(text)
    parts: list[str] = []
    end = 0
    for each in found:
        parts += [text[end : each.start], f"[REDACTED:{each.kind}]"]
        end = each.end
    return Scrubbed("".join((*parts, text[end:])), found)


def scrub_value(value: Any, field: str, found: list[Redaction]) -> Any:
    """A value of JSON without secrets, in names as well; what was removed is added to `found`."""
    if isinstance(value, str):
        scrubbed = scrub(value, field)
        found.extend(scrubbed.found)
        return scrubbed.text
    if isinstance(value, dict):
        return {
            scrub_value(name, field, found): _scrub_named(name, inner, f"{field}.{scrub(name).text}", found)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [scrub_value(inner, f"{field}[{at}]", found) for at, inner in enumerate(value)]
    return value


def _scrub_named(name: str, value: Any, field: str, found: list[Redaction]) -> Any:
    """Remove a value whose name says that it is a secret, whatever it looks like."""
    from clew.memory.texts.assigned import SECRET_NAME

    if isinstance(value, str) and value.strip() and SECRET_NAME.search(name):
        found.append(Redaction("named_secret", 0, len(value), field))
        return "[REDACTED:named_secret]"
    return scrub_value(value, field, found)


def _found(text: str, field: str) -> Iterator[Redaction]:
    """The spans of secrets, in order and without overlap; of two that overlap the one that begins first."""
    places = [
        (match.start(), match.end(), kind)
        for kind, marks, pattern in TOKENS
        if any(mark in text for mark in marks)
        for match in compiled(pattern).finditer(text)
    ]
    lowered = text.lower()
    if any(mark in lowered for mark in NAME_MARKS):
        from clew.memory.texts.assigned import assigned

        places += assigned(text)
    if sum(map(str.isdigit, text)) >= _FEWEST_DIGITS:
        from clew.memory.texts.personal import personal_numbers

        places += personal_numbers(text)
    end = 0
    for start, stop, kind in sorted(places, key=lambda place: (place[0], -place[1])):
        if start >= end:
            yield Redaction(kind, start, stop, field)
            end = stop
        elif stop > end:
            yield Redaction(kind, end, stop, field)
            end = stop
