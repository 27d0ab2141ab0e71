"""The first source document itself, read as a project of its own."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.contract.elspais import asking, pages
from tests.mcp_client import McpClient

SEED = Path(__file__).parents[3] / "shared" / "sources" / "000_075a5ed5568ca1c4.txt"

Serve = Callable[..., McpClient]


# Verifies: REQ-o00003-D
@pytest.mark.skipif(not SEED.exists(), reason="the source document is not beside the project")
def test_the_seed_document_yields_what_it_holds(tmp_path: Path, serve: Serve) -> None:
    (tmp_path / "spec").mkdir()
    (tmp_path / "clew.toml").touch()
    shutil.copyfile(SEED, tmp_path / "spec" / "08-mcp-server.md")
    ask = asking(serve(tmp_path, profile="elspais"))
    status = ask("get_graph_status")
    assert (status["node_counts"]["requirement"], status["node_counts"]["assertion"]) == (26, 143)
    found = [
        ask("get_requirement", req_id=each["id"]) for each in pages(ask, "query_nodes", "results", kind="requirement")
    ]
    assert [each["id"] for each in found if not each["parents"]] == ["REQ-p00060"]
    broken = pages(ask, "get_broken_references", "broken_references")
    assert sorted(each["target_id"] for each in broken) == ["REQ-o00065-D", "REQ-p00050"]
    assert Counter(each["hash_state"] for each in found) == {"current": 19, "stale": 7}
    stale = {each["id"] for each in found if each["hash_state"] == "stale"}
    assert stale == {f"REQ-{id}" for id in ("o00068", "o00069", "d00077", "o00070", "d00078", "o00071", "d00079")}


# Verifies: REQ-p00001-A
def test_requirements_code_and_tests_of_the_demo_are_one_graph(demo: Path, serve: Serve) -> None:
    ask = asking(serve(demo, profile="elspais"))
    requirements = pages(ask, "query_nodes", "results", kind="requirement")
    cited = [
        (child["id"], child["kind"], child["edge_kind"])
        for each in requirements
        for child in ask("get_requirement", req_id=each["id"])["children"]
    ]
    for kind, edge_kind in (("code", "implements"), ("test", "verifies")):
        nodes = pages(ask, "query_nodes", "results", kind=kind)
        assert nodes
        assert {id for id, child, _ in cited if child == kind} == {node["id"] for node in nodes}
        assert {edge for _, child, edge in cited if child == kind} == {edge_kind}
        assert all((demo / node["source"].rpartition(":")[0]).exists() for node in nodes)
    assert ask("get_graph_status")["broken_reference_count"] == 1
