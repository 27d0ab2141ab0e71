"""What can be linked, as texts: the words that count, and the passages that are compared by meaning."""

import re
from collections import defaultdict
from collections.abc import Mapping

import msgspec

from clew.formats.code.comments import BLOCK, LINE, family_for, tokens
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.text.keywords import STOP_WORDS
from clew.text.stem import stem
from clew.text.words import split

NAME_WEIGHT = 1.0
"""How much more often a word counts that stands in the name."""
PAIR_WEIGHT = 0.3
"""How often two neighbouring words count as one term, beside the words themselves."""

PASSAGE_WORDS = 140
PASSAGE_OVERLAP = 20
MOST_PASSAGES = 6
"""A long text is compared by its beginning and by this many passages, spread over all of it."""
OPENING_CHARACTERS = 3_000

_MOST_CHARACTERS = 200_000
"""What goes beyond it in a file is data more often than language."""
_IMPORT = re.compile(
    r"^[ \t]*(?:import|from|package|using|use|require|#[ \t]*include|#[ \t]*import)\b.*$", re.MULTILINE
)
_LICENCE = re.compile(r"licen[sc]ed?\b|copyright|all rights reserved", re.IGNORECASE)

_HEADING = re.compile(r"^#+ *(?:Assertions|Rationale)\W*$", re.MULTILINE)
"""Every requirement has these."""


class Artefact(msgspec.Struct, frozen=True):
    """A requirement, a test, a piece of code or any document that can be at one end of a link."""

    id: str
    name: str
    """What it is called: a title, or the name of a file or function."""
    text: str
    """What it says."""

    @property
    def words(self) -> str:
        return f"{self.name}\n{self.text}"


def term_counts(artefact: Artefact) -> Mapping[str, float]:
    """How often each term occurs: stems without stop-words and numbers, and pairs of neighbours."""
    counts: defaultdict[str, float] = defaultdict(float)
    previous = ""
    for term in _terms(artefact.words):
        counts[term] += 1
        if previous:
            counts[f"{previous} {term}"] += PAIR_WEIGHT
        previous = term
    for term in _terms(artefact.name):
        counts[term] += NAME_WEIGHT
    return counts


def _terms(text: str) -> list[str]:
    # A number tells where something stands far more often than what it is about.
    return [stem(word) for word in split(text).words if word not in STOP_WORDS and not word.isdigit()]


def passages(artefact: Artefact) -> tuple[str, ...]:
    """The texts that stand for an artefact where meaning is compared: its beginning first.

    Identifiers are taken apart, because sentence encoders know words.
    """
    words = split(artefact.words).words
    opening = " ".join(words)[:OPENING_CHARACTERS]
    if len(words) <= PASSAGE_WORDS * 1.3:
        return (opening,)
    step = PASSAGE_WORDS - PASSAGE_OVERLAP
    starts = list(range(0, len(words) - PASSAGE_OVERLAP, step))
    if len(starts) > MOST_PASSAGES:
        spread = (len(starts) - 1) / (MOST_PASSAGES - 1)
        starts = [starts[round(number * spread)] for number in range(MOST_PASSAGES)]
    return (opening, *(" ".join(words[start : start + PASSAGE_WORDS]) for start in starts))


def readable(text: str, path: str) -> str:
    """A file without what says nothing about its subject: licences, and in code the lists of imports."""
    text = text[:_MOST_CHARACTERS].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    family = family_for(path)
    if family is None or not family.blocks:
        return text
    pieces: list[str] = []
    position = 0
    for token in tokens(text, family):
        if token.kind in (LINE, BLOCK) and _LICENCE.search(text, token.start, token.end):
            pieces.append(text[position : token.start])
            position = token.end
    pieces.append(text[position:])
    return _IMPORT.sub("", "".join(pieces))


def requirement_artefact(node: Node) -> Artefact:
    return Artefact(node.id, node.title, _HEADING.sub("", node.get_field("body", "")))


def assertion_artefacts(graph: Graph, requirement: Node) -> list[Artefact]:
    """The assertions of a requirement, in order, each under the requirement's title."""
    parts = [
        node for node in graph.iter_children(requirement.id, (EdgeKind.STRUCTURES,)) if node.kind is NodeKind.ASSERTION
    ]
    parts.sort(key=lambda node: node.source.line if node.source is not None else 0)
    return [Artefact(node.id, requirement.title, node.title) for node in parts]
