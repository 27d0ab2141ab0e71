"""Register requirements in the one graph."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.register.served import Served, make_project

from clew.formats.register.model import RegisterLayout
from clew.graph.model import EdgeKind, NodeKind
from clew.register.change.draft import Author
from clew.register.change.transaction import RegisterFile, new_register


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = make_project(tmp_path / "project", git=False)
    (made.root / "clew.toml").write_text('[code]\nfolders = ["src"]\n[tests]\nfolders = ["tests"]\n')
    made.add(acceptance=["The sixth login is refused", "The owner gets a mail"])
    made.add(title="Tell the owner", parent="1")
    made.close()
    again = Served(made.root)
    yield again
    again.close()


# Verifies: REQ-o00031-E
def test_requirements_criteria_and_links_are_nodes_and_edges(served: Served) -> None:
    served.call("req_link", from_="2", to="1", kind="depends_on")
    served.project.ensure_graph()
    graph = served.project.graph
    node = graph.get_node("REQ-0001")
    assert node is not None
    assert (node.kind, node.title, node.get_field("status")) == (NodeKind.REQUIREMENT, "Lock the account", "Draft")
    second = graph.get_node("REQ-0001-2")
    assert second is not None
    assert (second.kind, second.title) == (NodeKind.ASSERTION, "The owner gets a mail")
    edges = {(edge.kind, edge.target) for edge in graph.iter_outgoing_edges("REQ-0002")}
    assert edges == {(EdgeKind.REFINES, "REQ-0001"), (EdgeKind.DEPENDS_ON, "REQ-0001")}
    assert node.source is not None
    lines = (served.root / "project.req").read_text().splitlines()
    assert lines[node.source.line - 1] == '    "REQ-0001": {'


# Verifies: REQ-d00170-F
@pytest.mark.parametrize("indent", [None, 4])
def test_a_register_is_read_however_its_file_is_laid_out(served: Served, indent: int | None) -> None:
    place = served.root / "project.req"
    place.write_text(json.dumps(json.loads(place.read_bytes()), indent=indent))
    served.project.ensure_graph()
    node = served.project.graph.get_node("REQ-0001-2")
    assert node is not None
    assert node.title == "The owner gets a mail"
    assert served.call("req_list")["count"] == 2


# Verifies: REQ-d00170-F
def test_a_register_without_requirements_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    empty = make_project(tmp_path / "empty", git=False)
    empty.project.ensure_graph()
    assert caplog.messages == []
    empty.add()
    empty.project.ensure_graph()
    assert empty.project.graph.get_node("REQ-0001") is not None
    empty.close()


# Verifies: REQ-o00031-E
def test_markers_in_code_and_tests_cite_register_requirements(served: Served) -> None:
    served.write("src/lock.rs", "// REQ-0001\nfn lock() {}\n\n// REQ-0077\nfn ghost() {}\n")
    served.write("tests/test_lock.py", "# Verifies: REQ-0001-2\ndef test_mail():\n    pass\n")
    served.project.ensure_graph()
    graph = served.project.graph
    citing = {(edge.kind, edge.source.partition(":")[0], edge.labels) for edge in graph.iter_incoming_edges("REQ-0001")}
    assert (EdgeKind.IMPLEMENTS, "code", ()) in citing
    assert (EdgeKind.VERIFIES, "test", ("2",)) in citing
    assert [reference.target_id for reference in graph.memory.broken] == ["REQ-0077"]


# Verifies: REQ-o00031-E
def test_a_change_through_the_register_is_seen_by_the_graph(served: Served) -> None:
    served.project.ensure_graph()
    served.add(title="A third one")
    served.project.ensure_graph()
    third = served.project.graph.get_node("REQ-0003")
    assert third is not None
    assert third.title == "A third one"


# Verifies: REQ-d00081-A
def test_a_tampered_register_is_a_finding_not_a_fault(served: Served) -> None:
    place = served.root / "project.req"
    place.write_bytes(place.read_bytes().replace(b"five failed", b"nine failed"))
    served.project.ensure_graph()
    assert served.project.graph.get_node("REQ-0001") is None
    assert "register.refused" in [item.code for _, item in served.project.context.builder.diagnostics()]


# Verifies: REQ-d00235-A
def test_a_folder_that_does_not_match_its_checksum_is_refused_whole(tmp_path: Path) -> None:
    (tmp_path / "clew.toml").touch()
    file = RegisterFile(tmp_path / "many", layout=RegisterLayout.DIRECTORY)
    file.create(
        msgspec.structs.replace(
            new_register("demo", Author("2026-06-01T12:00:00Z", "ann")), layout=RegisterLayout.DIRECTORY
        )
    )
    served = Served(tmp_path)
    served.add()
    served.add(title="Tell the owner")
    served.project.refresh()
    assert served.project.graph.get_node("REQ-0001") is not None
    first = tmp_path / "many" / "requirements" / "REQ-0001.req"
    sound = first.read_bytes()

    first.write_bytes(sound.replace(b"five failed", b"nine failed"))
    served.project.refresh()

    assert served.project.graph.get_node("REQ-0001") is None
    assert served.error("req_show", id="1")["code"] == "REQ-E-INTEGRITY"
    (told,) = [item for _, item in served.project.context.builder.diagnostics() if item.code == "register.refused"]
    assert "repair --confirm-direct-edit" in told.message
    first.write_bytes(sound)
    served.project.refresh()
    assert served.project.graph.get_node("REQ-0002") is not None
    served.close()
