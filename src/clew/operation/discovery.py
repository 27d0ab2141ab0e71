"""Finding a tool by what it does: BM25 over names, titles, descriptions and parameters."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from clew.operation.listing import Listed
from clew.text.inverted import Inverted
from clew.text.keywords import STOP_WORDS

_K1 = 1.2
_B = 0.75
_NAME_WEIGHT = 4

_WORD = re.compile(r"[a-z0-9]+")


class Hit(msgspec.Struct, frozen=True):
    tool: Listed
    score: float


def find_tools(query: str, tools: Sequence[Listed]) -> list[Hit]:
    """The tools that match the query, best first; ties in the order of the list."""
    index: Inverted[str, int, int] = Inverted()
    lengths: list[int] = []
    for number, tool in enumerate(tools):
        terms = _terms_of(tool)
        index.add(number, Counter(terms))
        lengths.append(len(terms))
    average = sum(lengths) / (len(lengths) or 1)
    scores: defaultdict[int, float] = defaultdict(float)
    for word in {_stem(word) for word in _words(query)}:
        holders = index.holders(word)
        rarity = math.log(1 + (len(tools) - len(holders) + 0.5) / (len(holders) + 0.5))
        for number, count in holders.items():
            scores[number] += rarity * _saturated(count, lengths[number] / average)
    hits = [Hit(tool, round(scores[number], 3)) for number, tool in enumerate(tools) if number in scores]
    hits.sort(key=lambda hit: -hit.score)
    return hits


def _saturated(count: int, length: float) -> float:
    """The worth of `count` occurrences in a text of `length` times the average; each adds less than the last."""
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))


def _terms_of(tool: Listed) -> list[str]:
    names = [_stem(word) for word in _words(tool.name)]
    text = " ".join((tool.title, tool.description, tool.toolset.value, *tool.input_schema.get("properties", ())))
    return names * _NAME_WEIGHT + [_stem(word) for word in _words(text)]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


def _stem(word: str) -> str:
    """Enough to let a plural find its singular."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
