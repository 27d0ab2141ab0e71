"""References to requirements in code and tests: `# Implements: REQ-d00001-A`, and names of tests.

A comment whose first content is a keyword cites the ids that follow. Keywords, in any case and with or without `**`
around them: Implements, Refines, Verifies, Validates, Tests. The colon may be missing where an id follows directly
(`# Tests REQ-d00001`). In a test file every keyword but Refines means that the test verifies. Line and block comments
count, also beside code; strings and docstrings do not.

| code | severity | what it says |
|---|---|---|
| `markers.binary` | info | the file holds NUL bytes and was not read |
| `markers.not_utf8` | warning | bytes that are not UTF-8 |
| `markers.undeclared` | info | a comment begins with an id, but no keyword says how the code relates to it |
"""

from collections.abc import Iterator

import msgspec

from clew.formats.comments import family_for, tokens
from clew.formats.definitions import CLASS, Definition, definitions
from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.ids import IdGrammar
from clew.formats.marker_comments import KEYWORD_BYTES, Cited, CommentReader

MARKERS_VERSION = 1
"""Goes up whenever the same bytes give other records; records cached under another version are not used."""

LOOK_AHEAD = 5
"""A comment outside any function belongs to a definition that begins at most so many lines below it."""


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


class TestFunction(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A test, with or without a reference."""

    __test__ = False  # keeps pytest from collecting the class itself

    qualname: str
    line: int
    """The first line, decorators included."""
    end_line: int


class MarkerRecords(msgspec.Struct, frozen=True, array_like=True):
    """What one file of code or tests cites."""

    citations: tuple[Citation, ...] = ()
    tests: tuple[TestFunction, ...] = ()
    """Every test of a test file, in order."""
    defaults: tuple[Citation, ...] = ()
    """Citations above the first definition of a test file: they hold for every test that has none of its own."""
    diagnostics: tuple[Diagnostic, ...] = ()


def citations_of(records: MarkerRecords) -> dict[str, tuple[Citation, ...]]:
    """What each test cites, by its qualified name: its own citations, else those of its class, else the defaults."""
    by_owner: dict[str, list[Citation]] = {}
    for citation in records.citations:
        if citation.owner is not None:
            by_owner.setdefault(citation.owner, []).append(citation)
    return {test.qualname: _nearest(test.qualname, by_owner) or records.defaults for test in records.tests}


def _nearest(qualname: str, by_owner: dict[str, list[Citation]]) -> tuple[Citation, ...]:
    while qualname:
        if qualname in by_owner:
            return tuple(by_owner[qualname])
        qualname = qualname.rpartition(".")[0]
    return ()


def read_markers(data: bytes, path: str, grammar: IdGrammar, *, is_test: bool) -> MarkerRecords:
    """The citations of a file, and where `is_test` its tests. Never fails: what cannot be read is a diagnostic."""
    family = family_for(path)
    if family is None or not _worth_reading(data, is_test):
        return MarkerRecords()
    if b"\0" in data:
        message = "The file holds NUL bytes, so it is taken for binary and was not read."
        return MarkerRecords(diagnostics=(Diagnostic("markers.binary", "info", message, 1),))
    text = data.decode("utf-8", "replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = list(tokens(text, family))
    comment_reader = CommentReader(text, grammar, is_test)
    cited = list(comment_reader.read(found))
    diagnostics = comment_reader.diagnostics
    if "\ufffd" in text and (line := _first_invalid(data)):
        message = "The file is not UTF-8; what does not fit reads as U+FFFD. Save it as UTF-8."
        diagnostics.insert(0, Diagnostic("markers.not_utf8", "warning", message, line))
    defined = definitions(text, found, family) if cited or is_test else []
    return _records(cited, defined, grammar, is_test, tuple(diagnostics))


def _worth_reading(data: bytes, is_test: bool) -> bool:
    """Whether a file can hold anything of interest. Most do not, and this costs next to nothing."""
    if is_test and b"test" in data:
        return True
    folded = data.lower()
    return any(keyword in folded for keyword in KEYWORD_BYTES)


def _first_invalid(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(data[: error.start + 1].splitlines())
    return 0


def _records(
    cited: list[Cited],
    defined: list[Definition],
    grammar: IdGrammar,
    is_test: bool,
    diagnostics: tuple[Diagnostic, ...],
) -> MarkerRecords:
    tests = tuple(TestFunction(each.qualname, each.line, each.end_line) for each in defined if each.is_test)
    owners = list(_owners(cited, defined))
    first_definition = defined[0].line if defined else 0
    citations, defaults = [], []
    for item, owner in zip(cited, owners, strict=True):
        is_default = is_test and bool(tests) and item.line < first_definition
        if is_default:
            defaults.append(_citation(item, None))
        if owner is not None or not is_default:
            citations.append(_citation(item, owner))
    if is_test:
        for each in defined:
            if each.is_test:
                citations.extend(_named(each, grammar))
        citations.sort(key=lambda citation: citation.line)
    return MarkerRecords(tuple(citations), tests if is_test else (), tuple(defaults), diagnostics)


def _named(test: Definition, grammar: IdGrammar) -> Iterator[Citation]:
    name = test.qualname.rpartition(".")[2]
    for parsed in grammar.from_test_name(name):
        item = Cited("verifies", name, parsed.target, parsed.labels, test.line, False, False)
        yield _citation(item, test, origin="name")


def _citation(item: Cited, owner: Definition | None, origin: str = "comment") -> Citation:
    return Citation(
        kind=item.kind,
        written=item.written,
        target=item.target,
        labels=item.labels,
        line=item.line,
        malformed=item.malformed,
        origin=origin,
        owner=owner.qualname if owner is not None else None,
        owner_line=owner.line if owner is not None else 0,
        owner_end_line=owner.end_line if owner is not None else 0,
    )


def _owners(cited: list[Cited], defined: list[Definition]) -> Iterator[Definition | None]:
    """To whom each citation belongs: the test or function around it, else the next definition, else the class around.

    Both lists are in order, so one sweep over them is enough.
    """
    around: list[tuple[Definition, Definition]] = []
    """The definitions around the current line, each with the one that citations in it belong to."""
    following = 0
    for item in cited:
        while following < len(defined) and defined[following].line <= item.line:
            opened = defined[following]
            _leave(around, opened.line)
            outer = around[-1][1] if around else None
            around.append((opened, outer if outer is not None and outer.is_test else opened))
            following += 1
        _leave(around, item.line)
        owner = around[-1][1] if around else None
        if owner is None or owner.kind == CLASS:
            ahead = defined[following] if following < len(defined) else None
            if ahead is not None and ahead.line - item.line <= LOOK_AHEAD and not item.beside_code:
                owner = ahead
        yield owner


def _leave(around: list[tuple[Definition, Definition]], line: int) -> None:
    while around and around[-1][0].end_line < line:
        around.pop()
