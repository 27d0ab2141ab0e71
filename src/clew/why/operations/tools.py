"""Toolset core: access to tools that are not listed.

Finding a tool by what it does: BM25 over names, titles, descriptions and parameters.
"""

# Implements: REQ-d00012

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from clew.errors import InvalidArgument, UnknownTool
from clew.graph.inverted import Inverted
from clew.operation.call import Call, carry_out
from clew.operation.declare import Freshness, Operation, Toolset
from clew.operation.listing import ListedOperation
from clew.operation.names import by_any_spelling, portable
from clew.text.display import shortened
from clew.text.keywords import STOP_WORDS


class FoundTool(msgspec.Struct, frozen=True):
    name: str
    toolset: str
    arguments: str
    """Names in order; a question mark follows optional ones."""
    description: str
    score: float


class ToolsSearchResult(msgspec.Struct, frozen=True):
    tools: tuple[FoundTool, ...]
    total: int
    """Matching tools in all."""
    truncated: bool = False


class SearchTools(
    Operation,
    tool="tools_search",
    toolset=Toolset.CORE,
    title="Find a tool",
    needs=Freshness.NONE,
    default=True,
    trim=("tools",),
    example={"query": "requirement coverage"},
):
    """Finds tools by what they do, listed or not. Use it when no listed tool fits. Returns at most `limit` tools with
    their arguments and descriptions, best first; call one with tools_call."""

    query: Annotated[str, Meta(min_length=1, max_length=500, description="What the tool should do, in a few words")]
    limit: Annotated[int, Meta(ge=1, le=50, description="Tools at most")] = 8

    def run(self, call: Call) -> ToolsSearchResult:
        hits = find_tools(self.query, call.tools)
        shown = hits[: self.limit]
        return ToolsSearchResult(
            tools=tuple(
                FoundTool(hit.tool.name, hit.tool.toolset.value, hit.tool.signature, hit.tool.description, hit.score)
                for hit in shown
            ),
            total=len(hits),
            truncated=len(shown) < len(hits),
        )


class AnyResult(msgspec.Struct, frozen=True):
    """Result of the called tool, in its own form."""


class CallTool(
    Operation,
    tool="tools_call",
    toolset=Toolset.CORE,
    title="Call any tool",
    needs=Freshness.NONE,
    writes=True,
    destructive=True,
    idempotent=False,
    reaches_others=True,
    default=True,
    example={"name": "get_graph_status", "arguments": {}},
):
    """Calls a tool by name with its own arguments and returns that tool's result, within that tool's limits. For tools
    that tools_search found and the list does not show; call listed tools directly."""

    name: Annotated[str, Meta(min_length=1, max_length=128, description="The tool's name, in either spelling")]
    arguments: Annotated[dict[str, Any], Meta(description="The tool's own arguments")] = msgspec.field(
        default_factory=dict
    )

    def run(self, call: Call) -> AnyResult:
        tool = by_any_spelling(call.tools).get(self.name)
        if tool is None:
            hits = find_tools(portable(self.name).replace("_", " "), call.tools)
            close = f"Did you mean '{hits[0].tool.name}'? " if hits else ""
            raise UnknownTool(
                f"There is no tool '{shortened(self.name)}'.", hint=close + "tools_search finds tools by what they do."
            )
        if tool.name == self.about.tool:
            raise InvalidArgument("tools_call cannot call itself.", hint="Name the tool you want directly.")
        answer: Any = carry_out(tool, self.arguments, call)
        return answer  # type: ignore[no-any-return]


_K1 = 1.2
_B = 0.75
_NAME_WEIGHT = 4

_WORD = re.compile(r"[a-z0-9]+")


class ToolMatch(msgspec.Struct, frozen=True):
    tool: ListedOperation
    score: float


def find_tools(query: str, tools: Sequence[ListedOperation]) -> list[ToolMatch]:
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
    hits = [ToolMatch(tool, round(scores[number], 3)) for number, tool in enumerate(tools) if number in scores]
    hits.sort(key=lambda hit: -hit.score)
    return hits


def _saturated(count: int, length: float) -> float:
    """The worth of `count` occurrences in a text of `length` times the average; each adds less than the last."""
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))


def _terms_of(tool: ListedOperation) -> list[str]:
    names = [_stem(word) for word in _words(tool.name)]
    text = " ".join((tool.title, tool.description, tool.toolset.value, *tool.input_schema.get("properties", ())))
    return names * _NAME_WEIGHT + [_stem(word) for word in _words(text)]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]


def _stem(word: str) -> str:
    """Enough to let a plural find its singular."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
