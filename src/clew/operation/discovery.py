"""Finding a tool by what it does: BM25 over names, titles, descriptions and parameters."""

import math
import re
from collections.abc import Sequence

import msgspec

from clew.operation.registry import Tool
from clew.text.keywords import STOP_WORDS

_K1 = 1.2
_B = 0.75
_NAME_WEIGHT = 4

_WORD = re.compile(r"[a-z0-9]+")


class Hit(msgspec.Struct, frozen=True):
    tool: Tool
    score: float


def find_tools(query: str, tools: Sequence[Tool]) -> list[Hit]:
    """The tools that match the query, best first; ties in the order of the list."""
    documents = [_terms_of(tool) for tool in tools]
    average = sum(map(len, documents)) / (len(documents) or 1)
    wanted = {_stem(word) for word in _words(query)}
    hits: list[Hit] = []
    for tool, terms in zip(tools, documents, strict=True):
        score = sum(
            _bm25(terms.count(word), _spread(word, documents), len(documents), len(terms) / average) for word in wanted
        )
        if score > 0:
            hits.append(Hit(tool, round(score, 3)))
    hits.sort(key=lambda hit: -hit.score)
    return hits


def _bm25(occurrences: int, spread: int, documents: int, length: float) -> float:
    if not occurrences:
        return 0.0
    rarity = math.log(1 + (documents - spread + 0.5) / (spread + 0.5))
    return rarity * occurrences * (_K1 + 1) / (occurrences + _K1 * (1 - _B + _B * length))


def _spread(word: str, documents: Sequence[Sequence[str]]) -> int:
    return sum(1 for terms in documents if word in terms)


def _terms_of(tool: Tool) -> list[str]:
    names = [_stem(word) for word in _words(tool.name)]
    text = " ".join((tool.title, tool.description, tool.toolset.value, *tool.request.__struct_fields__))
    return names * _NAME_WEIGHT + [_stem(word) for word in _words(text)]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


def _stem(word: str) -> str:
    """Enough to let a plural find its singular."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
