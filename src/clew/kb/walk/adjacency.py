"""Nodes one step from a node, for many nodes at once, in the store and in memory.

Of a node that half of everything mentions only the first neighbours are given, and it is remembered that there are
more: a walk that goes through such a node leads everywhere and so nowhere.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice

from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.graph.walk import Direction, Step
from clew.kb import ids
from clew.kb.queries import CitedBy, LibraryReader, LinkOf, spellings
from clew.kb.walk import batches
from clew.kb.walk.batches import Pair, SectionPlace
from clew.kb.walk.cross_references import CrossReferences
from clew.kb.walk.edges import related_documents, relating_documents
from clew.kb.walk.relationships import RELATION_OF_KIND, RelationKind, RelationStep, StepName, ways
from clew.kb.walk.results import NamedEdge

MOST_LOOKED_UP = 400
"""A walk ends when it has looked at the neighbours of so many nodes."""
_MOST_AT_ONCE = 200
_MOST_COMPARED = 5
"""Documents of which the related ones are looked for; that takes longer than all their other neighbours."""
_MOST_ASKED = 20
_NO_LIMIT = 1_000_000

_BESIDE = {
    RelationStep(RelationKind.ABOVE, True): "above",
    RelationStep(RelationKind.ABOVE, False): "below",
    RelationStep(RelationKind.DOCUMENT, True): "document",
    RelationStep(RelationKind.MENTIONS, True): "mentions",
    RelationStep(RelationKind.NEXT, True): "after",
    RelationStep(RelationKind.NEXT, False): "before",
    RelationStep(RelationKind.SIBLING, True): "sibling after",
    RelationStep(RelationKind.SIBLING, False): "sibling before",
}
"""The neighbours of sections, by the query for them."""
_DIRECTIONS: tuple[tuple[bool, Direction], ...] = ((True, "out"), (False, "in"))


class Adjacency:
    """Links for a walk from the documents: to their sections and entities, and to everything that they mention.

    Steps go over relationships by their names. One lives as long as one walk, or two that meet: it looks each node up
    once, and knows at the end where it did not look everywhere."""

    def __init__(
        self,
        reading: LibraryReader,
        graph: Graph,
        cross_references: CrossReferences,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._reading = reading
        self._graph = graph
        self._cross_references = cross_references
        self._check = check
        self._over: Mapping[RelationStep, StepName] = {}
        """The steps that are being asked for."""
        self._known: dict[str, list[Step[NamedEdge]]] = {}
        """The steps from each node that was looked up, over those."""
        self._target = batches.LinkTargets(reading).of
        self.hubs: dict[str, None] = {}
        """Nodes that have more neighbours than were given."""
        self.is_cut = False
        """True if there was more to look up than a walk may."""
        self._compared = 0

    def neighbours(
        self, ids: Sequence[str], kinds: Collection[str] | None, direction: Direction, limit: int | None
    ) -> Iterator[Step[NamedEdge]]:
        """The steps from these nodes, as far as they could be looked up."""
        known = self.load(ids, ways(kinds, direction), _NO_LIMIT if limit is None else limit)
        return chain.from_iterable(map(self.of, known))

    def load(self, wanted: Sequence[str], over: Mapping[RelationStep, StepName], most: int) -> list[str]:
        """Look up the neighbours of nodes, at most so many of each over one kind of step. Returns the nodes whose
        neighbours are known; the others have too many."""
        if over != self._over:
            self._over, self._known = over, {}
        new = [id for id in dict.fromkeys(wanted) if id not in self._known]
        room = max(0, MOST_LOOKED_UP - len(self._known))
        self.is_cut |= len(new) > room
        for start in range(0, min(len(new), room), _MOST_AT_ONCE):
            self._check()
            batch = new[start : min(start + _MOST_AT_ONCE, room)]
            self._known.update((id, []) for id in batch)
            self._load_sections([id for id in batch if id.startswith(ids.DOCUMENT)], most)
            self._load_entities([id for id in batch if id.startswith(ids.ENTITY)], most)
            for id in batch:
                if not id.startswith((ids.DOCUMENT, ids.ENTITY)):
                    self._load_outside(id, most)
        return [id for id in wanted if id in self._known]

    def of(self, id: str) -> list[Step[NamedEdge]]:
        """The steps from a node that was looked up."""
        return self._known[id]

    def _add(self, own: str, way: RelationStep, others: Iterable[str], most: int) -> None:
        found = list(islice(others, most + 1))
        if len(found) > most:
            self.hubs[own] = None
        name, forward = self._over[way]
        self._known[own] += [
            Step(own, other, NamedEdge(own, other, name) if forward else NamedEdge(other, own, name))
            for other in found[:most]
        ]

    def _add_pairs(self, way: RelationStep, pairs: Iterable[Pair], most: int) -> None:
        found: dict[str, dict[str, None]] = {}
        for own, other in pairs:
            found.setdefault(own, {})[other] = None
        for own, others in found.items():
            self._add(own, way, others, most)

    # Sections and documents

    def _load_sections(self, wanted: Sequence[str], most: int) -> None:
        found = batches.places(self._reading, wanted) if wanted else []
        numbers = [place.number for place in found]
        for way, question in _BESIDE.items():
            if way in self._over and numbers:
                pairs = batches.beside(self._reading, question, numbers)
                self._add_pairs(way, self._with_code(pairs) if way.relation is RelationKind.MENTIONS else pairs, most)
        if RelationStep(RelationKind.MENTIONS, True) in self._over and numbers:
            self._add_pairs(
                RelationStep(RelationKind.MENTIONS, True), self._cited(batches.cites_of(self._reading, numbers)), most
            )
        self._load_links(found, most)
        sections = {place.id for place in found}
        rest = [id for id in wanted if id not in sections]
        for id, path in batches.document_paths(self._reading, rest).items() if rest else ():
            self._load_document(id, path, most)

    def _with_code(self, mentions: Iterable[Pair]) -> Iterator[Pair]:
        for pair in mentions:
            yield pair
            for code in self._cross_references.code_named(pair.other):
                yield Pair(pair.own, code)

    def _cited(self, cites: Sequence[CitedBy]) -> Iterator[Pair]:
        for _, of_section in groupby(cites, key=lambda cite: cite.section):
            for edge in self._cross_references.cited(self._reading, list(of_section)):
                yield Pair(edge.source, edge.target)

    def _load_links(self, found: Sequence[SectionPlace], most: int) -> None:
        numbers = [place.number for place in found]
        if RelationStep(RelationKind.REFERENCES, True) in self._over and numbers:
            links = batches.links_of(self._reading, numbers)
            targets = (Pair(link.section, target) for link in links if (target := self._target(link)) is not None)
            self._add_pairs(
                RelationStep(RelationKind.REFERENCES, True), (pair for pair in targets if pair.own != pair.other), most
            )
        if RelationStep(RelationKind.REFERENCES, False) in self._over and numbers:
            paths = {place.id: place.path for place in found}
            spelled = [
                (path, label)
                for id, label in batches.labels(self._reading, numbers)
                for path in (*spellings(paths[id]), "")
            ]
            links = batches.linking(self._reading, dict.fromkeys(spelled), most * len(numbers))
            self._add_linking(links, paths, most)

    def _add_linking(self, links: Iterable[LinkOf], wanted: Collection[str], most: int) -> None:
        targets = ((self._target(link), link.section) for link in links)
        pairs = (Pair(own, other) for own, other in targets if own is not None and own in wanted and own != other)
        self._add_pairs(RelationStep(RelationKind.REFERENCES, False), pairs, most)

    def _load_document(self, id: str, path: str, most: int) -> None:
        if RelationStep(RelationKind.DOCUMENT, False) in self._over:
            self._add(
                id, RelationStep(RelationKind.DOCUMENT, False), batches.chunks(self._reading, path, most + 1), most
            )
        if RelationStep(RelationKind.REFERENCES, False) in self._over:
            self._add_linking(batches.linking_paths(self._reading, spellings(path), most + 1), (id,), most)
        if RelationStep(RelationKind.MENTIONS, False) in self._over:
            self._add(id, RelationStep(RelationKind.MENTIONS, False), self._citing(ids.file_id(path), most), most)
        self._load_related(id, path, most)

    def _load_related(self, id: str, path: str, most: int) -> None:
        forth, back = RelationStep(RelationKind.RELATED, True), RelationStep(RelationKind.RELATED, False)
        if not self._over.keys() & {forth, back}:
            return
        self._compared += 1
        if self._compared > _MOST_COMPARED:
            self.hubs[id] = None
        elif forth in self._over:
            self._add(id, forth, map(ids.document_id, related_documents(self._reading, path)), most)
        else:
            # Each of them has to be asked for its own nearest, which is worth it only for who wants nothing else.
            near = relating_documents(self._reading, path, _MOST_ASKED)
            self._add(id, back, map(ids.document_id, near), most)

    # Entities

    def _load_entities(self, wanted: Sequence[str], most: int) -> None:
        numbers = batches.entity_numbers(self._reading, wanted) if wanted else {}
        for id, number in numbers.items():
            if RelationStep(RelationKind.MENTIONS, False) in self._over:
                self._add(
                    id,
                    RelationStep(RelationKind.MENTIONS, False),
                    batches.mentioning(self._reading, number, most + 1),
                    most,
                )
            if RelationStep(RelationKind.STEP, False) in self._over:
                self._add(id, RelationStep(RelationKind.STEP, False), batches.steps(self._reading, number), most)
        if RelationStep(RelationKind.STEP, True) in self._over and numbers:
            self._add_pairs(
                RelationStep(RelationKind.STEP, True), batches.procedures(self._reading, [*numbers.values()]), most
            )

    # Everything that documents mention

    def _load_outside(self, id: str, most: int) -> None:
        memory = self._graph.memory
        found: dict[RelationStep, dict[str, None]] = {}
        for outgoing, direction in _DIRECTIONS:
            for step in memory.neighbours((id,), None, direction):
                way = RelationStep(RELATION_OF_KIND[step.edge.kind], outgoing)
                if way in self._over and memory.get_node(step.id) is not None:
                    found.setdefault(way, {})[step.id] = None
        for way, others in found.items():
            self._add(id, way, others, most)
        if RelationStep(RelationKind.MENTIONS, False) in self._over:
            self._add(id, RelationStep(RelationKind.MENTIONS, False), self._mentioning(id, most), most)

    def _mentioning(self, id: str, most: int) -> dict[str, None]:
        """The sections that mention a node of another part of the graph, or a file."""
        found = dict.fromkeys(self._citing(id, most))
        node = self._graph.memory.get_node(id)
        if node is not None and node.kind is NodeKind.CODE:
            named = batches.entity_numbers(self._reading, self._cross_references.symbols_of(node))
            for number in named.values():
                found.update(dict.fromkeys(batches.mentioning(self._reading, number, most + 1)))
        return found

    def _citing(self, id: str, most: int) -> dict[str, None]:
        edges = self._cross_references.citing(self._reading, id, most + 1)
        return dict.fromkeys(edge.source for edge in islice(edges, most + 1))
