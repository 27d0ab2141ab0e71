"""Spellings of tool names, and descriptions in the spelling that one client sees.

The names are those of the source documents, some of which use dots and slashes. Many hosts and model interfaces accept
only letters, digits, underscores and hyphens, and drop a server that lists anything else. So a listing is spelled
portably unless the operator wants the original spelling. A call is accepted in either, whatever the listing used.

A description is written once and names other tools: under the names that a client sees, and only those that it can
find. Where one is not listed, the part of the sentence that names it is left out: what is in brackets, after a
colon or after ", or", else the clause, else the sentence.
"""

import re
from collections.abc import Container, Iterable, Mapping
from enum import StrEnum

from clew.operation.listing import ListedOperation

_NOT_PORTABLE = re.compile(r"[^A-Za-z0-9_-]")

_NAME = re.compile(r"(?<![\w.])[a-z]+(?:[._][a-z]+)+(?!\w)|`[a-z]+`")
"""Matches what may be the name of a tool. A name of one word counts in backticks only, because it is also an
ordinary word."""
_SENTENCE_END = re.compile(r"(?<=[.!?]) ")
_BRACKETS = re.compile(r" \([^()]*\)")
_CLAUSE = "; "
_TAILS = (": ", ", or ")


class NameStyle(StrEnum):
    PORTABLE = "portable"
    """Only letters, digits, underscores and hyphens."""
    DOTTED = "dotted"
    """As the source documents spell them."""


def portable(name: str) -> str:
    return _NOT_PORTABLE.sub("_", name)


def spell(name: str, style: NameStyle) -> str:
    """The name as it is listed."""
    return name if style is NameStyle.DOTTED else portable(name)


def by_any_spelling(tools: Iterable[ListedOperation]) -> Mapping[str, ListedOperation]:
    """The tools under their original and their portable names."""
    spelled: dict[str, ListedOperation] = {}
    for tool in tools:
        original = tool.original or tool.name
        spelled[original] = tool
        spelled.setdefault(portable(original), tool)
    return spelled


class Wording:
    """Rewrites texts: a tool gets its name in `spelled`, and only the tools in `listed` are named."""

    def __init__(self, spelled: Mapping[str, str], listed: Container[str]) -> None:
        self._spelled = spelled
        self._listed = listed

    def rewrite(self, text: str) -> str:
        if not any(name.strip("`") in self._spelled for name in _NAME.findall(text)):
            return text
        kept = (self._sentence(sentence) for sentence in _SENTENCE_END.split(text))
        return _NAME.sub(self._respelled, " ".join(sentence for sentence in kept if sentence))

    def _sentence(self, text: str) -> str:
        if self._unlisted(text) is None:
            return text
        text = _BRACKETS.sub(lambda found: "" if self._unlisted(found[0]) is not None else found[0], text)
        clauses = text.rstrip(".").split(_CLAUSE)
        kept = [part for clause in clauses if (part := self._clause(clause))]
        if not kept:
            return ""
        sentence = _CLAUSE.join(kept)
        if not _NAME.match(sentence):
            sentence = sentence[0].upper() + sentence[1:]
        return f"{sentence}."

    def _clause(self, text: str) -> str:
        """The clause, or the part of it before what names a tool that is not listed."""
        place = self._unlisted(text)
        if place is None:
            return text
        end = max(text.rfind(tail, 0, place) for tail in _TAILS)
        return text[:end] if end > 0 else ""

    def _unlisted(self, text: str) -> int | None:
        """The position of the first tool that is named and not listed."""
        for found in _NAME.finditer(text):
            name = found[0].strip("`")
            if name in self._spelled and name not in self._listed:
                return found.start()
        return None

    def _respelled(self, found: re.Match[str]) -> str:
        return self._spelled.get(found[0], found[0])
