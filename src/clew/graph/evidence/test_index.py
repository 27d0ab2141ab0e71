"""The tests of a graph by the names that reports give them."""

from collections.abc import Collection, Iterable, Iterator

from clew.graph.evidence.matching import (
    Mention,
    Subject,
    anchors_of_mention,
    anchors_of_test,
    choose,
    names_of_mention,
    names_of_test,
    subject,
)
from clew.graph.model import Node, NodeKind
from clew.text.inverted import Inverted

_MANY = 32
"""So many tests of one name are sorted by place before any is compared."""
_TOO_MANY = 256
"""So many tests of one name in one place are not compared: nothing that a report says could tell them apart."""


class TestIndex:
    __test__ = False  # keeps pytest from collecting the class itself

    def __init__(self, tests: Iterable[Node]) -> None:
        self._by_name: Inverted[str, str, Subject] = Inverted()
        self._names: dict[str, tuple[str, ...]] = {}
        """Of each test: the names it is filed under."""
        self._by_place: dict[str, dict[str, list[Subject]]] = {}
        """Names that very many tests have, with those tests by the parts of their places."""
        for node in tests:
            self.note(node.id, node)

    def note(self, id: str, node: Node | None) -> tuple[str, ...]:
        """Take note of a test as it is now; returns its names if it came or went."""
        if node is None or node.kind is not NodeKind.TEST or "function" not in node.fields:
            names = self._names.pop(id, ())
            self._by_name.remove(id, names)
            for name in names:
                self._by_place.pop(name, None)
            return names
        names = names_of_test(node)
        known = subject(node)
        self._by_name.add(id, dict.fromkeys(names, known))
        for name in names:
            self._by_place.pop(name, None)
        is_new = id not in self._names
        self._names[id] = names
        return names if is_new else ()

    def find(self, mention: Mention) -> tuple[list[str], bool]:
        """The ids of the tests that a report means, and whether it might have meant others as well."""
        several = False
        for name in names_of_mention(mention):
            for candidates in self._candidates(mention, name):
                if len(candidates) > _TOO_MANY:
                    several = True
                    break
                found, ambiguous = choose(mention, name, candidates)
                if found:
                    return sorted(each.id for each in found), False
                several = several or ambiguous
        return [], several

    def files(self) -> list[str]:
        """The files that hold tests."""
        return sorted({each.path for _, filed in self._by_name.items() for each in filed.values()})

    def _candidates(self, mention: Mention, name: str) -> Iterator[Collection[Subject]]:
        """Those that have the name: all of them, or of very many those that share a part of their place with what the
        report says, beginning with the part that fewest share."""
        filed = self._by_name.holders(name)
        if not filed:
            return
        if len(filed) <= _MANY:
            yield filed.values()
            return
        places = self._by_place.get(name)
        if places is None:
            places = self._by_place[name] = {}
            for each in filed.values():
                for anchor in anchors_of_test(each):
                    places.setdefault(anchor, []).append(each)
        near = (places.get(anchor, []) for anchor in anchors_of_mention(mention))
        yield from sorted((candidates for candidates in near if candidates), key=len)
