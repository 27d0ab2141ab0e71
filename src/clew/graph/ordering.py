"""The order of what stands at a node, or in a file: that of the files, whatever was edited since.

A graph that is built from nothing has it, because files are linked in their order. What is linked later comes last in
its place, so such a place is put in order again when somebody looks at it.
"""

from collections.abc import Callable, Collection, Iterable
from operator import itemgetter
from typing import TYPE_CHECKING

from clew.graph.model import Edge

if TYPE_CHECKING:
    from clew.graph.build.link import Linker, Place
    from clew.graph.evidence.runs import Evidence

Rank = tuple[int, str, int]
"""The number of the reader, the path and the position."""

_NOWHERE: Rank = (1 << 30, "", 0)
_first = itemgetter(0)


class FileOrder:
    """Of one graph, as its linker and its evidence know it."""

    def __init__(self, linker: "Linker", evidence: "Evidence", readers: Callable[[], Iterable[str]]) -> None:
        self._linker = linker
        self._evidence = evidence
        self._readers = readers
        """Their names, in the order in which they read."""

    def outgoing(self, id: str, edges: Collection[Edge]) -> list[Edge]:
        """What a node cites, as its definition does."""
        found = self._linker.placed(id)
        cited = self._linker.edges_of(found[1]) if found is not None else ()
        first = dict.fromkeys(edge for edge in cited if edge in edges)
        return [*first, *(edge for edge in edges if edge not in first)]

    def incoming(self, id: str, edges: Collection[Edge], outgoing: Callable[[str], Iterable[Edge]]) -> list[Edge]:
        """What cites a node: first its own parts, then others in the order of the files, then results."""
        found = self._linker.placed(id)
        own = {part.id: number for number, part in enumerate(found[1].parts)} if found is not None else {}
        numbers, place_of = self._numbers(), self._linker.place_of
        parts: list[tuple[int, Edge]] = []
        citing: list[tuple[Rank, Edge]] = []
        results: list[tuple[Rank, Edge]] = []
        for edge in edges:
            source = edge.source
            if source in own:
                parts.append((own[source], edge))
            elif (place := place_of(source)) is not None:
                citing.append((_rank(place, numbers), edge))
            else:
                result = self._evidence.place_of(source)
                results.append((_rank(result, numbers) if result is not None else _NOWHERE, edge))
        if len({edge.source for _, edge in citing}) < len(citing):
            # What one node cites several times comes in the order in which it does.
            sources = dict.fromkeys(edge.source for _, edge in citing)
            nth = {edge: number for source in sources for number, edge in enumerate(outgoing(source))}
            citing.sort(key=lambda each: nth[each[1]])
        for ranked in (parts, citing, results):
            ranked.sort(key=_first)
        return [edge for ranked in (parts, citing, results) for _, edge in ranked]

    def in_file(self, ids: Collection[str]) -> list[str]:
        """The nodes of a file, each followed by its parts."""
        numbers, place_of = self._numbers(), self._linker.place_of
        places = (place for id in ids if (place := place_of(id)) is not None)
        first: dict[str, None] = {}
        for place in sorted(places, key=lambda place: _rank(place, numbers)):
            definition = self._linker.placed_at(place)
            first.update((node.id, None) for node in (definition.node, *definition.parts) if node.id in ids)
        return [*first, *(id for id in ids if id not in first)]

    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._readers())}


def _rank(place: "Place", numbers: dict[str, int]) -> Rank:
    path, reader, position = place
    return numbers.get(reader, len(numbers)), path, position
