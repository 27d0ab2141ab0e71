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
    """A text that is read as text and nothing else; `is_field` says which lines would be read as fields."""
    return "\n".join(plain_lines(_without_blank_edges(text), prefixes, is_field)[1])


def plain_lines(
    text: str, prefixes: tuple[str, ...], is_field: Callable[[str], bool] = begins_field
) -> tuple[list[str], list[str]]:
    """The lines of a text as they are said and as they are written. Code blocks stay as they are, unless one is never
    closed."""
    said = [line.rstrip() for line in writable(text).split("\n")]
    lines = list(said)
    whole = sum(line.startswith(FENCE) for line in lines) % 2 == 0
    in_code = False
    for index, line in enumerate(lines):
        if line.startswith(FENCE) and whole:
            in_code = not in_code
        elif not in_code and (is_taken(line, prefixes) or is_field(line) or line.startswith(FENCE)):
            lines[index] = f"\\{line.lstrip()}"
    return said, lines


def entry_lines(text: str, prefixes: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The lines of an assertion's text, which begin no other one, as they are said and as they are written."""
    said = [line.rstrip() for line in writable(text).split("\n")]
    return said, [said[0], *(_continued(line, prefixes) for line in said[1:])]


def _without_blank_edges(text: str) -> str:
    lines = [line.rstrip() for line in writable(text).split("\n")]
    said = [index for index, line in enumerate(lines) if line]
    return "\n".join(lines[said[0] : said[-1] + 1]) if said else ""


LinesOf = Callable[[str], tuple[list[str], list[str]]]


def rewritten(former: str, text: str, lines_of: LinesOf, *, with_blanks: bool = True) -> str:
    """What is written in the place of a text that stands in a file: lines that it says already stay as they stand."""
    from difflib import SequenceMatcher  # only for what is edited

    stands = former.split("\n")
    if stands[0].strip() and stands[-1].strip():
        text = _without_blank_edges(text)
    before, after = (list(zip(*lines_of(each), strict=True)) for each in (former, text))
    found: list[str] = []
    for kind, start, end, begin, until in SequenceMatcher(None, before, after).get_opcodes():
        if kind == "equal":
            found += stands[start:end]
        else:
            found += [written for _, written in after[begin:until] if written or with_blanks]
    return "\n".join(found)


def is_taken(line: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a line would be read as a heading, an End marker or the header of a requirement."""
    is_header = bool(prefixes) and ":" in line and line.lstrip("# \t").startswith(prefixes)
    return is_header or _STARTS_SOMETHING.match(line) is not None


def entry(criterion: Criterion, prefixes: tuple[str, ...]) -> str:
    """The text of an assertion; a scenario begins with its title."""
    first, *rest = entry_lines(criterion_text(criterion).strip(), prefixes)[1]
    return "\n".join((first, *filter(None, rest)))


def criterion_text(criterion: Criterion) -> str:
    return f"{criterion.title}: {criterion.text}" if criterion.title else criterion.text


def _continued(line: str, prefixes: tuple[str, ...]) -> str:
    begins = _LABELLED.match(line) or _EMPHASISED.fullmatch(line) or line.startswith(FENCE)
    return f"\\{line.lstrip()}" if begins or is_taken(line, prefixes) or begins_field(line) else line
