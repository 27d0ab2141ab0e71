"""The first source document itself, read as a project of its own."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.graph.model import NodeKind
from clew.project import Project

SEED = Path(__file__).parents[3] / "shared" / "sources" / "000_075a5ed5568ca1c4.txt"


# Verifies: REQ-o00003-D
@pytest.mark.skipif(not SEED.exists(), reason="the source document is not beside the project")
def test_the_seed_document_yields_what_it_holds(tmp_path: Path, opened: Callable[[Path], Project]) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "clew.toml").touch()
    shutil.copyfile(SEED, tmp_path / "spec" / "08-mcp-server.md")
    project = opened(tmp_path)
    project.ensure_graph()
    graph = project.graph
    assert graph.count(NodeKind.REQUIREMENT) == 26
    assert graph.count(NodeKind.ASSERTION) == 143
    assert [node.id for node in graph.iter_roots()] == ["REQ-p00060"]
    assert sorted(reference.target_id for reference in graph.broken_references()) == ["REQ-o00065-D", "REQ-p00050"]
    states = Counter(node.get_field("hash_state") for node in graph.nodes_by_kind(NodeKind.REQUIREMENT))
    assert states == {"current": 19, "stale": 7}
    stale = {node.id for node in graph.nodes_by_kind(NodeKind.REQUIREMENT) if node.get_field("hash_state") == "stale"}
    assert stale == {f"REQ-{id}" for id in ("o00068", "o00069", "d00077", "o00070", "d00078", "o00071", "d00079")}


# Verifies: REQ-p00001-A
def test_requirements_code_and_tests_of_the_demo_are_one_graph(demo: Path, opened: Callable[[Path], Project]) -> None:
    project = opened(demo)
    project.ensure_graph()
    graph = project.graph
    for kind, edge_kind in ((NodeKind.CODE, "implements"), (NodeKind.TEST, "verifies")):
        for node in graph.nodes_by_kind(kind):
            cited = {edge.kind.value for edge in graph.iter_outgoing_edges(node.id)}
            assert cited == {edge_kind}, node.id
            assert all(parent.kind is NodeKind.REQUIREMENT for parent in graph.iter_parents(node.id))
            assert node.source is not None
            assert (demo / node.source.path).exists()
    assert graph.broken_count() == 1
