"""How much the surroundings add to what texts say: links of a project are hidden and suggested anew.

Two projects with links of their own are at hand, Clew itself and the demo. In turn some of their tests, all of them,
or all code forget whom they cite.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.workspace import REPOSITORY
from clew.graph.graph import Graph
from clew.graph.model import NodeKind
from clew.project import Project
from clew.trace.links.confidence import Calibration, confidences, in_a_project, logits
from clew.trace.links.match.evidence import LinksByPlace, cited_by
from clew.trace.links.match.matching import Candidates
from clew.trace.links.match.meaning import Vectors
from clew.trace.links.match.texts import requirement_artefact
from clew.trace.links.match.units import CODE, TEST, LinkUnit, UnitFile, linked_to, read_units

SEED = 7


@dataclass(frozen=True, slots=True)
class Hidden:
    """All pairs of units whose links were hidden and requirements."""

    name: str
    by_texts: NDArray[np.float32]
    """Confidences from the texts alone, a row for each unit."""
    with_surroundings: NDArray[np.float32]
    labels: NDArray[np.bool_]


def observe_projects(vectors: Vectors | None) -> list[Hidden]:
    demo = REPOSITORY / "examples" / "demo"
    return [
        _hide("clew, half of the tests", REPOSITORY, {TEST: 0.5}, vectors),
        _hide("clew, nine tests in ten", REPOSITORY, {TEST: 0.9}, vectors),
        _hide("demo, half of the tests", demo, {TEST: 0.5}, vectors),
        _hide("demo, all tests", demo, {TEST: 1.0}, vectors),
        _hide("demo, all code", demo, {CODE: 1.0}, vectors),
        _hide("demo, tests and code", demo, {TEST: 1.0, CODE: 1.0}, vectors),
    ]


def _hide(name: str, root: Path, shares: Mapping[str, float], vectors: Vectors | None) -> Hidden:
    project = Project.open(root)
    try:
        project.ensure_graph()
        return _observed(name, project.graph, root, shares, vectors)
    finally:
        project.close()


def _observed(name: str, graph: Graph, root: Path, shares: Mapping[str, float], vectors: Vectors | None) -> Hidden:
    files = _files(graph, root)
    rows = list(_hidden_rows(files, graph, shares))
    requirements = [requirement_artefact(node) for node in graph.nodes_by_kind(NodeKind.REQUIREMENT)]
    asking = [row.unit.artefact() for row in rows]
    comparison = Candidates(requirements, asking, vectors, state=True).compare(asking)
    texts = logits(comparison)
    found, labels = np.zeros_like(texts), np.zeros(texts.shape, bool)
    column = {requirement.id: number for number, requirement in enumerate(requirements)}
    forgotten = {id for row in rows for id in row.nodes}
    surroundings = LinksByPlace(graph, [file.path for file in files], without=forgotten)
    for number, row in enumerate(rows):
        around, elsewhere = surroundings.evidence(row.unit, row.file), surroundings.elsewhere(row.unit)
        for id, place in column.items():
            said = around.get(id, elsewhere).features()
            logit = in_a_project(
                float(texts[number, place]), said, candidates=len(requirements), is_code=row.unit.kind == CODE
            )
            found[number, place] = Calibration().confidence(logit)
        labels[number, [column[id] for id in row.cited]] = True
    return Hidden(name, confidences(comparison), found, labels)


@dataclass(frozen=True, slots=True)
class Row:
    unit: LinkUnit
    file: UnitFile
    cited: frozenset[str]
    nodes: tuple[str, ...]


def _hidden_rows(files: Sequence[UnitFile], graph: Graph, shares: Mapping[str, float]) -> Iterator[Row]:
    draws = random.Random(SEED)
    for file in files:
        for unit in file.units:
            nodes = linked_to(unit, graph.nodes_in_file(file.path))
            cited = frozenset(id for node in nodes for id in cited_by(graph, node))
            # Code that cites nothing is part of the question; a test that cites nothing just has no answer.
            if (cited or unit.kind == CODE) and draws.random() < shares.get(unit.kind, 0.0):
                yield Row(unit, file, cited, tuple(node.id for node in nodes))


def _files(graph: Graph, root: Path) -> list[UnitFile]:
    kinds = {
        node.source.path: kind
        for kind in (NodeKind.CODE, NodeKind.TEST)
        for node in graph.nodes_by_kind(kind)
        if node.source is not None
    }
    return [
        read_units((root / path).read_bytes(), path, graph.nodes_in_file(path), is_test=kind is NodeKind.TEST)
        for path, kind in sorted(kinds.items())
    ]
