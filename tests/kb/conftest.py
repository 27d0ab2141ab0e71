"""Projects with documents."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.graph.model import Edge, Node, NodeKind
from clew.project import Project

CONFIG = """
[docs]
folders = ["docs"]
patterns = ["*.md", "*.rst", "*.html", "*.txt", "*.ipynb", "*.py"]

[embedder]
kind = "none"

[search]
background = false
"""

Snapshot = tuple[dict[str, Node], dict[str, frozenset[Edge]], dict[str, str]]


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Project]]:
    """Opens a project with the given files; the same folder again when it is named again."""
    opened: list[Project] = []

    def open_project(files: dict[str, str] | None = None, name: str = "project", config: str = CONFIG) -> Project:
        root = tmp_path / name
        write(root, {"clew.toml": config, **(files or {})})
        opened.append(Project.open(root))
        return opened[-1]

    yield open_project
    for project in opened:
        project.close()


@pytest.fixture
def snapshot() -> Callable[[Project], Any]:
    """Everything the knowledge base knows, as plain values: nodes, edges of each, and what the search index holds."""

    def taken(project: Project) -> Snapshot:
        region = project.kb.region
        kinds = (NodeKind.DOCUMENT, NodeKind.SECTION, NodeKind.ENTITY)
        nodes = {
            node.id: Node(node.id, node.kind, node.title, {**node.fields, "updated_at": ""}, node.source)
            for kind in kinds
            for node in region.nodes_by_kind(kind)
        }
        edges = {id: frozenset(region.iter_outgoing_edges(id)) for id in nodes}
        engine = project.index.engine
        assert engine is not None
        bodies = {
            id: f"{unit.title}\n{unit.body}" for id in engine.units.hashes("section") if (unit := engine.units.get(id))
        }
        return nodes, edges, bodies

    return taken
