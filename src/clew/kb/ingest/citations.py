"""Citations of requirements, parts of specs and files in a text."""

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.ids.register import RegisterIds
from clew.formats.openspec.references import parse_reference, requirement_id
from clew.kb import ids
from clew.kb.entities.model import EntityKind, EntityMention

_WORD = re.compile(r"(?<![\w.])[A-Za-z][\w.]*(?:[-/][\w.+]+)+")
_INLINE = re.compile(r"(?<!`)`([^`\n]{3,200})`(?!`)")


class CitedTarget(NamedTuple):
    target: str
    labels: tuple[str, ...]
    rank: int
    written: str


class Citations:
    """Finds citations by the grammar of one project."""

    def __init__(self, grammar: IdGrammar) -> None:
        self._grammar = grammar
        self._register = RegisterIds(grammar)

    def in_text(self, text: str) -> Iterator[CitedTarget]:
        """The requirements and parts of specs that a text names, in code or not."""
        for match in _WORD.finditer(text):
            word = match[0].rstrip(".+-")
            found = self._grammar.parse_reference(word) or self._register.parse(word)
            if found is not None:
                yield CitedTarget(found.target, found.labels, 0, word)
        for match in _INLINE.finditer(text):
            reference = parse_reference(match[1])
            if reference is not None and reference.spec_id:
                target = requirement_id(reference.spec_id, reference.requirement)
                yield CitedTarget(target, reference.scenarios, 0, match[1])

    @staticmethod
    def of_files(mentions: tuple[EntityMention, ...], document: str) -> Iterator[CitedTarget]:
        """The files that a section names. A path is meant from the project's folder or, if there is no such file, from
        that of the document."""
        folder = posixpath.dirname(document)
        for mention in mentions:
            if mention.kind is EntityKind.FILE and not mention.normal.endswith("/"):
                places = (mention.normal, posixpath.join(folder, mention.normal))
                paths = dict.fromkeys(
                    path for path in map(posixpath.normpath, places) if not path.startswith(("../", "/"))
                )
                for rank, path in enumerate(paths):
                    yield CitedTarget(ids.file_id(path), (), rank, mention.name)
