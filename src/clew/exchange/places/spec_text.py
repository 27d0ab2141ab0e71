"""Texts of others in Markdown specs: a line that would be read as something else gets a backslash in front of it."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate

from clew.exchange.model import Criterion
from clew.exchange.places.place import writable

FENCE = "```"
_LABELLED = re.compile(r"\s*([A-Z0-9]{1,4})\.(?:\s|$)")
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
    said = _lines(text)
    return said, _escaped(said, lambda line: is_taken(line, prefixes) or is_field(line))


def group_lines(text: str, prefixes: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The lines of a text between assertions, which begin none, as they are said and as they are written."""
    said = _lines(text)
    return said, _escaped(said, lambda line: _begins(line, prefixes))


def entry_lines(
    text: str, prefixes: tuple[str, ...], *, with_numbers: bool = False
) -> tuple[list[str], list[str | None]]:
    """The lines of an assertion's text, which begin no other one, as they are said and as they are written; None for a
    blank one outside code, which is not written. A numbered list is text `with_numbers`."""
    first, *rest = said = _lines(text)
    # The first stands behind a label: it neither begins anything nor opens a code block.
    begins = partial(_begins, prefixes=prefixes, with_numbers=with_numbers)
    written = zip(_escaped(rest, begins), in_code(rest), strict=True)
    return said, [first, *(line if line or is_code else None for line, is_code in written)]


def in_code(lines: Sequence[str]) -> list[bool]:
    """Which lines stand in a code block, fences included; none where the last block is never closed."""
    fences = [line.lstrip().startswith(FENCE) for line in lines]
    if sum(fences) % 2:
        return [False] * len(fences)
    return [is_fence or number % 2 == 1 for is_fence, number in zip(fences, accumulate(fences), strict=True)]


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in writable(text).split("\n")]


def _escaped(lines: Sequence[str], begins: Callable[[str], bool]) -> list[str]:
    """The lines as they are written: outside code, what begins something else gets a backslash."""
    return [
        f"\\{line.lstrip()}" if not is_code and (begins(line) or line.lstrip().startswith(FENCE)) else line
        for line, is_code in zip(lines, in_code(lines), strict=True)
    ]


def _without_blank_edges(text: str) -> str:
    lines = _lines(text)
    said = [index for index, line in enumerate(lines) if line]
    return "\n".join(lines[said[0] : said[-1] + 1]) if said else ""


LinesOf = Callable[[str], tuple[Sequence[str], Sequence[str | None]]]


def rewritten(former: str, text: str, lines_of: LinesOf) -> str:
    """What is written in the place of a text that stands in a file: lines that it says already stay as they stand."""
    from difflib import SequenceMatcher  # only for what is edited

    stands = former.split("\n")
    if stands[0].strip() and stands[-1].strip():
        text = _without_blank_edges(text)
    before, after = (list(zip(*lines_of(each), strict=True)) for each in (former, text))
    found: list[str] = []
    for kind, start, end, begin, until in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            found += stands[start:end]
        else:
            found += [written for _, written in after[begin:until] if written is not None]
    return "\n".join(found)


def is_taken(line: str, prefixes: tuple[str, ...]) -> bool:
    """Whether a line would be read as a heading, an End marker or the header of a requirement."""
    is_header = bool(prefixes) and ":" in line and line.lstrip("# \t").startswith(prefixes)
    return is_header or _STARTS_SOMETHING.match(line) is not None


def entry(criterion: Criterion, prefixes: tuple[str, ...]) -> str:
    """The text of an assertion; a scenario begins with its title."""
    written = entry_lines(criterion_text(criterion).strip(), prefixes)[1]
    return "\n".join(line for line in written if line is not None)


def criterion_text(criterion: Criterion) -> str:
    return f"{criterion.title}: {criterion.text}" if criterion.title else criterion.text


def _begins(line: str, prefixes: tuple[str, ...], *, with_numbers: bool = False) -> bool:
    """Whether a line would be read as the beginning of something else, among assertions."""
    label = _LABELLED.match(line)
    is_entry = label is not None and not (with_numbers and label[1].isdigit())
    return is_entry or _EMPHASISED.fullmatch(line) is not None or is_taken(line, prefixes) or begins_field(line)
