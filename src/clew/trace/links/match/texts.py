"""Texts that can be linked: their significant words, and the passages that are compared by meaning."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar

import msgspec

from clew.formats.code.comments import BLOCK, LINE, STRING, comments, family_for, tokens
from clew.formats.code.definitions.scan import definitions
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.text.keywords import STOP_WORDS
from clew.text.sentences import TextKind, sentences
from clew.text.stem import stem
from clew.text.words import chunks, split

_T = TypeVar("_T")

NAME_WEIGHT, COMMENT_WEIGHT, METHOD_WEIGHT = 3.0, 2.0, 2.0
"""The weight of a word in the name, in a comment or in the name of a method; in code it counts once."""
PAIR_WEIGHT = 0.3
MOST_SENTENCES = 40
"""Of a requirement; of a longer one those that are spread over all of it."""
MOST_STATED_CHARACTERS = 60_000
MOST_METHODS = 500
METHOD_WORDS = 100
PASSAGE_WORDS = 140
PASSAGE_OVERLAP = 20
MOST_PASSAGES = 6
"""A long text is compared by its beginning and by this many passages, spread over all of it."""
OPENING_CHARACTERS = 3_000

_COUNTS_KEPT = 8_192
"""Most texts are the same from one question to the next."""
_MOST_CHARACTERS = 200_000
"""The limit of a file's text. Beyond it, files hold data more often than language."""
_IMPORT = re.compile(
    r"^[ \t]*(?:import|from|package|using|use|require|#[ \t]*include|#[ \t]*import)\b.*$", re.MULTILINE
)
_LICENCE = re.compile(r"licen[sc]ed?\b|copyright|all rights reserved", re.IGNORECASE)

_NAME = re.compile(r"[^\W\d]\w*")
_SIMPLE = re.compile(r"(?=.{1,100}\Z)[a-z]+(?:[_.][a-z]+)*")
_HEADING = re.compile(r"^#+ *(?:Assertions|Rationale)\W*$", re.MULTILINE)
"""Every requirement has these."""


class LinkableText(msgspec.Struct, frozen=True):
    """A requirement, a test, a piece of code or any document that can be at one end of a link."""

    id: str
    name: str
    """The title of a requirement, or the name of a file or function."""
    text: str
    """The content."""
    path: str = ""
    """Of the file that it is, or a part of; its ending tells the language. Empty for prose."""
    is_file: bool = False
    """True for a whole file, which may have many functions."""

    @property
    def words(self) -> str:
        return f"{self.name}\n{self.text}"


class Method(NamedTuple):
    name: str
    comment: str
    text: str


class CodeParts(NamedTuple):
    """The parts of a piece of code."""

    comments: str
    code: str
    methods: tuple[Method, ...]


class Names(NamedTuple):
    """Names as they are written, each once, in the order of the text."""

    defined: tuple[str, ...]
    """The names of functions and classes of several words, such as `read_only`; names of one word occur in prose with
    other meanings. Prose defines none."""
    mentioned: tuple[str, ...]
    """Everything that could be a name."""


def code_parts(artefact: LinkableText) -> CodeParts | None:
    """The parts of code; None for prose."""
    family = family_for(artefact.path) if artefact.path else None
    if family is None or not family.blocks:
        return None
    text = artefact.text
    found = list(tokens(text, family))
    spoken = " ".join(text[token.text_start : token.text_end] for token in found if token.kind != STRING)
    code, position = [], 0
    for token in found:
        if token.kind != STRING:
            code.append(text[position : token.start])
            position = token.end
    code.append(text[position:])
    if not artefact.is_file:
        return CodeParts(spoken, "".join(code), (Method(artefact.name, spoken, text),))
    lines = text.split("\n")
    own = [(each.line, each.end_line, each.qualname) for each in definitions(text, found, family)][:MOST_METHODS]
    commented = [(each.line, each.text) for each in comments(text, family)]
    methods = tuple(
        Method(
            name.rpartition(".")[2],
            " ".join(comment for line, comment in commented if first - 2 <= line <= last),
            "\n".join(lines[first - 1 : last]),
        )
        for first, last, name in own
    )
    return CodeParts(spoken, "".join(code), methods)


@lru_cache(maxsize=_COUNTS_KEPT)
def _terms_of(artefact: LinkableText) -> list[str]:
    return _terms(artefact.words)


@lru_cache(maxsize=_COUNTS_KEPT)
def term_counts(artefact: LinkableText) -> Mapping[str, float]:
    """The number of occurrences of each term: stems, without stop words and numbers."""
    return Counter(_terms_of(artefact))


@lru_cache(maxsize=_COUNTS_KEPT)
def fielded_counts(artefact: LinkableText) -> Mapping[str, float]:
    """The number of occurrences of each term; names and comments count more."""
    parts = code_parts(artefact)
    counts: defaultdict[str, float] = defaultdict(float, term_counts(artefact))
    # Everything counts once already.
    fields = [(artefact.name, NAME_WEIGHT - 1)]
    if parts is not None:
        methods = " ".join(method.name for method in parts.methods) if artefact.is_file else ""
        fields += [(parts.comments, COMMENT_WEIGHT - 1), (methods, METHOD_WEIGHT)]
    for text, weight in fields:
        for term in _terms(text) if text else ():
            counts[term] += weight
    return counts


@lru_cache(maxsize=_COUNTS_KEPT)
def pair_counts(artefact: LinkableText) -> Mapping[str, float]:
    """The terms, and pairs of adjacent terms, which are rarer and mean more."""
    counts: dict[str, float] = dict(term_counts(artefact))
    pairs = Counter(map(" ".join, pairwise(_terms_of(artefact))))
    counts.update((pair, PAIR_WEIGHT * times) for pair, times in pairs.items())
    return counts


@lru_cache(maxsize=_COUNTS_KEPT)
def names(artefact: LinkableText) -> Names:
    family = family_for(artefact.path) if artefact.path else None
    found = [] if family is None else definitions(artefact.text, tokens(artefact.text, family), family)
    defined = dict.fromkeys(each.names[-1] for each in found[:MOST_METHODS] if len(split(each.names[-1]).words) > 1)
    return Names(tuple(defined), tuple(dict.fromkeys(_NAME.findall(artefact.words))))


def statements(artefact: LinkableText) -> tuple[str, ...]:
    """The sentences of a requirement, its title first: each asks to be met somewhere."""
    pieces = sentences(artefact.text[:MOST_STATED_CHARACTERS])
    said = (artefact.text[piece.start : piece.end] for piece in pieces if piece.kind is not TextKind.HEADING)
    found = dict.fromkeys(" ".join(split(each).words) for each in (artefact.name, *said))
    return _spread([each for each in found if each], MOST_SENTENCES) or ("",)


def spoken_parts(artefact: LinkableText) -> tuple[str, ...]:
    """The name and comments of each method in a piece of code; the sentences of prose."""
    parts = code_parts(artefact)
    if parts is None:
        return statements(artefact)
    named = (f"{artefact.name} {method.name} {method.comment}" for method in parts.methods)
    return _shortened([*named]) or _shortened([f"{artefact.name} {parts.comments}"])


def method_texts(artefact: LinkableText) -> tuple[str, ...]:
    """The methods of a piece of code; of prose its passages."""
    parts = code_parts(artefact)
    methods = () if parts is None else _shortened([f"{method.name} {method.text}" for method in parts.methods])
    return methods or passages(artefact)


def _shortened(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(split(text).words[:METHOD_WORDS]) for text in texts))


def _terms(text: str) -> list[str]:
    return list(chain.from_iterable(map(_terms_of_chunk, chunks(text))))


@lru_cache(maxsize=1 << 16)
def _terms_of_chunk(chunk: str) -> tuple[str, ...]:
    # Most identifiers are simple, and finding their compounds too would take most of the time.
    words = chunk.replace(".", "_").split("_") if _SIMPLE.fullmatch(chunk) else split(chunk).words
    # A number tells where something stands far more often than what it is about.
    return tuple(stem(word) for word in words if word not in STOP_WORDS and not word.isdigit())


def passages(artefact: LinkableText) -> tuple[str, ...]:
    """The passages of a text for comparisons by meaning, its beginning first.

    Identifiers are taken apart, because sentence encoders know words.
    """
    words = split(artefact.words).words
    opening = " ".join(words)[:OPENING_CHARACTERS]
    if len(words) <= PASSAGE_WORDS * 1.3:
        return (opening,)
    step = PASSAGE_WORDS - PASSAGE_OVERLAP
    starts = list(range(0, len(words) - PASSAGE_OVERLAP, step))
    spread = _spread(starts, MOST_PASSAGES)
    return (opening, *(" ".join(words[start : start + PASSAGE_WORDS]) for start in spread))


def _spread(all_of_them: Sequence[_T], most: int) -> tuple[_T, ...]:
    """All items, or so many that are spread evenly from the first to the last."""
    if len(all_of_them) <= most:
        return tuple(all_of_them)
    step = (len(all_of_them) - 1) / (most - 1)
    return tuple(all_of_them[round(number * step)] for number in range(most))


def readable(text: str, path: str) -> str:
    """A file without lines that say nothing about its subject: licences, and in code the lists of imports."""
    text = text[:_MOST_CHARACTERS].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    family = family_for(path)
    if family is None or not family.blocks:
        return text
    pieces: list[str] = []
    position = 0
    for token in tokens(text, family) if _LICENCE.search(text) else ():
        if token.kind in (LINE, BLOCK) and _LICENCE.search(text, token.start, token.end):
            pieces.append(text[position : token.start])
            position = token.end
    pieces.append(text[position:])
    return _IMPORT.sub("", "".join(pieces))


def requirement_artefact(node: Node) -> LinkableText:
    return LinkableText(node.id, node.title, _HEADING.sub("", node.get_field("body", "")))


def assertion_artefacts(graph: Graph, requirement: Node) -> list[LinkableText]:
    """The assertions of a requirement, in order, each under the requirement's title."""
    parts = [
        node for node in graph.iter_children(requirement.id, (EdgeKind.STRUCTURES,)) if node.kind is NodeKind.ASSERTION
    ]
    parts.sort(key=lambda node: node.source.line if node.source is not None else 0)
    return [LinkableText(node.id, requirement.title, node.title) for node in parts]
