"""Evidence for the links of a test or piece of code in its surroundings: files, folders, imports and calls.

Everything here follows links that are already there. A test near tests of a requirement, of a file that imports its
implementation, or that calls it, probably belongs to it too.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

import msgspec

from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.trace.links.match.imports import FilesByName
from clew.trace.links.match.units import LinkUnit, UnitFile

CITING = frozenset({EdgeKind.IMPLEMENTS, EdgeKind.VERIFIES, EdgeKind.VALIDATES, EdgeKind.REFINES})


MOST_OF_A_PLACE = 20
"""So many of the requirements that a file or folder cites most often count: a folder of thousands of tests says little
about any one of them."""


class LinkEvidence(msgspec.Struct, frozen=True):
    """Evidence for a link to a requirement, each value from 0 to 1."""

    named: float = 0.0
    """1 where a comment or docstring names the requirement."""
    same_file: float = 0.0
    """The share of the citations in the same file."""
    same_folder: float = 0.0
    """Likewise, in the other files of the folder."""
    imports: float = 0.0
    """Likewise, in the file that it imports, or is named after, with the most of them."""
    calls: float = 0.0
    """Likewise, at the functions it calls."""
    others_in_file: float = 0.0
    """The share of the citations in the same file that go elsewhere."""
    reasons: tuple[str, ...] = ()

    def features(self) -> Mapping[str, float]:
        return {name: getattr(self, name) for name in FEATURES}


FEATURES = ("named", "same_file", "same_folder", "imports", "calls", "others_in_file")


def cited_by(graph: Graph, node: Node) -> frozenset[str]:
    """The requirements that a test or a place in code cites."""
    return frozenset(edge.target for edge in graph.iter_outgoing_edges(node.id) if edge.kind in CITING)


class LinksByPlace:
    """The links there are, by where they are."""

    def __init__(self, graph: Graph, paths: Iterable[str], without: Collection[str] = ()) -> None:
        """`paths` are the files of the project; the links of the nodes in `without` are taken for unknown."""
        self._files = FilesByName(paths)
        self._imported_by: dict[tuple[str, str], dict[str, str]] = {}
        """Imports of the files that were asked about, by path and version: each has several units."""
        self._by_file: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._by_folder: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._by_function: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for kind in (NodeKind.TEST, NodeKind.CODE):
            for node in graph.nodes_by_kind(kind):
                if node.source is not None and node.id not in without:
                    self._take(node, sorted(cited_by(graph, node)))
        self._folders = {
            folder: (cited.most_common(MOST_OF_A_PLACE), sum(cited.values()))
            for folder, cited in self._by_folder.items()
        }

    def _take(self, node: Node, cited: Collection[str]) -> None:
        path = node.source.path if node.source is not None else ""
        self._by_file[path].update(cited)
        self._by_folder[_folder(path)].update(cited)
        owner = node.get_field("owner")
        if node.kind is NodeKind.CODE and owner:
            self._by_function[owner.rpartition(".")[2]].update(cited)

    def evidence(
        self, unit: LinkUnit, file: UnitFile, named: Mapping[str, str] | None = None
    ) -> dict[str, LinkEvidence]:
        """The evidence for each requirement that anything around the unit cites, or that its comments name: `named` has
        those, each as it is written there."""
        in_file = self._by_file.get(unit.path, Counter[str]())
        found: defaultdict[str, dict[str, float]] = defaultdict(dict)
        reasons: defaultdict[str, list[str]] = defaultdict(list)
        for name, given in (
            ("named", [(id, 1.0, f"its comment names {written}") for id, written in (named or {}).items()]),
            ("calls", self._of_calls(unit)),
            ("imports", self._of_imports(file)),
            ("same_file", _in_file(in_file, unit.path)),
            ("same_folder", self._of_folder(unit.path, in_file)),
        ):
            for id, share, reason in given:
                if share > found[id].get(name, 0.0):
                    found[id][name] = share
                    reasons[id].append(reason)
        total = sum(in_file.values())
        return {
            id: LinkEvidence(
                **values,
                others_in_file=(total - in_file[id]) / (total + 1),
                reasons=tuple(dict.fromkeys(reasons[id])),
            )
            for id, values in found.items()
        }

    def elsewhere(self, unit: LinkUnit) -> LinkEvidence:
        """The evidence for a requirement that nothing around the unit cites."""
        total = sum(self._by_file.get(unit.path, Counter[str]()).values())
        return LinkEvidence(others_in_file=total / (total + 1))

    def _of_calls(self, unit: LinkUnit) -> Iterator[tuple[str, float, str]]:
        for name in sorted(unit.calls & self._by_function.keys()):
            for id, share in _shares(self._by_function[name]):
                yield id, share, f"calls {name}(), which implements it"

    def _of_imports(self, file: UnitFile) -> Iterator[tuple[str, float, str]]:
        for path, how in self._imported(file).items():
            for id, share in _shares(self._by_file[path]):
                yield id, share, f"{how} {path}, which cites it"

    def _imported(self, file: UnitFile) -> dict[str, str]:
        """The files with links that a file imports, or after which it is named, which counts more."""
        known = self._imported_by.get((file.path, file.version))
        if known is not None:
            return known
        found = dict.fromkeys(self._files.counterparts(file.path), "named after")
        for name in file.imports:
            for path in self._files.meant(name):
                found.setdefault(path, "imports")
        found = {path: how for path, how in found.items() if path != file.path and path in self._by_file}
        self._imported_by[file.path, file.version] = found
        return found

    def _of_folder(self, path: str, in_file: Counter[str]) -> Iterator[tuple[str, float, str]]:
        most, total = self._folders.get(_folder(path), ((), 0))
        for id, count in most:
            if beside := count - in_file[id]:
                share = beside / (total - sum(in_file.values()) + 1)
                yield id, share, f"{beside} in the same folder cite it"


def _in_file(cited: Counter[str], path: str) -> Iterator[tuple[str, float, str]]:
    total = sum(cited.values())
    for id, share in _shares(cited):
        yield id, share, f"{cited[id]} of {total} citations in {PurePosixPath(path).name} go there"


def _shares(cited: Counter[str]) -> Iterator[tuple[str, float]]:
    """The share of each requirement among all citations, lowered a little if there are few."""
    total = sum(cited.values())
    for id, count in cited.most_common(MOST_OF_A_PLACE):
        yield id, count / (total + 1)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
