"""Ids of a register, `REQ-0042` with any number of digits.

They are looked for only where a project has a register, and only where the project's own grammar does not know them as
ids of its requirements.
"""

import re

from clew.formats.elspais.ids.grammar import IdGrammar, ParsedReference

_PADDING = 4
_WORD = re.compile(r"(?i:REQ)-([0-9]{1,18})(?:-([A-Za-z0-9]{1,8}(?:\+[A-Za-z0-9]{1,8})*))?")
_MENTION = re.compile(r"(?<![A-Za-z0-9_-])REQ-[0-9]{4,18}(?![A-Za-z0-9_])(?:-[A-Z0-9]{1,8}(?![A-Za-z0-9_]))?")
_TARGET = re.compile(r"REQ-[0-9]{4,18}")
_IN_NAME = re.compile(r"(?<![A-Za-z0-9])(?i:REQ)_([0-9]{4,18})(?![A-Za-z0-9])")


def is_register_id(target: str) -> bool:
    return _TARGET.fullmatch(target) is not None


class RegisterIds:
    """Reader of a register's ids in words, comments and names of tests."""

    def __init__(self, grammar: IdGrammar) -> None:
        self._grammar = grammar

    def parse(self, word: str) -> ParsedReference | None:
        """The id, with or without labels, that a word of a list of references spells."""
        match = _WORD.fullmatch(word)
        if match is None or self._grammar.parse_reference(word) is not None:
            return None
        return ParsedReference(_canonical(match[1]), tuple(match[2].split("+")) if match[2] else ())

    def mentioned(self, comment: str) -> list[tuple[str, ParsedReference]]:
        """The ids anywhere in a comment, as written and as meant. Only whole ids count: REQ-10000 is not REQ-1000."""
        found = []
        for match in _MENTION.finditer(comment) if "REQ-" in comment else ():
            parsed = self.parse(match[0])
            if parsed is not None:
                found.append((match[0], parsed))
        return found

    def in_name(self, name: str) -> list[ParsedReference]:
        """The ids in the name of a test: `test_req_0042_refuses_the_expired`."""
        if self._grammar.from_test_name(name):
            return []
        return [ParsedReference(_canonical(match[1])) for match in _IN_NAME.finditer(name)]


def _canonical(digits: str) -> str:
    return f"REQ-{int(digits):0{_PADDING}d}"
