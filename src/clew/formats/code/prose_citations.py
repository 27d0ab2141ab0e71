"""References in running text: `Implements: REQ-d00001-A, auth/login#locked-out`, at the start of a line or a sentence.

Requirements of one format cite those of another this way, with the words and the spellings that comments in code use.
"""

import re
from collections.abc import Iterator

import msgspec

from clew.formats.code.comments import DOCSTRING, Token
from clew.formats.code.marker_comments import Cited, CommentReader
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.ids.register import RegisterIds

_KEYWORD = r"[*_]*(?:Implements|Refines|Verifies)[*_]*:"
_WORTH_READING = re.compile(_KEYWORD, re.IGNORECASE)
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]", re.MULTILINE)
_SENTENCE = re.compile(rf"(?<=[.;!?])[ \t]+(?={_KEYWORD})", re.IGNORECASE)


def cited_in_prose(text: str, grammar: IdGrammar, *, register: bool, specs: bool) -> tuple[Cited, ...]:
    """Citations in a text. `line` counts from 1, the line in which the text begins."""
    if _WORTH_READING.search(text) is None:
        return ()
    ids = RegisterIds(grammar) if register else None

    def read(part: str) -> Iterator[Cited]:
        reader = CommentReader(part, grammar, False, ids, specs=specs)
        return reader.read([Token(DOCSTRING, 0, len(part), 0, len(part))])

    plain = _BULLET.sub(lambda bullet: " " * len(bullet[0]), text)
    found = list(read(plain))
    for number, line in enumerate(plain.split("\n")):
        for sentence in _SENTENCE.split(line)[1:]:
            found.extend(_below(each, number) for each in read(sentence))
    return tuple(dict.fromkeys(found))


def _below(cited: Cited, lines: int) -> Cited:
    return msgspec.structs.replace(cited, line=cited.line + lines)
