"""Texts of others in Markdown specs: a line that would be read as something else gets a backslash in front of it."""

import re
from collections.abc import Callable

from clew.exchange.model import Criterion
from clew.exchange.places.place import writable

FENCE = "```"
_LABELLED = re.compile(r"\s*[A-Z0-9]{1,4}\.(?:\s|$)")
_EMPHASISED = re.compile(r"\s*([*_]{1,2}).*\1\s*")
_STARTS_SOMETHING = re.compile(r"\s*(?:#|\*End\*)", re.IGNORECASE)
_STARTS_FIELD = re.compile(
    r"\s*(?:[*_]+template\b|[*_]*(?:level|status|implements|refines|satisfies|integrates|addresses)[*_]*\s*[:=])",
    re.IGNORECASE,
)


def begins_field(line: str) -> bool:
    """Whether a line would be read as a field of a requirement."""
    return _STARTS_FIELD.match(line) is not None


def plain(text: str, prefixes: tuple[str, ...], is_field: Callable[[str], bool] = begins_field) -> str:
    """A text that is read as text and nothing else; `is_field` says which lines would be read as fields. Code blocks
    stay as they are, unless one is never closed."""
    lines = [line.rstrip() for line in writable(text).strip().split("\n")]
    whole = sum(line.startswith(FENCE) for line in lines) % 2 == 0
    in_code = False
    for index, line in enumerate(lines):
        if line.startswith(FENCE) and whole:
            in_code = not in_code
        elif not in_code and (is_taken(line, prefixes) or is_field(line) or line.startswith(FENCE)):
            lines[index] = f"\\{line.lstrip()}"
    return "\n".join(lines)


def is_taken(line: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a line would be read as a heading, an End marker or the header of a requirement."""
    is_header = bool(prefixes) and ":" in line and line.lstrip("# \t").startswith(prefixes)
    return is_header or _STARTS_SOMETHING.match(line) is not None


def entry(criterion: Criterion, prefixes: tuple[str, ...]) -> str:
    """The text of an assertion, whose lines begin no other one; a scenario begins with its title."""
    text = f"{criterion.title}: {criterion.text}" if criterion.title else criterion.text
    first, *rest = writable(text).strip().split("\n")
    return "\n".join((first.rstrip(), *(_continued(line.rstrip(), prefixes) for line in rest if line.strip())))


def _continued(line: str, prefixes: tuple[str, ...]) -> str:
    begins = _LABELLED.match(line) or _EMPHASISED.fullmatch(line) or line.startswith(FENCE)
    return f"\\{line.lstrip()}" if begins or is_taken(line, prefixes) or begins_field(line) else line
