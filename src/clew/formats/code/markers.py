"""References to requirements in code and tests: `# Implements: REQ-d00001-A`, and names of tests.

A comment whose first content is a keyword cites the ids that follow. Keywords, in any case and with or without `**`
around them: Implements, Refines, Verifies, Validates, Tests. The colon may be missing where an id follows directly
(`# Tests REQ-d00001`). In a test file every keyword but Refines means that the test verifies. Line and block comments
count, also beside code, and so do the lines of a Python docstring; other strings do not.

| code | severity | what it says |
|---|---|---|
| `markers.binary` | info | the file holds NUL bytes and was not read |
| `markers.not_utf8` | warning | bytes that are not UTF-8 |
| `markers.undeclared` | info | a comment begins with an id, but no keyword says how the code relates to it |
"""

import bisect
import re
from collections.abc import Iterator

import msgspec

from clew.formats.code.comments import STRING, Family, Token, family_for, tokens
from clew.formats.code.definitions.model import CLASS, Definition
from clew.formats.code.definitions.scan import definitions
from clew.formats.code.marker_comments import (
    BESIDE_CODE,
    IN_DOCSTRING,
    KEYWORD_BYTES,
    ON_ITS_OWN,
    Cited,
    CommentReader,
)
from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference
from clew.formats.elspais.ids.register import RegisterIds, is_register_id

MARKERS_VERSION = 7
"""Goes up whenever the same bytes give other records; records cached under another version are not used."""

LOOK_AHEAD = 5
"""A comment outside any function belongs to a definition that begins at most so many lines below it, where lines of
comments do not count."""


_REGISTER_ID = re.compile(rb"(?i)req[-_][0-9]")
_REGISTER_WORD = re.compile(r"(?i)req[-_][0-9]")

_INLINE_TESTS = {"rust": (b"#[test]", b"::test]", b"::test(", b"#[rstest"), "zig": (b'test "',)}


class Citation(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One reference in a comment or in the name of a test."""

    kind: str
    """implements, refines or verifies."""
    written: str
    target: str
    """The canonical id, or the written text where it does not follow the grammar."""
    labels: tuple[str, ...]
    line: int
    malformed: bool
    """The item begins like an id of the project, but does not follow the grammar."""
    origin: str
    """comment or name."""
    owner: str | None
    """The qualified name of the function or class it belongs to; None for the file as a whole."""
    owner_line: int
    owner_end_line: int
    in_prose: bool = False
    """Other words are beside it, or it is in a docstring: it may be spoken of and not cited."""


class TestFunction(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A test, with or without a reference."""

    __test__ = False  # keeps pytest from collecting the class itself

    names: tuple[str, ...]
    """From the outermost class inwards, its own name last."""
    line: int
    """The first line, decorators included."""
    end_line: int
    cites: tuple[int, ...] = ()
    """Numbers of the citations of the file that are its own, or those of the nearest class that has any, counted from
    0."""

    @property
    def qualname(self) -> str:
        """The names joined by dots, to show to people."""
        return ".".join(self.names)


class MarkerRecords(msgspec.Struct, frozen=True, array_like=True):
    """Citations and tests of a file."""

    citations: tuple[Citation, ...] = ()
    tests: tuple[TestFunction, ...] = ()
    """Every test of the file, in order. Code may hold tests beside what they test, as Rust does."""
    defaults: tuple[Citation, ...] = ()
    """Citations of a test file as a whole: they hold for every test without a citation of its own or of its class."""
    diagnostics: tuple[Diagnostic, ...] = ()


def cited_by(test: TestFunction, records: MarkerRecords) -> tuple[Citation, ...]:
    """Citations of a test: its own, else those of its class, else the defaults of the file."""
    return tuple(records.citations[position] for position in test.cites) or records.defaults


def carried_by_none(records: MarkerRecords) -> tuple[Citation, ...]:
    """Citations of a file that none of its tests has."""
    carried = {position for test in records.tests for position in test.cites}
    strays = [citation for position, citation in enumerate(records.citations) if position not in carried]
    if all(test.cites for test in records.tests):
        strays.extend(records.defaults)
    return tuple(strays)


def read_markers(
    data: bytes, path: str, grammar: IdGrammar, *, is_test: bool, register: bool = False, specs: bool = False
) -> MarkerRecords:
    """The citations of a file, and where `is_test` its tests; with `register`, ids such as REQ-0042 count as well, with
    `specs` references such as `auth/login#locked-out`.

    Never fails: what cannot be read is a diagnostic.
    """
    family = family_for(path)
    if family is None or not _worth_reading(data, family, is_test, register):
        return MarkerRecords()
    if b"\0" in data:
        message = "The file holds NUL bytes, so it is taken for binary and was not read."
        return MarkerRecords(diagnostics=(Diagnostic("markers.binary", "info", message, 1),))
    text = _text(data)
    found = list(tokens(text, family))
    register_ids = RegisterIds(grammar) if register else None
    comment_reader = CommentReader(text, grammar, is_test, register_ids, specs=specs)
    cited = list(comment_reader.read(found))
    diagnostics = comment_reader.diagnostics
    if "\ufffd" in text and (line := _first_invalid(data)):
        message = "The file is not UTF-8; what does not fit reads as U+FFFD. Save it as UTF-8."
        diagnostics.insert(0, Diagnostic("markers.not_utf8", "warning", message, line))
    inline = not is_test and _has_inline_tests(data, family)
    defined = definitions(text, found, family) if cited or is_test or inline else []
    if not is_test and not inline:
        # What looks like a test in other code is no test: nobody runs it there.
        defined = [msgspec.structs.replace(each, is_test=False) if each.is_test else each for each in defined]
    owners = list(_Owners(defined, comment_reader.comment_lines).of(cited))
    places = comment_reader.comment_lines if is_test else None
    return _records(cited, owners, defined, places, _Names(grammar, register_ids), tuple(diagnostics))


def register_citations(
    data: bytes, path: str, grammar: IdGrammar, *, is_test: bool, specs: bool = False
) -> tuple[tuple[ParsedReference, int], ...]:
    """Citations of a register in a file, each with its line: the same as `read_markers` finds. Their owners are not
    determined, which takes half the time."""
    family = family_for(path)
    if family is None or b"\0" in data or _REGISTER_ID.search(data) is None:
        return ()
    text = _text(data)
    found = list(tokens(text, family))
    ids = RegisterIds(grammar)
    cited: list[Cited | Citation] = list(CommentReader(text, grammar, is_test, ids, specs=specs).read(found))
    if (is_test or _has_inline_tests(data, family)) and _outside_comments(text, found):
        names = _Names(grammar, ids)
        for test in definitions(text, found, family):
            cited += names.cited_by(test) if test.is_test else ()
    own = (each for each in cited if is_register_id(each.target))
    return tuple((ParsedReference(each.target, each.labels), each.line) for each in sorted(own, key=lambda it: it.line))


def _outside_comments(text: str, found: list[Token]) -> bool:
    """True if ids occur anywhere but in comments, as in the name of a test."""
    inside = sum(len(_REGISTER_WORD.findall(text, token.start, token.end)) for token in found if token.kind != STRING)
    return len(_REGISTER_WORD.findall(text)) > inside


def _text(data: bytes) -> str:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _worth_reading(data: bytes, family: Family, is_test: bool, register: bool) -> bool:
    """True if a file may hold citations or tests. Most do not, and this test is cheap."""
    if is_test and family.blocks and (family.name != "python" or b"test" in data):
        return True
    if (register and b"REQ-" in data) or _has_inline_tests(data, family):
        return True
    folded = data.lower()
    return any(keyword in folded for keyword in KEYWORD_BYTES)


def _has_inline_tests(data: bytes, family: Family) -> bool:
    """True if code of a language with inline tests has any."""
    return any(sign in data for sign in _INLINE_TESTS.get(family.name, ()))


def _first_invalid(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(data[: error.start + 1].splitlines())
    return 0


def _records(
    cited: list[Cited],
    owners: list[int],
    defined: list[Definition],
    comment_lines: list[int] | None,
    names: "_Names",
    diagnostics: tuple[Diagnostic, ...],
) -> MarkerRecords:
    """The records of a file; what is at the top of a file of tests, for which `comment_lines` are given, may hold
    for all of them."""
    tests = [index for index, each in enumerate(defined) if each.is_test]
    found: list[tuple[Citation, int]] = []
    defaults = []
    for item, owner in zip(cited, owners, strict=True):
        if tests and comment_lines is not None and _is_default(item, defined[0].line, comment_lines):
            defaults.append(_citation(item, None))
        else:
            found.append((_citation(item, defined[owner] if owner >= 0 else None), owner))
    for index in tests:
        found.extend((citation, index) for citation in names.cited_by(defined[index]))
    found.sort(key=lambda each: each[0].line)
    by_owner: dict[int, list[int]] = {}
    for position, (_, owner) in enumerate(found):
        if owner >= 0:
            by_owner.setdefault(owner, []).append(position)
    return MarkerRecords(
        citations=tuple(citation for citation, _ in found),
        tests=tuple(_test(index, defined, by_owner) for index in tests),
        defaults=tuple(defaults),
        diagnostics=diagnostics,
    )


def _is_default(item: Cited, first_definition: int, comment_lines: list[int]) -> bool:
    """True if a citation holds for the file: it is above the first definition, and not directly above it."""
    if item.line >= first_definition:
        return False
    between = first_definition - item.line - 1
    return item.place != ON_ITS_OWN or _comments_between(item.line, first_definition, comment_lines) < between


def _comments_between(line: int, further: int, comment_lines: list[int]) -> int:
    return bisect.bisect_left(comment_lines, further) - bisect.bisect_right(comment_lines, line)


def _test(index: int, defined: list[Definition], by_owner: dict[int, list[int]]) -> TestFunction:
    test = defined[index]
    while index >= 0 and index not in by_owner:
        index = defined[index].parent
    return TestFunction(test.names, test.line, test.end_line, tuple(by_owner.get(index, ())))


class _Names:
    """The references in names of tests: `test_REQ_d00062_A_rings`, `test("REQ-d00062-A rings", ...)`."""

    def __init__(self, grammar: IdGrammar, register: RegisterIds | None) -> None:
        self._grammar = grammar
        self._register = register

    def cited_by(self, test: Definition) -> Iterator[Citation]:
        name = test.names[-1]
        for parsed in self._references(name):
            item = Cited("verifies", name, parsed.target, parsed.labels, test.line, False, ON_ITS_OWN)
            yield _citation(item, test, origin="name")

    def _references(self, name: str) -> Iterator[ParsedReference]:
        yield from self._grammar.from_test_name(name)
        if self._register is not None:
            yield from self._register.in_name(name)
        for word in name.split() if "-" in name else ():
            bare = word.strip("[](){}<>`'\":,.;!?")
            parsed = self._grammar.parse_reference(bare) if self._grammar.resembles(bare) else None
            if parsed is None and self._register is not None:
                parsed = self._register.parse(bare)
            if parsed is not None:
                yield parsed


def _citation(item: Cited, owner: Definition | None, origin: str = "comment") -> Citation:
    kind = item.kind
    if owner is not None and owner.is_test and kind == "implements":
        kind = "verifies"
    return Citation(
        kind=kind,
        written=item.written,
        target=item.target,
        labels=item.labels,
        line=item.line,
        malformed=item.malformed,
        origin=origin,
        owner=owner.qualname if owner is not None else None,
        owner_line=owner.line if owner is not None else 0,
        owner_end_line=owner.end_line if owner is not None else 0,
        in_prose=item.in_prose,
    )


class _Owners:
    """Finds to whom citations belong: the test or function around, else the next definition, else the class around."""

    def __init__(self, defined: list[Definition], comment_lines: list[int]) -> None:
        self._defined = defined
        self._comment_lines = comment_lines
        self._belonging: list[int] = []
        """To whom citations in each definition belong: to it, or to the test that it is part of."""
        self._holding_tests: set[int] = set()
        for index, each in enumerate(defined):
            outer = self._belonging[each.parent] if each.parent >= 0 else -1
            self._belonging.append(outer if outer >= 0 and defined[outer].is_test else index)
            parent = each.parent if each.is_test else -1
            while parent >= 0 and parent not in self._holding_tests:
                self._holding_tests.add(parent)
                parent = defined[parent].parent

    def of(self, cited: list[Cited]) -> Iterator[int]:
        """The owner of each citation, -1 for none. Both lists are in order, so one sweep over them is enough."""
        around: list[int] = []
        """The definitions around the current line."""
        following = 0
        for item in cited:
            while following < len(self._defined) and self._defined[following].line <= item.line:
                self._leave(around, self._defined[following].line)
                around.append(following)
                following += 1
            self._leave(around, item.line)
            owner = self._belonging[around[-1]] if around else -1
            yield following if self._is_above(item, owner, following) else owner

    def _is_above(self, item: Cited, owner: int, following: int) -> bool:
        """True if a citation belongs to the definition that follows."""
        if following >= len(self._defined) or item.place in (BESIDE_CODE, IN_DOCSTRING):
            return False
        ahead = self._defined[following].line
        if owner >= 0:
            around = self._defined[owner]
            if ahead > around.end_line or not (around.kind == CLASS or owner in self._holding_tests):
                return False
        return ahead - item.line - _comments_between(item.line, ahead, self._comment_lines) <= LOOK_AHEAD

    def _leave(self, around: list[int], line: int) -> None:
        while around and self._defined[around[-1]].end_line < line:
            around.pop()
