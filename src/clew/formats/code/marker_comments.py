"""The citations in the comments of a file, before it is known whom they belong to.

A register's ids need no keyword: a comment that mentions one marks the code below it.
"""

import re
from collections.abc import Iterator

import msgspec

from clew.formats.code.comments import DOCSTRING, LINE, STRING, Token
from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference
from clew.formats.elspais.ids.register import RegisterIds
from clew.formats.openspec.references import SpecReference, format_reference, parse_reference

LARGEST_RANGE = 100
"""More than that at once is rather a slip of the pen."""
_RANGE = re.compile(r"(\S+?)(?:\s*(?:\.{2,3}|…|–|—)\s*|\s+(?:to|through|thru|-)\s+)(\S+)")
_SIGNS = ("..", "…", "–", "—", " to ", " through ", " thru ", " - ")
_NUMBERED = re.compile(r"(.*?)([0-9]+)\Z")
_RANGE_WRAPPING = "[](){}<>`'\"*,;:!?"


_KEYWORDS = {
    "implements": "implements",
    "refines": "refines",
    "verifies": "verifies",
    "validates": "verifies",
    "tests": "verifies",
}
KEYWORD_BYTES = tuple(keyword.encode() for keyword in _KEYWORDS)

ON_ITS_OWN, BESIDE_CODE, IN_DOCSTRING = "on its own", "beside code", "in a docstring"


class Cited(msgspec.Struct, frozen=True, gc=False):
    """A citation before it is known whom it belongs to."""

    kind: str
    written: str
    target: str
    labels: tuple[str, ...]
    line: int
    malformed: bool
    place: str
    """Place of the comment: on its own, beside code, or in a docstring."""
    in_prose: bool = False
    """It is in a docstring, the subject of a sentence or, without a colon before it, among other words."""


_MARKER = re.compile(
    r"[*_]*+(implements|refines|verifies|validates|tests)"
    r"(?:(?P<block>\s+requirements\s*:)[*_]*\s*|(?P<colon>:[*_]*+|[*_]*+\s*:)\s*|[*_]*+\s+)",
    re.IGNORECASE,
)
_DECORATION = " \t/!#;-%|@"
"""Signs between the mark of a comment and its first word: `///`, `//!`, `##`, `-- |`, `@`."""
_SEPARATOR = re.compile(r"[,;&]|(?<!\S)and(?!\S)")
_REMARK = re.compile(r"\(([^()]*)\)")
_VERB = re.compile(r"(?:is|are|was|were|has|have|had|does|did|will|would|can|could|may|must|should|shall)\b")
"""Words by which a text goes on as a sentence about the id before them."""
_BULLETS = " \t-*+•"
_WRAPPING = "[](){}<>`'\"*.:!?"
"""Signs around an id, or at the end of its sentence."""
_MOST_UNDECLARED = 100


class CommentReader:
    """Finds the citations in the comments of a file, line by line."""

    def __init__(
        self, text: str, grammar: IdGrammar, is_test: bool, register: RegisterIds | None, *, specs: bool = False
    ) -> None:
        self._text = text
        self._grammar = grammar
        self._is_test = is_test
        self._register = register
        self._specs = specs
        self._kind = ""
        self._continues_at = 0
        """The line in which a list that ended in a comma, or a block of ids, goes on."""
        self._in_block = False
        """True if every further line may begin with an id, because the keyword's own line had none."""
        self._with_short_forms = True
        """True if `d1` is an id in the current list; without a colon before it, it is an ordinary word."""
        self._in_prose = False
        """True if the current list is in a text that may only mention ids."""
        self.diagnostics: list[Diagnostic] = []
        self.comment_lines: list[int] = []
        """The lines that begin with a comment, in order."""

    def read(self, found: list[Token]) -> Iterator[Cited]:
        line, counted = 1, 0
        for token in found:
            if token.kind == STRING:
                continue
            line += self._text.count("\n", counted, token.start)
            counted = token.start
            body = self._text[token.text_start : token.text_end]
            if token.kind == DOCSTRING:
                yield from self._docstring(body, line)
                continue
            place = BESIDE_CODE if self._is_beside_code(token.start) else ON_ITS_OWN
            if place == ON_ITS_OWN:
                self.comment_lines.append(line)
            if token.kind == LINE:
                yield from self._line(body, line, place)
            else:
                yield from self._block(body, line, place)

    def _block(self, body: str, line: int, place: str) -> Iterator[Cited]:
        first, *others = body.split("\n")
        yield from self._line(first, line, place)
        for number, part in enumerate(others, start=line + 1):
            self.comment_lines.append(number)
            yield from self._line(part, number, ON_ITS_OWN)

    def _docstring(self, body: str, line: int) -> Iterator[Cited]:
        for number, part in enumerate(body.split("\n"), start=line):
            if ":" in part or number == self._continues_at:
                yield from self._line(part, number, IN_DOCSTRING)

    def _is_beside_code(self, start: int) -> bool:
        index = start - 1
        while index >= 0 and self._text[index] in " \t":
            index -= 1
        return index >= 0 and self._text[index] != "\n"

    def _line(self, comment: str, line: int, place: str) -> Iterator[Cited]:
        content = comment.strip()
        if place != IN_DOCSTRING:
            content = content.lstrip(_DECORATION)
        if content[:2] in ("* ", "*\t"):  # a further line of a block comment
            content = content[2:].lstrip(_DECORATION)
        marker = _MARKER.match(content)
        if marker is not None and marker["colon"] is None and place == IN_DOCSTRING:
            marker = None
        continues, self._continues_at = line == self._continues_at, 0
        if marker is None:
            if continues and content:
                yield from self._continued(content.lstrip(_BULLETS), line, place)
            elif place != IN_DOCSTRING:
                yield from self._without_keyword(content, line, place)
            return
        rest = content[marker.end() :].removesuffix("*/").removesuffix("-->").rstrip()
        self._kind = _KEYWORDS[marker[1].lower()]
        if self._is_test and self._kind != "refines":
            self._kind = "verifies"
        self._with_short_forms = marker["colon"] is not None
        self._in_block = marker["block"] is not None or (marker["colon"] is not None and not rest)
        if self._in_block:
            self._continues_at = line + 1
        else:
            yield from self._items(rest, line, place)

    def _continued(self, content: str, line: int, place: str) -> Iterator[Cited]:
        if self._in_block:
            word = self._bare(content.split(None, 1)[0].rstrip(",;"))
            if not self._resembles(word) and self._meant(word) is None:
                return
            self._continues_at = line + 1
        yield from self._items(content, line, place)

    def _without_keyword(self, content: str, line: int, place: str) -> Iterator[Cited]:
        """A comment that only mentions ids: for a register that is enough."""
        mentioned = self._register.mentioned(content) if self._register is not None else ()
        self._kind = "verifies" if self._is_test else "implements"
        self._in_prose = False
        for written, parsed in mentioned:
            yield self._cited(written, parsed, line, place)
        if not mentioned and self._grammar.resembles(content):
            self._undeclared(content, line)

    def _items(self, rest: str, line: int, place: str) -> Iterator[Cited]:
        """A list of ids, up to the first other word; remarks in parentheses are skipped."""
        declared = self._with_short_forms or self._in_block
        among_words = self._goes_on(rest) if declared else self._has_other_words(rest)
        self._in_prose = place == IN_DOCSTRING or among_words
        if self._with_short_forms and (parsed := self._meant(rest)) is not None:
            yield self._cited(rest, parsed, line, place)
            return
        rest = spelled_out(_REMARK.sub(self._without_remark, rest), self._grammar)
        items = _SEPARATOR.split(rest)
        last: Cited | None = None
        for item in items:
            words = [self._bare(word) for word in item.split()]
            if last is not None and last.labels and len(words) == 1 and self._is_label(words[0], last.target):
                # A further assertion of the same requirement: `REQ-d00001-A, B`.
                written = self._grammar.assertion_id(last.target, words[0])
                yield Cited(self._kind, written, last.target, (words[0],), line, False, place, self._in_prose)
                continue
            references = [self._meant(word) for word in words]
            for word, parsed in zip(words, references, strict=True):
                if not self._resembles(word) and not self._is_short(parsed, alone=None not in references):
                    return
                last = self._cited(word, parsed, line, place)
                yield last
        if len(items) > 1 and not items[-1].strip() and not rest.endswith(";"):
            self._continues_at = line + 1

    def _goes_on(self, rest: str) -> bool:
        """True if the first id is the subject of a sentence, as in `Validates: REQ-d00001-A is meant by each step`."""
        first, _, then = rest.partition(" ")
        return self._resembles(self._bare(first)) and _VERB.match(then) is not None

    def _has_other_words(self, rest: str) -> bool:
        words = (self._bare(word) for item in _SEPARATOR.split(rest) for word in item.split())
        return any(word and not self._resembles(word) and not self._grammar.is_label(word) for word in words)

    def _is_label(self, word: str, target: str) -> bool:
        if self._register is not None and self._register.parse(target) is not None:
            return word.isdecimal()
        return self._grammar.is_label(word)

    def _meant(self, word: str) -> ParsedReference | None:
        parsed = self._grammar.parse_reference(word)
        if parsed is None and self._register is not None:
            parsed = self._register.parse(word)
        return spec_citation(word) if parsed is None and self._specs else parsed

    def _resembles(self, word: str) -> bool:
        """True if a word begins like an id, so that it was certainly meant as one."""
        return self._grammar.resembles(word) or (self._register is not None and self._register.parse(word) is not None)

    def _is_short(self, parsed: ParsedReference | None, *, alone: bool) -> bool:
        """True if a word without the namespace is an id. Among other words a short form is one of them: "Tests: p1 is
        the first"."""
        return parsed is not None and self._with_short_forms and (alone or "alias" not in parsed.notes)

    def _bare(self, word: str) -> str:
        """A word without what is wrapped around it, unless that makes it an id."""
        return word if self._meant(word) is not None else word.strip(_WRAPPING)

    def _without_remark(self, remark: re.Match[str]) -> str:
        words = remark[1].split()
        return remark[0] if words and self._resembles(words[0].strip(_WRAPPING)) else " "

    def _cited(self, written: str, parsed: ParsedReference | None, line: int, place: str) -> Cited:
        if parsed is None:
            return Cited(self._kind, written, written, (), line, True, place, self._in_prose)
        return Cited(self._kind, written, parsed.target, parsed.labels, line, False, place, self._in_prose)

    def _undeclared(self, content: str, line: int) -> None:
        word = content.split(None, 1)[0].rstrip(":,;.")
        if self._grammar.parse_reference(word) is not None and len(self.diagnostics) < _MOST_UNDECLARED:
            keyword = "Verifies" if self._is_test else "Implements"
            message = f"{word} is in a comment without a keyword, so it is not a citation. Write `{keyword}: {word}`."
            self.diagnostics.append(Diagnostic("markers.undeclared", "info", message, line))


def spec_citation(word: str) -> ParsedReference | None:
    """Citation in a word of a list of references. A word without a scenario counts only alone: `client/server` may be
    an ordinary word."""
    reference = parse_reference(word)
    if reference is None:
        return None
    target = format_reference(SpecReference(reference.spec_id, reference.requirement))
    return ParsedReference(target, reference.scenarios, () if reference.scenarios else ("alias",))


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
