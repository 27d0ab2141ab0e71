"""A link written into a source file: a comment beside the definition it is about, and not another byte changed.

Nothing here writes. What would be written is read again first, so that a comment is refused that the project would not
read as meant: inside a string, in a language without comments, or where it would take a link from another test.
"""

import bisect
import re
from collections import Counter
from collections.abc import Callable
from pathlib import PurePosixPath

import msgspec

from clew.errors import FormatError, InvalidArgument, Refused
from clew.formats.code.comments import BLOCK, LINE, Token, tokens
from clew.formats.code.definitions.model import Definition
from clew.formats.code.definitions.scan import definitions
from clew.formats.code.languages import Family, family_for
from clew.formats.code.markers import Citation, MarkerRecords, cited_by
from clew.formats.elspais.ids.grammar import IdGrammar

_LINE_END = re.compile(rb"\r\n|\r|\n")
_STAYS_FIRST = re.compile(
    r"#!|<\?|<!doctype|@charset|# *-\*-|#.*\bcoding[:=]|# *(?:frozen_string_literal|warn_indent|shareable_constant)",
    re.IGNORECASE,
)
"""Lines at the top of a file that mean something only there."""
_BLOCK_SCALAR = re.compile(r"[|>][-+]?\d?[-+]?[ \t]*$")
_BOM = b"\xef\xbb\xbf"

Target = tuple[str, tuple[str, ...]]
"""A requirement and those of its assertions that are meant."""

_LINE_MARKS = {
    "#": "python shell data yaml toml r nix ruby perl elixir julia nim powershell terraform",
    "//": "script dart groovy c zig java csharp kotlin swift go rust php style fsharp pascal",
    "--": "sql lua haskell dashes",
    "%": "tex erlang prolog",
    ";;": "lisp",
    ";": "config",
    "!": "fortran",
    '"': "vim",
    "'": "basic",
}
_BLOCK_MARKS = {
    "css": ("/*", "*/"),
    "ml": ("(*", "*)"),
    "markup": ("<!--", "-->"),
    "template": ("{#", "#}"),
}
_MARK_OF = {family: mark for mark, families in _LINE_MARKS.items() for family in families.split()}
_SECTION_TAG = re.compile(r"<(/?)(script|style)\b[^>]*>", re.IGNORECASE)


class PlacedLink(msgspec.Struct, frozen=True):
    """The outcome of placing a link."""

    content: bytes
    """The whole file; the same as before where the link was there already."""
    comment: str
    """Without indentation."""
    line: int
    """The line of the comment, or of the definition that has the link already."""
    owner: str | None
    """The function or class that the link belongs to; None for the file."""
    already_there: bool


class LinkComment:
    """Places links in one file."""

    def __init__(self, data: bytes, path: str, grammar: IdGrammar, read: Callable[[bytes], MarkerRecords]) -> None:
        """`read` gives the markers that the project reads in a file of this path."""
        family = family_for(path)
        if family is None:
            raise Refused(
                f"Clew does not know the comments of '{PurePosixPath(path).name}'.",
                hint="Links are comments; put it into a file of a language that has them.",
            )
        if b"\0" in data:
            raise Refused(f"'{path}' is a binary file.", hint="Name a text file.")
        self._data = data
        self._path = path
        self._family: Family = family
        self._grammar = grammar
        self._read = read
        self._text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        self._lines = self._text.split("\n")
        self._tokens = list(tokens(self._text, family))
        self._definitions = definitions(self._text, self._tokens, family)
        self._starts = [0, *(at + 1 for at, sign in enumerate(self._text) if sign == "\n")]
        self._before = _pairs(read(data))

    @property
    def line_count(self) -> int:
        """A last line end begins no line."""
        return len(self._lines) - (self._lines[-1] == "")

    def place(self, line: int, keyword: str, target: Target) -> PlacedLink:
        """Link the definition around a line to a requirement; line 0, or one outside of all, means the file there."""
        if not 0 <= line <= max(self.line_count, 1):
            raise InvalidArgument(
                f"'{self._path}' has {self.line_count} lines; there is no line {line}.",
                hint="Pass the line of the function, class or test, or 0 for the top of the file.",
            )
        owner = self._around(line)
        name = owner.qualname if owner is not None else None
        own = [cited for who, cited in self._before if who == _who(name)]
        if _holds(own, target):
            return PlacedLink(self._data, "", owner.line if owner is not None else line, name, True)
        at = self._above(owner) if owner is not None else self._free_line(line)
        placed = self._written(at, keyword, (target,), name)
        # A test with a citation of its own no longer has those of its file or class: it has to take them along.
        lost = [cited for who, cited in self._before - self._cited_in(placed) if who == _who(name)]
        if lost:
            placed = self._written(at, keyword, (*lost, target), name)
        after = self._cited_in(placed)
        if after != self._before and after.keys() == self._before.keys():
            return PlacedLink(self._data, "", line, name, True)
        self._check(placed, target, after)
        return placed

    # Where

    def _around(self, line: int) -> Definition | None:
        """The innermost definition around a line, or the one that a comment documents; for a test, the test itself."""
        below = self._below_comments(line) if line else 0
        found = next((each for each in self._definitions if each.line == below), None)
        if found is not None:
            return found
        for each in self._definitions:
            if each.line <= line <= each.end_line and not (found is not None and found.is_test):
                found = each
        return found

    def _below_comments(self, line: int) -> int:
        """The first line from this one on that is code."""
        comments = {
            number
            for token in self._tokens
            if token.kind in (LINE, BLOCK) and self._begins_line(token)
            for number in range(self._line_of(token.start), self._line_of(token.end) + 1)
        }
        while line < self.line_count and (line in comments or not self._lines[line - 1].strip()):
            line += 1
        return line

    def _begins_line(self, token: Token) -> bool:
        return not self._text[self._starts[self._line_of(token.start) - 1] : token.start].strip()

    def _above(self, owner: Definition) -> int:
        """The line before which the comment goes: the definition, or the block comment that documents it."""
        for token in self._tokens:
            if token.kind == BLOCK and self._line_of(token.end) == owner.line - 1 and self._begins_line(token):
                return self._line_of(token.start)
        return owner.line

    def _free_line(self, line: int) -> int:
        """A line before which a comment is allowed: not inside a string or comment, and not in a continued line."""
        line = max(line, 1)
        for token in self._tokens:
            first, last = self._line_of(token.start), self._line_of(max(token.start, token.end - 1))
            if first < line <= last:
                line = first
        while line > 1 and self._lines[line - 2].endswith("\\"):
            line -= 1
        while line <= self.line_count and self._stays_first(line):
            line += 1
        if self._family.name == "yaml" and self._in_block_scalar(line):
            raise Refused(
                f"Line {line} of '{self._path}' lies inside a text value, where a comment would become part of it.",
                hint="Pass the line of a key.",
            )
        return line

    def _stays_first(self, line: int) -> bool:
        return line <= 2 and _STAYS_FIRST.match(self._lines[line - 1]) is not None

    def _in_block_scalar(self, line: int) -> bool:
        indent = _indent(self._lines[line - 1]) if line <= self.line_count else ""
        for above in reversed(self._lines[: line - 1]):
            if above.strip() and len(_indent(above)) < len(indent):
                return _BLOCK_SCALAR.search(above) is not None
        return False

    def _line_of(self, offset: int) -> int:
        return bisect.bisect_right(self._starts, offset)

    # What

    def _written(self, line: int, keyword: str, targets: tuple[Target, ...], owner: str | None) -> PlacedLink:
        body = f"{keyword}: {', '.join(self.spelled(target) for target in targets)}"
        above = "\n".join(self._lines[: line - 1])
        text = comment(body, self._family, above)
        start = _offset(self._data, line)
        indent = _indent(self._lines[line - 1]) if line <= len(self._lines) else ""
        content = self._data[:start] + self._inserted(start, indent + text) + self._data[start:]
        return PlacedLink(content, text, line, owner, False)

    def _inserted(self, start: int, text: str) -> bytes:
        ends = _LINE_END.search(self._data)
        end = ends[0] if ends else b"\n"
        begins_line = start in (0, len(_BOM)) or self._data[start - 1 : start] in (b"\n", b"\r")
        line = text.encode()
        return line + end if begins_line else end + line

    def spelled(self, target: Target) -> str:
        """A reference as a comment spells it."""
        id, labels = target
        if not labels:
            return id
        if self._grammar.parse_reference(id) is None:
            return ", ".join(f"{id}#{label}" for label in labels)
        first = self._grammar.assertion_id(id, labels[0])
        return self._grammar.settings.label_multi_separator.join((first, *labels[1:]))

    # Whether it is read as meant

    def _cited_in(self, placed: PlacedLink) -> "Counter[Pair]":
        return _pairs(self._read(placed.content))

    def _check(self, placed: PlacedLink, target: Target, after: "Counter[Pair]") -> None:
        """Check that all former citations are still there, and that the only new one is this link, at its owner if it
        has one."""
        new = after - self._before
        owners = {who for who, cited in new if cited == target}
        if self._before - after or not owners or (placed.owner is not None and owners != {_who(placed.owner)}):
            raise FormatError(
                f"A comment at line {placed.line} of '{self._path}' would not be read as a link of "
                f"{placed.owner or 'the file'}; nothing was written.",
                hint=f"Write it by hand where it belongs: {placed.comment}",
            )


Pair = tuple[str, Target]
"""A citing node and its target."""


def _pairs(records: MarkerRecords) -> "Counter[Pair]":
    """All citations of a file: for each test, its own and those of its class or file; the others by their owner."""
    found: Counter[Pair] = Counter()
    carried: set[int] = set()
    for test in records.tests:
        found.update((_who(test.qualname), _target(each)) for each in cited_by(test, records))
        carried.update(test.cites)
    found.update(
        (_who(each.owner), _target(each)) for place, each in enumerate(records.citations) if place not in carried
    )
    found.update((_who(None), _target(each)) for each in records.defaults)
    return found


def _who(owner: str | None) -> str:
    return owner or ""


def _target(citation: Citation) -> Target:
    return citation.target, citation.labels


def _holds(cited: list[Target], wanted: Target) -> bool:
    id, labels = wanted
    if not labels:
        return (id, ()) in cited
    known = {label for other, own in cited if other == id for label in own}
    return known >= set(labels)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _offset(data: bytes, line: int) -> int:
    """The position of a line's beginning, after a byte order mark."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    if line <= 1:
        return start
    for number, end in enumerate(_LINE_END.finditer(data), start=2):
        if number == line:
            return end.end()
    return len(data)


def comment(body: str, family: Family, before: str = "") -> str:
    """The body as a comment on a line of its own. `before` is the text above it, which decides the language in a
    component file."""
    mark = _MARK_OF.get(family.name)
    if mark is not None:
        return f"{mark} {body}"
    marks = _BLOCK_MARKS.get(family.name)
    if marks is None:
        tags = _SECTION_TAG.findall(before)
        in_section = bool(tags) and not tags[-1][0]
        marks = _BLOCK_MARKS["css" if in_section else "markup"]
    return f"{marks[0]} {body} {marks[1]}"
