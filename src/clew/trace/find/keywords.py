"""Finding nodes by keywords, in an inverted index that follows the graph, changed node by changed node.

A keyword is a word or a few words in a row. It is found in any case and in any form of the word: `token` finds
`Tokens`. From four letters on it also finds words that begin with it, which count for less: `auth` finds
`authentication`.
"""

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from clew.errors import InvalidArgument
from clew.formats.elspais.hashes import without_changelog
from clew.graph.graph import Graph
from clew.graph.inverted import InvertedSets
from clew.graph.model import Node, NodeKind
from clew.text.stem import stem
from clew.trace.find.query import Listed, listed

WORD = re.compile(r"[^\W_]+")
_CHANGELOG = re.compile(r"^#.*changelog", re.IGNORECASE | re.MULTILINE)
SAME_WORD, BEGINNING = 2, 1
"""Points of a keyword that is found as a word, or as the beginning of one."""
_FREQUENT = 2
"""So many places for each node are not worth collecting: a look at the texts is faster."""


class Words(msgspec.Struct, frozen=True):
    """The words of all nodes of a kind, in folded case."""

    nodes: Mapping[str, Node]
    index: InvertedSets[str, str]
    """The ids of the nodes that have a word. It follows the graph."""
    vocabulary: Sequence[str]
    """All words, sorted."""
    joined: str
    """The vocabulary as one text, a word on each line."""
    text_of: Callable[[Node], str]

    def folded(self, id: str) -> str:
        return self.text_of(self.nodes[id]).casefold()

    def having(self, *parts: str) -> AbstractSet[str] | None:
        """The ids of the nodes with a word that contains one of the parts; None if they are too many to be worth the
        effort."""
        places = [self.index.holders(word) for part in parts for word in self._with(part)]
        if len(places) == 1:
            return places[0]
        if sum(map(len, places)) > _FREQUENT * len(self.nodes):
            return None
        return frozenset().union(*places)

    def _with(self, part: str) -> Iterator[str]:
        joined = self.joined
        at = joined.find(part)
        while at >= 0:
            end = joined.index("\n", at)
            yield joined[joined.rfind("\n", 0, at) + 1 : end]
            at = joined.find(part, end)


class WordIndex:
    """Keeps the words of each kind of node that was asked for, and reads a text again only when its node changed."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._turn = threading.Lock()
        self._known: dict[str, Words] = {}

    def words(self, kind: NodeKind, text_of: Callable[[Node], str]) -> Words:
        """The words of the texts that `text_of`, a named function, gives for the nodes of a kind."""
        name = f"words:{kind.value}:{text_of.__name__}"
        with self._turn:
            return self._graph.derived(name, lambda graph: self._follow(graph, kind, name, text_of))

    def _follow(self, graph: Graph, kind: NodeKind, name: str, text_of: Callable[[Node], str]) -> Words:
        # A reader locks the graph against changes, so no reader uses the words of the state before any more.
        # They are taken away first: what fails half-way begins again.
        before = self._known.pop(name, None) or Words({}, InvertedSets(), (), "", text_of)
        nodes = {node.id: node for node in graph.nodes_by_kind(kind)}
        index, gone, new = before.index, set[str](), set[str]()
        for id, node in before.nodes.items():
            if nodes.get(id) is not node:
                gone.update(index.remove(id, _words(text_of(node))))
        for id, node in nodes.items():
            if before.nodes.get(id) is not node:
                new.update(index.add(id, _words(text_of(node))))
        vocabulary, joined = before.vocabulary, before.joined
        if gone != new:
            vocabulary = sorted(index)
            joined = "".join([f"{word}\n" for word in vocabulary])
        self._known[name] = Words(nodes, index, vocabulary, joined, text_of)
        return self._known[name]


def _words(text: str) -> dict[str, None]:
    return dict.fromkeys(WORD.findall(text.casefold()))


def searchable_text(node: Node) -> str:
    """The text of a node for searches: title and body, a journey's actor and goal, free text as it is."""
    parts = (node.get_field(name) for name in ("actor", "goal", "text"))
    return "\n".join((node.title, *(part for part in (content(node), *parts) if part)))


def content(node: Node) -> str:
    """The body of a node, without its changelog."""
    body: str = node.get_field("body") or ""
    return without_changelog(body) if _CHANGELOG.search(body) else body


def title_text(node: Node) -> str:
    return node.title


MOST_KEYWORDS = 40
LONGEST_KEYWORD = 200
SHORTEST_BEGINNING = 4


def matching(words: Words, keywords: Listed, *, match_all: bool) -> list[Node]:
    """The nodes whose text has all keywords, or any, best matches first, else by id.

    Costs as much as the found words occur, however large the graph.
    """
    found: dict[str, int] | None = None
    for keyword in checked(keywords):
        rated = _rated(words, WORD.findall(keyword.casefold()))
        if found is None:
            found = dict(rated)
        elif match_all:
            found = {id: quality + rated[id] for id, quality in found.items() if id in rated}
        else:
            for id, quality in rated.items():
                found[id] = found.get(id, 0) + quality
    by_quality: dict[int, list[str]] = {}
    for id, quality in (found or {}).items():
        by_quality.setdefault(quality, []).append(id)
    return [words.nodes[id] for quality in sorted(by_quality, reverse=True) for id in sorted(by_quality[quality])]


def checked(keywords: Listed) -> tuple[str, ...]:
    """The given keywords, or an error that names the wrong one."""
    words = tuple(keyword for keyword in listed(keywords) if WORD.search(keyword))
    if not words:
        raise InvalidArgument("There is no keyword to look for.", hint="Pass a list of words, such as tide, table.")
    if len(words) > MOST_KEYWORDS:
        raise InvalidArgument(
            f"{len(words)} keywords were given; at most {MOST_KEYWORDS} are allowed.", hint="Look for fewer at once."
        )
    longest = max(words, key=len)
    if len(longest) > LONGEST_KEYWORD:
        raise InvalidArgument(
            f"The keyword '{longest[:20]}...' has {len(longest)} characters; at most {LONGEST_KEYWORD} are allowed.",
            hint="Look for single words.",
        )
    return words


def _rated(words: Words, keyword: Sequence[str]) -> Mapping[str, int]:
    """The quality of each node's match for a keyword of one or more adjacent words, by id."""
    first, *others = (_rated_word(words, word) for word in keyword)
    if not others:
        return first
    candidates = [id for id in first if all(id in other for other in others)]
    rated = {id: _quality_of_phrase(keyword, WORD.findall(words.folded(id))) for id in candidates}
    return {id: quality for id, quality in rated.items() if quality}


def _rated_word(words: Words, word: str) -> Mapping[str, int]:
    same: dict[str, int] = {}
    beginning: dict[str, int] = {}
    for known in _beginning_with(words.vocabulary, _root(word)):
        quality = _likeness(word, known)
        if quality:
            (same if quality == SAME_WORD else beginning).update(dict.fromkeys(words.index.holders(known), quality))
    return {**beginning, **same}


def _root(word: str) -> str:
    """The common beginning of all forms of a word: a stem differs from them in its last letter at most (`policy`,
    `polici`)."""
    root = stem(word)[:-1]
    return root if root and word.startswith(root) else word


def _beginning_with(vocabulary: Sequence[str], start: str) -> Iterator[str]:
    for at in range(bisect_left(vocabulary, start), len(vocabulary)):
        if not vocabulary[at].startswith(start):
            return
        yield vocabulary[at]


def _quality_of_phrase(phrase: Sequence[str], found: Sequence[str]) -> int:
    starts = range(len(found) - len(phrase) + 1)
    return max((min(map(_likeness, phrase, found[start : start + len(phrase)])) for start in starts), default=0)


def _likeness(word: str, found: str) -> int:
    if word == found or stem(word) == stem(found):
        return SAME_WORD
    return BEGINNING if len(word) >= SHORTEST_BEGINNING and found.startswith(word) else 0
