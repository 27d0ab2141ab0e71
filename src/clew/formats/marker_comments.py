"""The citations in the comments of a file, before it is known whom they belong to."""

import re
from collections.abc import Iterator

import msgspec

from clew.formats.comments import BLOCK, LINE, Token
from clew.formats.diagnostics import Diagnostic
from clew.formats.elspais.ids import IdGrammar

_KEYWORDS = {
    "implements": "implements",
    "refines": "refines",
    "verifies": "verifies",
    "validates": "verifies",
    "tests": "verifies",
}
KEYWORD_BYTES = tuple(keyword.encode() for keyword in _KEYWORDS)


class Cited(msgspec.Struct, frozen=True, gc=False):
    """A citation before it is known whom it belongs to."""

    kind: str
    written: str
    target: str
    labels: tuple[str, ...]
    line: int
    malformed: bool
    beside_code: bool


_MARKER = re.compile(
    r"\**(implements|refines|verifies|validates|tests)"
    r"(?:(?P<block>\s+requirements\s*:)\**\s*|(?P<colon>:\**|\**\s*:)\s*|\**\s+)",
    re.IGNORECASE,
)
_DECORATION = " \t/!#;-%"
"""What may stand between the mark of a comment and its first word: `///`, `//!`, `##`."""
_MOST_UNDECLARED = 100


class CommentReader:
    """Finds the citations in the comments of a file, line by line."""

    def __init__(self, text: str, grammar: IdGrammar, is_test: bool) -> None:
        self._text = text
        self._grammar = grammar
        self._is_test = is_test
        self._kind = ""
        self._continues_at = 0
        """The line in which a list that ended in a comma, or a block of ids, goes on."""
        self._in_block = False
        self.diagnostics: list[Diagnostic] = []

    def read(self, found: list[Token]) -> Iterator[Cited]:
        line, counted = 1, 0
        for token in found:
            if token.kind not in (LINE, BLOCK):
                continue
            line += self._text.count("\n", counted, token.start)
            counted = token.start
            beside_code = self._is_beside_code(token.start)
            body = self._text[token.text_start : token.text_end]
            if token.kind == LINE:
                yield from self._line(body, line, beside_code)
            else:
                for offset, part in enumerate(body.split("\n")):
                    yield from self._line(part, line + offset, beside_code and not offset)

    def _is_beside_code(self, start: int) -> bool:
        index = start - 1
        while index >= 0 and self._text[index] in " \t":
            index -= 1
        return index >= 0 and self._text[index] != "\n"

    def _line(self, comment: str, line: int, beside_code: bool) -> Iterator[Cited]:
        content = comment.strip().lstrip(_DECORATION)
        if content.startswith("* "):  # a further line of a block comment
            content = content[2:].lstrip()
        marker = _MARKER.match(content)
        continues, self._continues_at = line == self._continues_at, 0
        if marker is None:
            if continues and content:
                yield from self._continued(content, line, beside_code)
            elif self._grammar.resembles(content):
                self._undeclared(content, line)
            return
        rest = content[marker.end() :].removesuffix("*/").removesuffix("-->").rstrip()
        self._kind = _KEYWORDS[marker[1].lower()]
        if self._is_test and self._kind != "refines":
            self._kind = "verifies"
        self._in_block = marker["block"] is not None
        if self._in_block:
            self._continues_at = line + 1
        elif marker["colon"] is not None:
            yield from self._items(rest, line, beside_code)
        else:
            yield from self._leading_ids(rest, line, beside_code)

    def _continued(self, content: str, line: int, beside_code: bool) -> Iterator[Cited]:
        if not self._in_block:
            yield from self._items(content, line, beside_code)
            return
        word = content.split(None, 1)[0].rstrip(":,;.")
        if self._grammar.parse_reference(word) is not None or self._grammar.resembles(word):
            self._continues_at = line + 1
            yield self._cited(word, line, beside_code)

    def _items(self, rest: str, line: int, beside_code: bool) -> Iterator[Cited]:
        """A comma separated list. Each item is an id, or several with blanks between them; it is never searched."""
        items = [item.strip() for item in rest.split(",")]
        for item in items:
            words = item.split()
            if len(words) > 1 and all(map(self._grammar.parse_reference, words)):
                yield from (self._cited(word, line, beside_code) for word in words)
            elif item and (self._grammar.parse_reference(item) is not None or self._grammar.resembles(item)):
                yield self._cited(item, line, beside_code)
        if len(items) > 1 and not items[-1]:
            self._continues_at = line + 1

    def _leading_ids(self, rest: str, line: int, beside_code: bool) -> Iterator[Cited]:
        """The ids directly after a keyword without colon; the prose after them is not part of the list.

        Short forms do not count here: "tests d1 and d2" is prose.
        """
        for word in rest.split():
            written = word.rstrip(",;.:")
            if not self._grammar.resembles(written):
                return
            yield self._cited(written, line, beside_code)
            if word[-1] in ";.:":
                return

    def _cited(self, written: str, line: int, beside_code: bool) -> Cited:
        parsed = self._grammar.parse_reference(written)
        if parsed is None:
            return Cited(self._kind, written, written, (), line, True, beside_code)
        return Cited(self._kind, written, parsed.target, parsed.labels, line, False, beside_code)

    def _undeclared(self, content: str, line: int) -> None:
        word = content.split(None, 1)[0].rstrip(":,;.")
        if self._grammar.parse_reference(word) is not None and len(self.diagnostics) < _MOST_UNDECLARED:
            message = f"{word} stands in a comment without a keyword, so nothing cites it. Write `Implements: {word}`."
            self.diagnostics.append(Diagnostic("markers.undeclared", "info", message, line))
